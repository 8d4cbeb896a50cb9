"""Standard streams that are closed, full or read by nobody: a line, an exit code, and nothing good is lost."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "samples"
FIRST = SAMPLES / "pubsub-tcp.pcap"
ROBOTS = SAMPLES.with_name("samples-ros2") / "two-stacks.pcap"
ZDISSECT = f"{shlex.quote(sys.executable)} -m zdissect_cli"
SECONDS = 60

COMMANDS = (
    *(f"-T {kind} {FIRST}" for kind in ("tree", "line", "json", "jsonl")),
    *(f"-q hex -T {kind} 3d00036b2f610103313131".replace("-q hex", "hex -q") for kind in ("tree", "line", "jsonl")),
    f"stats {FIRST}", f"stats --json {FIRST}", f"sessions {FIRST}", f"keys --json {FIRST}", f"queries --csv {FIRST}",
    f"ros2 -q {ROBOTS}", f"ros2 doctor -q --json {ROBOTS}", f"ros2 graph -q --dot {ROBOTS}",
    f"check {FIRST}", f"check --sarif {FIRST}", f"diff {FIRST} {FIRST}",
    f"follow -q 1 {FIRST}", f"follow -q --json 1 {FIRST}", f"follow -q --raw 1 {FIRST}",
    "fields push", "explain PUSH", "--help",
    "hex --help", "--version", "filter", "filter sn", f"-Y sn {FIRST}",
)  # fmt: skip


def shell(command: str, **options: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=SECONDS, **options)


@pytest.fixture(autouse=True)
def _needs_a_full_device() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("where", "why"), [("> /dev/full", "No space left on device"), (">&-", "it is closed")])
def test_output_that_cannot_be_written_is_an_error_in_one_line(command: str, where: str, why: str) -> None:
    done = shell(f"{ZDISSECT} {command} {where}")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"zdissect: standard output: {why}\n"


@pytest.mark.parametrize("command", [*COMMANDS[1::2], "nosuch.pcap", "-T x", "hex zz", "explain nosuch"])
def test_without_standard_error_or_input_all_else_is_as_ever(command: str) -> None:
    plain = shell(f"{ZDISSECT} {command}", stdin=subprocess.DEVNULL)
    for where in ("2> /dev/full", "2>&-", "<&-"):
        done = shell(f"{ZDISSECT} {command} {where}", stdin=subprocess.DEVNULL)
        assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), where
        assert "Traceback" not in done.stderr, where


def test_a_closed_pipe_is_silent() -> None:
    for command in COMMANDS:
        done = shell(f"{ZDISSECT} {command} 2> /dev/null | true; echo ${{PIPESTATUS[0]}}")
        assert (done.stdout, done.stderr) == ("0\n", ""), command


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("hex <&-", "standard input is closed: give the bytes as text"),
        ("- <&-", "it is closed"),
        ("hex -f /tmp", "/tmp: Is a directory"),
        ("hex -f /dev/zero", "/dev/zero: larger than 64 MB"),
        ("/tmp", "it is a directory"),
        ("/dev/null", "it is empty"),
        ("/dev/zero", "nothing but zeros"),
    ],
)
def test_input_that_is_no_file(command: str, text: str) -> None:
    done = shell(f"{ZDISSECT} {command}")
    assert (done.returncode, done.stdout) == (1, "")
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("where", ["", ">&- 2>&- <&-", "> /dev/full", "2> /dev/full"])
def test_tables_are_written_whatever_the_streams_are(where: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    done = shell(f"{ZDISSECT} batch -j 1 {FIRST} -o out {where}", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "Traceback" not in done.stderr
    assert len([*tmp_path.glob("out/messages/*.parquet")]) == 1


def test_tables_in_a_directory_whose_name_is_no_text(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    try:
        (tmp_path / os.fsdecode(b"\xff")).mkdir()
    except OSError:
        pytest.skip("this file system has no such names")
    for mode in ("error", "append", "overwrite"):
        done = shell(f"{ZDISSECT} batch -j 1 {FIRST} -o $'\\xff/a\\xfe' --mode {mode}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert r"tables in \xff/a\xfe" in done.stderr
    (path,) = (tmp_path / os.fsdecode(b"\xff/a\xfe") / "messages").iterdir()
    with path.open("rb") as file:
        assert pq.read_table(file).num_rows == 37


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "cp1252"])
@pytest.mark.parametrize("command", ["-q -T json", "-q -T jsonl", "stats --json"])
def test_json_is_utf_8_whatever_the_terminal_is(encoding: str, command: str, tmp_path: Path) -> None:
    (tmp_path / "é.pcap").write_bytes(FIRST.read_bytes().replace(b"/att", "/né".encode()))
    env = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = subprocess.run(
        ["bash", "-c", f"{ZDISSECT} {command} é.pcap"], capture_output=True, env=env, cwd=tmp_path, timeout=SECONDS
    )
    text = done.stdout.decode()
    found = [json.loads(line) for line in (text.splitlines() if "jsonl" in command else [text])]
    assert "nano/né" in json.dumps(found, ensure_ascii=False)


STARTED = """
import signal, sys
real = signal.signal
def told(*what):
    real(*what)
    open(sys.argv[3], "w")
signal.signal = told
import zdissect_cli.__main__
"""
"""Says when Ctrl-C is taken care of. Until then the interpreter, which has nothing of ours, ends by the signal."""


@pytest.mark.parametrize("delay", [0, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2])
def test_an_interrupt_at_any_time_ends_with_130(delay: float, tmp_path: Path) -> None:
    """Also while modules are imported."""
    marker = tmp_path / "started"
    with subprocess.Popen(
        [sys.executable, "-c", STARTED, "stats", "-", marker], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:  # fmt: skip
        while not marker.exists():
            time.sleep(0.001)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, err
    assert b"Traceback" not in err


WRAPPED = """
import zdissect_cli.main

class Interrupting:
    def __set_name__(self, owner, name):
        raise ENDED

def command(**how):
    class Made:
        field = Interrupting()

zdissect_cli.main.cli.main = command
zdissect_cli.main.main()
"""


@pytest.mark.parametrize(("ended", "code"), [("KeyboardInterrupt", 130), ("SystemExit(143)", 143)])
def test_an_interrupt_while_a_class_is_made_ends_as_always(ended: str, code: int) -> None:
    """As in an import: Python 3.11 makes a RuntimeError of Ctrl-C, and of SIGTERM, which ends `batch`."""
    script = WRAPPED.replace("ENDED", ended)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=SECONDS)
    assert (done.returncode, done.stderr) == (code, b"")


def refused(text: str) -> bool:
    """Whether text holds what strict parsers of JSON refuse: half of a surrogate pair, alone."""
    return any(0xD800 <= ord(char) < 0xE000 for char in text)


@pytest.mark.parametrize("command", ["-q -T json", "-q -T jsonl", "stats --json", "hex -q -T jsonl"])
def test_what_is_not_utf_8_is_spelled_in_every_json(command: str, tmp_path: Path) -> None:
    """A key (whose finding repeats it), parameters, an encoding's schema, a file name."""
    evil = FIRST.read_bytes().replace(b"/att", b"/\xff\x9b*").replace(b"x=0", b"\xfe=0")
    name = tmp_path / os.fsdecode(b"n\xff.pcap")
    try:
        name.write_bytes(evil)
    except OSError:
        pytest.skip("this file system has no such names")
    what = b"1dba9601415301ff030a88c9" if command.startswith("hex") else os.fsencode(name)
    done = subprocess.run([*shlex.split(ZDISSECT), *command.split(), what], capture_output=True, timeout=SECONDS)
    text = done.stdout.decode()
    values = [json.loads(line) for line in (text.splitlines() if "jsonl" in command else [text])]
    assert values
    shown = json.dumps(values, ensure_ascii=False)
    assert not refused(shown)
    wanted = [r"\\xff"] if command.startswith("hex") else [r"nano/\\xff\\x9b*", r"n\\xff.pcap"]
    assert all(one in shown for one in wanted)
