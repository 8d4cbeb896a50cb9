"""`zdissect FILE...` where things aren't as they should be: hostile captures and names, terminals, pipes, Ctrl-C."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli

SAMPLES = Path(__file__).parents[2] / "samples"
FIRST = SAMPLES / "pubsub-tcp.pcap"
COMMAND = (sys.executable, "-m", "zdissect_cli")
SECONDS = 20
KINDS = ("tree", "line", "json", "jsonl", "fields", "csv")
NAMED = {"fields": ("-e", "payload", "-e", "key_expr", "--payload", "text")}
"""What a form needs."""
ACTS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
ACTS_TOO = re.compile(r"[\x80-\x9f\u202a-\u202e]")
"""What a terminal obeys or turns round, besides the line ends that are ours."""

EVIL = {
    "a payload": (b"nano message 0", b"\x1b[31m\r\n\x07\x9b 0\xe2\x80\xae"),
    "a payload that is text": (b"with attachment", b"\x1b[31m and\r\nmore"),
    "a key": (b"/att", b"/\x1b\r\n"),
    "a key with an escape": (b"/t0", b"\x1b[m"),
    "a key with a C1 character": (b"/att", b"/\xc2\x9bm"),
    "a key that turns round": (b"/att", b"/\xe2\x80\xae"),
    "a key that isn't UTF-8": (b"/att", b"/\x9b\xff\xfe"),
    "parameters": (b"x=0", b"\x1b\r\n"),
    "a locator": (b"tcp/127.0.0.1:7447", b"tcp/\x1b[31m\r\n.1:7447"),
}


def start(*args: str | Path, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    environ = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | env
    return subprocess.run([*COMMAND, *args], input=stdin, capture_output=True, env=environ, timeout=SECONDS)


def on_a_terminal(*args: str | Path, **env: str) -> bytes:
    """What a terminal gets to see, and standard error with it."""
    environ = (
        {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm", "PAGER": ""} | env
    )
    ours, theirs = pty.openpty()
    with subprocess.Popen([*COMMAND, *args], stdin=theirs, stdout=theirs, stderr=theirs, env=environ) as process:
        os.close(theirs)
        out = b""
        try:
            while piece := os.read(ours, 65536):
                out += piece
        except OSError:  # Linux says so when the other end is closed
            pass
        os.close(ours)
        assert process.wait(SECONDS) == 0
    return out


@pytest.mark.parametrize("what", EVIL)
@pytest.mark.parametrize("kind", KINDS)
def test_no_byte_of_a_capture_drives_the_terminal(what: str, kind: str, tmp_path: Path) -> None:
    whole, (before, after) = FIRST.read_bytes(), EVIL[what]
    assert before in whole
    assert len(before) == len(after)
    (tmp_path / "evil.pcap").write_bytes(whole.replace(before, after))
    more = {"tree": ["-x"], "line": ["-x"], "fields": [*NAMED["fields"], "-E", "separator=,"]}
    done = CliRunner().invoke(
        cli, [*more.get(kind, ()), "-T", kind, str(tmp_path / "evil.pcap")], standalone_mode=False
    )
    assert done.return_value == 0
    assert done.stdout_bytes.decode("utf-8", "backslashreplace").count("\n") > 3
    assert not ACTS.search(done.stdout)
    assert not ACTS.search(done.stderr)
    if kind != "jsonl":
        assert not ACTS_TOO.search(done.stdout)


def test_a_key_with_escapes_shows_them(tmp_path: Path) -> None:
    (tmp_path / "evil.pcap").write_bytes(FIRST.read_bytes().replace(b"/att", b"/\x1b\r\n"))
    out = start("-T", "line", "--color", "always", tmp_path / "evil.pcap").stdout
    assert b"nano/\\x1b\\r\\n" in out
    assert {*re.findall(rb"\x1b\[[0-9;]*m|\x1b", out)} == {*re.findall(rb"\x1b\[[0-9;]*m", out)}
    assert b"\r" not in out


def test_the_name_of_a_file_does_not_drive_it_either(tmp_path: Path) -> None:
    """Neither one that is missing nor one that is nearly called like it."""
    (tmp_path / "a\x1b[31m\x9b.pcap").write_bytes(b"")
    done = start(tmp_path / "a\x1b[31m\x9b.pcap", tmp_path / "a\x1b[31m\r.pcap")
    assert done.returncode == 1
    text = done.stderr.decode()
    assert "a\\x1b[31m\\x9b.pcap: it is empty" in text
    assert "a\\x1b[31m\\r.pcap: there is no such file" in text
    assert not ACTS.search(text)
    assert not ACTS_TOO.search(text)


def test_colour_on_a_terminal() -> None:
    assert b"\x1b[1mFrame 4" in on_a_terminal("-c", "4", FIRST)
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert b"\x1b" not in on_a_terminal("-c", "4", FIRST, **plain)
    assert b"\x1b" not in on_a_terminal("-c", "4", "--color", "never", FIRST)
    assert b"\x1b[1mFrame 4" in on_a_terminal("-c", "4", "--color", "always", FIRST, NO_COLOR="1")


def test_no_colour_in_a_pipe_and_none_that_is_not_asked_for() -> None:
    plain = start("-T", "line", FIRST).stdout
    assert b"\x1b" not in plain
    coloured = start("-T", "line", "--color", "always", FIRST).stdout
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", coloured) == plain


def test_a_terminal_that_is_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "é.pcap").write_bytes(FIRST.read_bytes().replace(b"/att", "/né".encode()))
    for kind in KINDS:
        done = start("-T", kind, *NAMED.get(kind, ()), tmp_path / "é.pcap", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
        assert done.returncode == 0, kind
        assert done.stdout.isascii()
        assert b"nano/n\\xe9" in done.stdout or b"nano/n\\u00e9" in done.stdout, kind


def test_a_closed_pipe_is_silent_in_every_form() -> None:
    for kind in KINDS:
        with subprocess.Popen(
            [*COMMAND, "-q", "-T", kind, *NAMED.get(kind, ()), *SAMPLES.glob("*.pcap")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.read(10)
            process.stdout.close()
            assert process.stderr.read() == b"", kind
            assert process.wait(SECONDS) == 0, kind


def test_a_stream_is_shown_as_it_comes_and_interrupted_without_fuss() -> None:
    with subprocess.Popen(
        [*COMMAND, "-T", "line", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_listen,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},  # it is written at once, so that Ctrl-C may come right behind
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(FIRST.read_bytes())
        process.stdin.flush()
        out = b""
        while b"CLOSE" not in out:  # while the other end of the pipe is open
            assert select.select([process.stdout], [], [], SECONDS)[0], "what has come isn't shown"
            out += os.read(process.stdout.fileno(), 65536)
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert (rest, err) == (b"", b"\n"), "nothing comes twice; a line end stands behind the terminal's ^C"
    assert out.startswith(b"    4 21:45:25.010148155 ")


def _listen() -> None:
    """A shell that runs the tests in the background has them ignore Ctrl-C, which children inherit."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_a_capture_that_is_cut_shows_what_is_good(tmp_path: Path) -> None:
    whole = start("-T", "line", FIRST).stdout
    (tmp_path / "cut.pcap").write_bytes(FIRST.read_bytes()[:-5])
    for args, stdin in (((tmp_path / "cut.pcap",), b""), (("-",), FIRST.read_bytes()[:-5])):
        done = start("-T", "line", *args, stdin=stdin)
        assert (done.returncode, done.stdout) == (1, whole)  # the last frame carries no Zenoh
        assert re.fullmatch(rb"zdissect: .*: cut short: .*inside record 36, .*\n", done.stderr)


def test_unreadable_input_counts_more_than_findings(tmp_path: Path) -> None:
    done = start("-q", "--fail-on", "note", tmp_path / "none.pcap", SAMPLES / "duplicate-sn.pcap")
    assert (done.returncode, done.stderr) == (1, b"")


def test_no_findings_are_no_failure_and_no_words() -> None:
    done = start("--fail-on", "note", FIRST)
    assert (done.returncode, done.stderr) == (0, b"")


def test_help() -> None:
    done = start("--help")
    assert (done.returncode, done.stderr) == (0, b"")
    assert start("-h").stdout == done.stdout
    for text in (b" [OPTIONS] FILE...", b"--fail-on", b"dissect --help", b"\n  hex     Dissect a message"):
        assert text in done.stdout
    assert b"  dissect " not in done.stdout


def test_usage_names_the_program() -> None:
    code = "import sys; from zdissect_cli.main import main; sys.argv = ['zdissect', '-T', 'x', 'a.pcap']; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=SECONDS)
    assert done.returncode == 2
    assert done.stderr.startswith(b"Usage: zdissect [OPTIONS] FILE...\nTry 'zdissect --help' for help.\n\nError: ")
