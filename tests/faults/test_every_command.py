"""Every command in every form of output, with what can go wrong around it: a line, an exit code, and nothing that looks
whole and isn't.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest
from zdissect_cli.main import Commands

from tests.faults.commands import CALLS, FIRST, ROS2, calls
from tests.faults.runs import Ended, Runs

EVERY = [*calls()]
READERS = [call for call in EVERY if call.reads]
WRITERS = [call for call in EVERY if call.writes]
FULL = ("No space left on device", "File too large", "the disk is full")
PASTED = "3d00036b2f610103313131\n"
SIZE = 64 << 10
Plain = dict[str, Ended]


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    with Runs() as server:
        yield server


@pytest.fixture(scope="module")
def plain(runs: Runs, tmp_path_factory: pytest.TempPathFactory) -> Plain:
    """What each call does when nothing is wrong."""
    folder = tmp_path_factory.mktemp("plain")
    return {str(call): runs.run(call.args(_fresh(folder)), folder) for call in EVERY}


def _fresh(folder: Path) -> Path:
    """The folder, with the pasted bytes and nothing else in it."""
    for entry in [*folder.iterdir()]:
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    (folder / "t").write_text(PASTED)
    return folder


def _lines(done: Ended) -> list[str]:
    """What was said, without times and places."""
    return [re.sub(r"\S*/\S+|[\d.]+ (s|MB/s|messages/s)\b", "", line) for line in done.said]


def _whole(folder: Path) -> dict[str, int]:
    """The files in a folder that have a name under which somebody would look for results, and their sizes."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.stat().st_size for name, path in found.items() if name not in ("t", "stdout", "stderr", "fill")}


def test_every_command_is_called() -> None:
    assert set(CALLS) == set(Commands.modules)


def test_the_calls_do_what_they_are_for(plain: Plain) -> None:
    for text, done in plain.items():
        assert done.code == 0, (text, done)
        assert done.out or done.err or "findings" in text, text


@pytest.mark.parametrize(("place", "why"), [("/dev/full", "No space left on device"), (None, "it is closed")])
def test_output_that_cannot_be_written(runs: Runs, plain: Plain, tmp_path: Path, place: str | None, why: str) -> None:
    for call in EVERY:
        done = runs.run(call.args(_fresh(tmp_path)), tmp_path, ("/dev/null", place, str(tmp_path / "stderr")))
        usual = plain[str(call)]
        if not usual.out:
            assert (done.code, _lines(done)) == (usual.code, _lines(usual)), (call, done)
            continue
        assert (done.code, done.said[-1:]) == (1, [f"zdissect: standard output: {why}"]), (call, done)
        assert set(_lines(done)[:-1]) <= set(_lines(usual)), (call, done)


def test_output_that_nobody_reads(runs: Runs, plain: Plain, tmp_path: Path) -> None:
    for call in EVERY:
        done = runs.run(call.args(_fresh(tmp_path)), tmp_path, ("/dev/null", "|", str(tmp_path / "stderr")))
        assert done.code == 0, (call, done)
        assert set(_lines(done)) <= set(_lines(plain[str(call)])), (call, done)


@pytest.mark.parametrize("streams", [(None, "stdout", None), ("/dev/null", "stdout", "/dev/full")])
def test_without_input_or_errors_all_else_is_as_ever(
    runs: Runs, plain: Plain, tmp_path: Path, streams: tuple[str | None, ...]
) -> None:
    places = tuple(str(tmp_path / one) if one == "stdout" else one for one in streams)
    for call in EVERY:
        done = runs.run(call.args(_fresh(tmp_path)), tmp_path, places)
        assert done.code == 0, (call, done)
        if not str(call).startswith("config"):  # its settings stand in a folder
            assert done.out == plain[str(call)].out, call


@contextmanager
def _small_disk(folder: Path, free: int) -> Iterator[dict[str, int]]:
    """Makes the folder a file system of 64 kB with so much free; what else a run needs where that isn't permitted."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        (folder / "t").write_text(PASTED)
        yield {"file_bytes": free}
        return
    try:
        (folder / "t").write_text(PASTED)
        taken = 4096 * -(-len(PASTED) // 4096)
        (folder / "fill").write_bytes(bytes(SIZE - taken - free))
        yield {}
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def _fits(whole: dict[str, int], free: int) -> bool:
    return sum(4096 * -(-size // 4096) for size in whole.values()) <= free


@pytest.mark.parametrize("free", [0, 8 << 10])
def test_a_full_disk_keeps_nothing_that_looks_whole(runs: Runs, tmp_path: Path, free: int) -> None:
    """What a writer has made there is what it makes elsewhere, or isn't there at all."""
    for number, call in enumerate(WRITERS):
        elsewhere, disk, streams = tmp_path / "elsewhere", tmp_path / f"disk{number}", tmp_path / "streams"
        for folder in (elsewhere, streams):
            folder.mkdir(exist_ok=True)
        runs.run(call.args(_fresh(elsewhere)), streams)
        whole = _whole(elsewhere)
        with _small_disk(disk, free) as more:
            done = runs.run(call.args(disk), streams, (), **more)
            left = _whole(disk)
        assert "Traceback" not in done.err, (call, done)
        assert "standard output" not in done.err, (call, done)
        assert "payloads" in str(call) or not left or left == whole, (call, left)
        assert left.items() <= whole.items() or left == whole, (call, left, whole)
        if not _fits(whole, free):
            assert done.code == (2 if str(call).startswith("batch") else 1), (call, done)
            assert [line for line in done.said if (str(disk) in line and line.endswith(FULL)) or "disk is full" in line]
            assert "index.csv" not in str(left), call


@pytest.mark.parametrize("free", [0, 8 << 10])
def test_results_on_a_full_disk(runs: Runs, plain: Plain, tmp_path: Path, free: int) -> None:
    """Where standard output is a file on a disk that takes some of it."""
    with _small_disk(tmp_path / "disk", free) as more:
        for call in EVERY:
            usual = plain[str(call)]
            if call.writes or len(usual.out) <= free:
                continue
            out = tmp_path / "disk" / "stdout"
            out.unlink(missing_ok=True)
            done = runs.run(
                call.args(tmp_path / "disk"), tmp_path, ("/dev/null", str(out), str(tmp_path / "stderr")), **more
            )
            assert done.code == 1, (call, done)
            assert done.said[-1].startswith("zdissect: standard output: "), (call, done)
            assert done.said[-1].endswith(FULL), (call, done)
            assert out.stat().st_size <= max(free, 0)


def _halves(capture: Path, folder: Path) -> Path:
    """A copy of a capture that is cut inside a record."""
    data = capture.read_bytes()
    half = folder / f"half-{capture.name}"
    half.write_bytes(data[: len(data) * 8 // 10])
    return half


def test_a_capture_that_is_cut(runs: Runs, plain: Plain, tmp_path: Path) -> None:
    """What is before the cut counts, and the cut is said once."""
    out = tmp_path / "out"
    out.mkdir()
    cut, ros2 = (_halves(capture, tmp_path) for capture in (FIRST, ROS2))
    for call in READERS:
        done = runs.run(call.args(_fresh(out), cut, ros2), out)
        assert done.code == 1, (call, done)
        said = [line for line in done.said if "cut short" in line]
        assert len(said) == (2 if str(call).startswith("diff") else 1), (call, done)
        assert bool(done.out) == bool(plain[str(call)].out), (call, done)
        assert bool(_whole(out)) == call.writes, (call, done)


@pytest.mark.parametrize("change", ["cut", "grown"])
def test_a_capture_that_changes_while_it_is_read(runs: Runs, tmp_path: Path, change: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for call in READERS:
        copies = [shutil.copy(capture, tmp_path / capture.name) for capture in (FIRST, ROS2)]
        original = ROS2 if "{ros2}" in str(call) else FIRST
        data = original.read_bytes()
        (tmp_path / "other").write_bytes(data[: len(data) * 2 // 3] if change == "cut" else data + data[24:])
        changing = (str(copies[original == ROS2]), str(tmp_path / "other"))
        done = runs.run(call.args(_fresh(out), *copies), out, (), changing=changing)
        assert "Traceback" not in done.err, (call, done)
        assert done.code == (1 if change == "cut" else 0), (call, done)
        assert bool([line for line in done.said if "cut short" in line]) == (change == "cut"), (call, done)


def _feed(path: Path, data: bytes, until: list[bool]) -> None:
    """Writes to a named pipe, and keeps it open until told."""
    try:
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            while not until:
                time.sleep(0.005)
    except BrokenPipeError:
        pass


def test_a_named_pipe_is_read_as_a_file(runs: Runs, plain: Plain, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for call in READERS:
        if str(call).startswith("diff"):  # it would wait for a second one
            continue
        os.mkfifo(pipe := _fresh(out) / "pipe")
        data = (ROS2 if "{ros2}" in str(call) else FIRST).read_bytes()
        writer = Thread(target=_feed, args=(pipe, data, [True]), daemon=True)
        writer.start()
        done = runs.run(call.args(out, Path("pipe"), Path("pipe")), out)
        if str(call).startswith("follow"):
            assert (done.code, "can be read only once" in done.err) == (2, True), done
        elif str(call).startswith("batch"):
            assert (done.code, "give files to batch" in done.err) == (1, True), done
        else:
            assert done.code == 0, (call, done)
            usual = plain[str(call)].out
            assert len(done.out.splitlines()) >= len(usual.splitlines()) * 0.8, (call, done)  # less of what comes later
            if not str(call).startswith("dissect") and "sarif" not in str(call):  # which says where files are
                assert done.out.replace("pipe", "X") == usual.replace(str(FIRST), "X"), call


def test_ctrl_c_while_a_pipe_is_silent(runs: Runs, tmp_path: Path) -> None:
    """What was read counts; no capture or bag of it looks like all of one."""
    out = tmp_path / "out"
    out.mkdir()
    for call in READERS:
        if str(call).startswith(("batch", "follow")):  # they read files only
            continue
        pipe, until = tmp_path / "pipe", list[bool]()
        os.mkfifo(pipe)
        data = (ROS2 if "{ros2}" in str(call) else FIRST).read_bytes()
        writer = Thread(target=_feed, args=(pipe, data[: len(data) * 2 // 3], until), daemon=True)
        writer.start()
        pid = runs.start(call.args(_fresh(out), pipe, pipe), out)
        _wait_until_it_waits(pid)
        with suppress(ProcessLookupError):  # it has ended too early: its exit code says so
            os.kill(pid, signal.SIGINT)
        done = runs.end(out)
        until.append(True)
        pipe.unlink()
        assert done.code == 130, (call, done)
        assert "Traceback" not in done.err, (call, done)
        assert not [*out.glob(".*.tmp")], call


def _wait_until_it_waits(pid: int) -> None:
    """Until a process sleeps, three looks in a row, and has used no time between them."""
    seen, before = 0, ""
    until = time.monotonic() + 30
    while seen < 4 and time.monotonic() < until:
        if not os.path.exists(stat := f"/proc/{pid}/stat"):
            return
        fields = Path(stat).read_text().rpartition(")")[2].split()
        now = " ".join(fields[11:13])
        seen = seen + 1 if fields[0] == "S" and now == before else 0
        before = now
        time.sleep(0.02)
