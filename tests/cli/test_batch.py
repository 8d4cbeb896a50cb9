"""`zdissect batch`: what it prints, its exit codes, and every kind of bad input."""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli

from tests.export.tables import NAMES, SAMPLES, rows

SAMPLE = SAMPLES / "query-router.pcap"


def _run(*args):
    return CliRunner().invoke(cli, ["batch", *map(str, args)], standalone_mode=False)


def _process(*args, **options):
    command = [sys.executable, "-m", "zdissect_cli", "batch", *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def _fails(done, code, *texts):
    """With a message of a line, and nothing else."""
    assert done.return_value == code, done.stderr
    assert done.stdout == ""
    for text in texts:
        assert text in done.stderr
    assert "Traceback" not in done.stderr


def _said(done) -> list[str]:
    """Standard error, without the lines about progress that come where it takes long."""
    return [line for line in done.stderr.splitlines() if not re.match(r"zdissect: \d+ %, ", line)]


def test_samples(tmp_path):
    done = _run(SAMPLES, "-o", tmp_path / "out", "-j", 1)
    assert done.return_value == 0
    assert done.stdout == ""
    first, second, *_, last = _said(done)
    messages = len(rows(tmp_path / "out"))
    assert first.startswith(f"zdissect: {len(NAMES)} files, {len(NAMES)} captures, ")
    assert f" {messages} messages, {len(rows(tmp_path / 'out', 'sessions'))} sessions in " in first
    assert second.startswith("zdissect: payload bytes: ")
    total, _, parts = second.removeprefix("zdissect: payload bytes: ").partition(";")[0].partition(" = ")
    assert int(total) == sum(int(part.split()[0]) for part in parts.split(" + "))
    assert last == f"zdissect: tables in {tmp_path / 'out'}"


def test_quiet(tmp_path):
    done = _run(SAMPLES, "-o", tmp_path / "out", "-j", 1, "-q")
    assert (done.return_value, done.stdout, done.stderr) == (0, "", "")


def test_a_single_file(tmp_path):
    assert _run(SAMPLE, "-o", tmp_path / "out", "-j", 1).return_value == 0
    assert {row["file"] for row in rows(tmp_path / "out")} == {SAMPLE.name}


def test_options_arrive(tmp_path):
    for name in ("a.pcap", "b.pcap1", "c.pcap"):
        (tmp_path / "in").mkdir(exist_ok=True)
        shutil.copy(SAMPLE, tmp_path / "in" / name)
    options = ["--include", "[ab].*", "--payload", "none", "--fields", "--separate", "-d", "tcp.port==9000,zenoh"]
    done = _run(tmp_path / "in", "-o", tmp_path / "out", "-j", 1, *options)
    assert done.return_value == 0
    found = rows(tmp_path / "out")
    assert {row["file"] for row in found} == {"a.pcap", "b.pcap1"}
    assert {row["payload"] for row in found} == {None}
    assert all(row["fields"].startswith("{") for row in found)
    done = _run(tmp_path / "in", "-o", tmp_path / "one", "-j", 1, "--one-capture")
    assert " 3 files, 1 capture, " in done.stderr


@pytest.mark.parametrize("value", ["-1", "some", "1.5", "²"])
def test_payload_is_checked(value, tmp_path):
    done = CliRunner().invoke(cli, ["batch", "in", "-o", str(tmp_path), f"--payload={value}"])
    assert done.exit_code == 2
    assert "neither full, none nor a number of bytes" in done.stderr


# --- bad input


def test_no_such_directory(tmp_path):
    _fails(_run(tmp_path / "nowhere", "-o", tmp_path / "out"), 2, "nowhere: there is no such directory")


@pytest.mark.parametrize("files", [(), ("notes.txt", "thesis.pdf")])
def test_no_captures(files, tmp_path):
    (tmp_path / "in" / "x.pcap").mkdir(parents=True)  # a directory with the name of a capture
    for name in files:
        (tmp_path / "in" / name).write_text("text")
    _fails(_run(tmp_path / "in", "-o", tmp_path / "out"), 1, "there are no captures in it; nothing was written")
    assert not (tmp_path / "out").exists()
    done = _run(SAMPLES, "-o", tmp_path / "out", "--include", "*.foo")
    _fails(done, 1, "no file in it matches *.foo; nothing was written")


def test_bad_files_stop_nothing(tmp_path):
    directory = tmp_path / "in"
    (directory / "x.pcap").mkdir(parents=True)
    shutil.copy(SAMPLE, directory / "good.pcap")
    (directory / "cut.pcap").write_bytes(SAMPLE.read_bytes()[:-7])
    (directory / "garbage.pcap").write_bytes(b"\x01\x02" * 50)
    done = _run(directory, "-o", tmp_path / "out", "-j", 2)
    assert done.return_value == 1
    lines = _said(done)
    assert any(line.startswith("zdissect: cut.pcap: cut short: ") for line in lines)
    assert any(line.startswith("zdissect: garbage.pcap: not a pcap or pcapng capture") for line in lines)
    assert sum(row["file"] == "good.pcap" for row in rows(tmp_path / "out")) == 310


def test_of_many_bad_files_some_are_named(tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(30):
        (tmp_path / "in" / f"{number:02}.pcap").write_bytes(b"")
    done = _run(tmp_path / "in", "-o", tmp_path / "out", "-j", 1)
    assert done.return_value == 1
    assert "... and 20 more files" in done.stderr
    assert len(_said(done)) < 20
    assert len(rows(tmp_path / "out", "captures")) == 30


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    (tmp_path / "in").mkdir()
    shutil.copy(SAMPLE, tmp_path / "in" / "a.pcap")
    (tmp_path / "in" / "a.pcap").chmod(0)
    done = _run(tmp_path / "in", "-o", tmp_path / "out", "-j", 1)
    assert done.return_value == 1
    assert "a.pcap: permission denied" in done.stderr


def test_out_exists(tmp_path):
    assert _run(SAMPLE, "-o", tmp_path / "out", "-j", 1).return_value == 0
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    _fails(_run(SAMPLE, "-o", tmp_path / "out"), 2, "out exists: choose another place, or --mode")
    done = _run(SAMPLES, "-o", tmp_path / "out", "--mode", "ignore")
    _fails(done, 0, "exists: nothing was done")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")} == before


def test_the_captures_are_never_overwritten(tmp_path):
    directory = tmp_path / "in"
    directory.mkdir()
    shutil.copy(SAMPLE, directory / "a.pcap")
    _fails(_run(directory, "-o", directory, "--mode", "overwrite"), 2, "holds other things besides tables (a.pcap)")
    _fails(_run(directory, "-o", tmp_path, "--mode", "overwrite"), 2, "holds other things besides tables")
    assert (directory / "a.pcap").exists()


def test_out_is_not_writable(tmp_path):
    (tmp_path / "file").write_text("")
    _fails(_run(SAMPLE, "-o", tmp_path / "file" / "out"), 2, "it cannot be written")
    _fails(_run(SAMPLE, "-o", tmp_path / "file", "--mode", "overwrite"), 2, "isn't a directory")


def test_a_disk_that_is_full(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.ParquetWriter.write_table", full)
    done = _run(SAMPLES, "-o", tmp_path / "out", "-j", 1)
    _fails(done, 2, "the disk is full; nothing was kept: make room, or choose another place with -o")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted(number, code, jobs, tmp_path):
    """As a terminal does it: the signal goes to all processes."""
    directory = tmp_path / "in"
    directory.mkdir()
    for copy in range(500):
        (directory / f"{copy}.pcap").symlink_to(SAMPLE)
    options = {"start_new_session": True, "preexec_fn": _listen}
    process = _process(directory, "-o", tmp_path / "out", "-j", jobs, **options)
    while process.poll() is None and not _parts(tmp_path):
        time.sleep(0.02)
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=30)
    said = "zdissect: interrupted: no tables were written\n" if code == 130 else ""
    assert (process.returncode, out, err) == (code, "", said)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def _listen() -> None:
    """A shell that runs the tests in the background has them ignore Ctrl-C, which children inherit."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _parts(directory: Path) -> list[Path]:
    return [*directory.glob(".out.*.tmp/_*")]


def test_without_pyarrow(monkeypatch, tmp_path):
    from zdissect_cli import batch

    monkeypatch.setattr(batch, "find_spec", lambda name: None)
    done = _run(SAMPLE, "-o", tmp_path / "out")
    _fails(done, 2, "pip install 'zdissect[batch]'")
    assert len(done.stderr.splitlines()) == 1


def test_a_bar_on_a_terminal():
    """What it shows."""
    from rich.console import Console
    from rich.progress import Progress
    from zdissect_cli.batch_progress import ProgressBar, ProgressLines

    console = Console(width=120, force_terminal=True, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    with Progress("{task.description}", "{task.fields[detail]}", console=console) as progress:
        bar = ProgressBar(progress)
        bar.begin(3, 1000)
        bar.update(1, 500, 2000)
        assert (progress.tasks[0].completed, progress.tasks[0].total) == (500, 1000)
        assert progress.tasks[0].fields["detail"].startswith("1/3 files, 2000 messages, ")
    console.file.close()
    lines = ProgressLines()
    lines.begin(3, 1000)
    lines.update(1, 500, 2000)  # not yet


def test_lines_where_there_is_no_terminal(capsys):
    from zdissect_cli.batch_progress import ProgressLines

    lines = ProgressLines()
    lines.begin(3, 1000)
    lines.next = lines.began
    lines.update(1, 500, 2000)
    lines.update(2, 600, 2500)  # too soon
    assert capsys.readouterr().err.startswith("zdissect: 50 %, 1 of 3 files, 2000 messages, ")


def test_the_progress_of_spark(capsys):
    pytest.importorskip("pyarrow")
    from zdissect_cli.batch_progress import ProgressLines

    from zdissect.spark.background import NO_STAGE, Stages

    lines = ProgressLines()
    lines.begin(3, 2_500_000)
    for stages in (NO_STAGE, Stages(4, 8, 5, 2), Stages(4, 8, 5, 0)):
        lines.next = lines.began
        lines.stages(stages)
    lines.stages(NO_STAGE)  # too soon
    said = [line.rpartition(", ") for line in capsys.readouterr().err.splitlines()]
    assert [text for text, _, _ in said] == [
        "zdissect: 3 files, 2.5 MB",
        "zdissect: 3 files, 2.5 MB, stage 4: 5 of 8 tasks, 2 running",
        "zdissect: 3 files, 2.5 MB, stage 4: 5 of 8 tasks, none running",
    ]
    assert all(time.endswith(" s") for _, _, time in said)


@pytest.mark.parametrize(("severity", "code"), [("error", 0), ("warning", 3), ("note", 3)])
def test_findings_may_fail_it(tmp_path, severity, code):
    done = _run(SAMPLES, "--include", "duplicate-sn.pcap", "-o", tmp_path / "out", "-j", 1, "-q", "--fail-on", severity)
    assert (done.return_value, done.stderr) == (code, "")
    assert (tmp_path / "out" / "findings").is_dir()
