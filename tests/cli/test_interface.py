"""`zdissect -i`: what is captured is shown at once, and everything ends as it should."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli.main import cli
from tests.capturing import FORBIDDEN, PATIENT, SAMPLES, may_capture, may_filter, runs, stand_in
from zdissect.capture import live, open_capture

ZDISSECT = [sys.executable, "-m", "zdissect_cli"]
SAMPLE = str(SAMPLES / "query-router.pcap")
FRAMES = sum(1 for _ in open_capture(SAMPLE))
Run = Callable[..., Result]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for tcpdump, the only program that can capture here."""
    monkeypatch.setattr(live, "executable", lambda name: str(tmp_path / name) if (tmp_path / name).exists() else None)
    return stand_in(tmp_path, "tcpdump", PATIENT)


@pytest.fixture
def run(program: Path) -> Run:
    """Runs the command line here."""
    return lambda *arguments: CliRunner().invoke(cli, [*map(str, arguments)], standalone_mode=False)


def started(folder: Path, *arguments: str, alone: bool = False) -> "subprocess.Popen[str]":
    """The command line as a process of its own, which finds the programs of a folder first, or only these."""
    path = str(folder) if alone else f"{folder}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path}
    return subprocess.Popen(
        [*ZDISSECT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def test_what_comes_is_shown_as_from_a_file(run: Run) -> None:
    live_ = run("-i", "lo", "-c", FRAMES, "-T", "line")
    file = run("-T", "line", SAMPLE)
    assert live_.stdout == file.stdout
    assert live_.return_value == 0
    assert live_.stderr.splitlines()[:2] == [
        "zdissect: capturing on lo with tcpdump; Ctrl-C ends it",
        f"zdissect: {FRAMES} frames captured on lo; 7 more were lost because they came too fast; "
        "a capture filter (-f) may help",
    ]


def test_it_is_silent_if_it_is_told_so(run: Run) -> None:
    assert run("-i", "lo", "-c", 5, "-q", "-T", "jsonl").stderr == ""


@pytest.mark.parametrize("condition", ["packets:7", "duration:0.5"])
def test_conditions_end_it(run: Run, program: Path, condition: str) -> None:
    begun = time.monotonic()
    done = run("-i", "lo", "-a", condition)
    assert done.return_value == 0
    assert ("zdissect: 7 frames captured" in done.stderr) == (condition == "packets:7")
    assert time.monotonic() - begun < 5
    assert not runs(program)


def test_frames_are_written_while_they_are_shown(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    shown = run("-i", "lo", "-c", FRAMES, "-T", "jsonl", "-w", out)
    again = run("-T", "jsonl", out)
    assert [json.loads(line) | {"file": ""} for line in again.stdout.splitlines()] == [
        json.loads(line) | {"file": ""} for line in shown.stdout.splitlines()
    ]
    refused = run("-i", "lo", "-c", 1, "-w", out)
    assert refused.return_value == 1
    assert f"zdissect: {out}: it already exists" in refused.stderr


def test_files_rotate(run: Run, tmp_path: Path) -> None:
    done = run("-i", "lo", "-b", "packets:10", "-b", "files:2", "-w", tmp_path / "ring.pcapng", "-c", 35, "-q")
    assert done.return_value == 0
    names = sorted(tmp_path.glob("ring_*.pcapng"))
    assert [name.name[:10] for name in names] == ["ring_00003", "ring_00004"]
    with open_capture(str(names[1])) as capture:
        assert sum(1 for _ in capture) == 5
    done = run("-i", "lo", "-b", "packets:10", "-a", "files:2", "-w", tmp_path / "two.pcapng", "-q")
    assert len(list(tmp_path.glob("two_*.pcapng"))) == 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["-i", "eth77"], "eth77: there is no such interface; there are"),
        (["-i", "lo", SAMPLE], "give files to read, or -i to capture, not both"),
        (["-f", "udp", SAMPLE], "-f needs -i INTERFACE"),
        (["-T", "line"], "give a FILE, or -i INTERFACE"),
        (["-i", "lo", "-b", "files:3"], "-b needs -w FILE"),
        (["-i", "lo", "-a", "filesize:3"], "-a filesize needs -w FILE"),
        (["-i", "lo", "-w", "x", "-b", "files:3"], "needs -b with a condition that ends a file"),
        (["-i", "lo", "-a", "soon"], "'soon' is none of duration:N, packets:N, filesize:N, files:N"),
    ],
)
def test_what_makes_no_sense_is_refused(program: Path, arguments: list[str], text: str) -> None:
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 2
    assert text in done.stderr
    assert not program.with_name("tcpdump.pid").exists() or not runs(program)


def test_who_may_not_capture_is_told_what_to_do(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: str) -> None:
        raise PermissionError

    monkeypatch.setattr(live, "PacketSocket", refuse)
    stand_in(tmp_path, "tcpdump", FORBIDDEN)
    done = run("-i", "lo")
    assert (done.return_value, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("zdissect: lo: you may not capture here: use sudo")


def test_interfaces_are_listed(run: Run) -> None:
    assert ". lo (Loopback)" in run("-D").stdout


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_it_with_a_summary(program: Path, number: int, code: int) -> None:
    with started(program.parent, "-i", "lo", "-T", "json") as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(0.5)  # for what follows
        assert runs(program)
        process.send_signal(number)
        out = process.stdout.read()
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == code
    assert len(json.loads(first + out)) > 10  # whole, though it was interrupted
    assert " frames captured on lo" in said
    assert not runs(program)


def test_it_ends_when_nobody_reads_any_more_even_if_nothing_comes(program: Path) -> None:
    with started(program.parent, "-i", "lo", "-T", "line") as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
        process.stdout.close()
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    assert not runs(program)


def test_what_does_not_come_is_told_on_a_quiet_link(tmp_path: Path, program: Path) -> None:
    from tests.conversation import Conversation
    from tests.messages import request
    from zdissect.capture.autostop import Bounds
    from zdissect.capture.ring import Ring

    conversation = Conversation().open().frame(0, request(1, timeout=10))
    ring = Ring(str(tmp_path / "asked.pcapng"), Bounds())
    for frame in conversation.capture.frames:
        ring.write(frame)
    ring.close()
    stand_in(tmp_path, "tcpdump", PATIENT.replace("$CAPTURE", str(tmp_path / "asked.pcapng")))
    with started(tmp_path, "-i", "lo", "-T", "line") as process:
        assert process.stdout is not None
        lines = []
        while not lines or "no RESPONSE_FINAL" not in lines[-1]:
            lines.append(process.stdout.readline())
            assert lines[-1]
        process.terminate()
        process.communicate(timeout=20)
    assert len(lines) < 12


@may_filter
@may_capture
def test_each_message_of_a_real_session_is_shown_within_50_ms(tmp_path: Path) -> None:
    zenoh = pytest.importorskip("zenoh")
    port, count = 17_449, 40
    if tcpdump := shutil.which("tcpdump"):  # not dumpcap, which keeps frames for a quarter of a second
        (tmp_path / "tcpdump").symlink_to(tcpdump)

    def config(**values: Any) -> Any:
        made = zenoh.Config()
        for name, value in ({"scouting__multicast__enabled": False} | values).items():
            made.insert_json5(name.replace("__", "/"), json.dumps(value))
        return made

    late: list[float] = []
    arguments = ("-i", "lo", "-f", f"tcp port {port}", "-T", "jsonl", "-c", "100000")
    with started(tmp_path, *arguments, alone=True) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        assert process.stderr.readline().startswith("zdissect: capturing on lo")
        with (
            zenoh.open(config(mode="peer", listen__endpoints=[f"tcp/127.0.0.1:{port}"])) as one,
            zenoh.open(config(mode="client", connect__endpoints=[f"tcp/127.0.0.1:{port}"])) as other,
        ):
            one.declare_subscriber("zdissect/**", lambda _: None)
            time.sleep(0.5)
            for number in range(count):
                other.put("zdissect/test", f"sample {number}")
                for line in process.stdout:
                    row = json.loads(line)
                    if row["message"] == "PUSH" and row["payload_len"]:
                        late.append(time.time_ns() / 1e6 - row["ts_ns"] / 1e6)
                        break
                time.sleep(0.01)
        process.terminate()
        process.communicate(timeout=20)
    assert len(late) == count
    assert sorted(late)[count // 2] < 50, "half of them, as the machine may have other things to do"
