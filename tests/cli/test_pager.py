"""The pager: when there is one, which, and what happens when it doesn't work or is left."""

import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

SAMPLE = str(Path(__file__).parents[2] / "samples" / "pubsub-tcp.pcap")
PROGRAM = [sys.executable, "-m", "zdissect_cli"]
COMMAND = [*PROGRAM, "-T", "line"]
SECONDS = 30


def on_a_terminal(
    *args: str, keys: bytes = b"", rows: int = 50, command: Sequence[str] = COMMAND, **env: str
) -> tuple[int, str]:
    """(exit code, what a terminal of 90 columns gets to see); keys are typed when a screen is full."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 90, 0, 0))
    names = ("PAGER", "ZDISSECT_PAGER", "LESS", "NO_COLOR", "COLUMNS", "LINES")
    environ: Mapping[str, str] = {name: value for name, value in os.environ.items() if name not in names}
    with subprocess.Popen(
        [*command, *args], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env={**environ, "TERM": "xterm", **env}, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    ) as process:  # fmt: skip
        os.close(theirs)
        out = b""
        try:
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                shown = bool(select.select([ours], [], [], 1)[0])
                if shown and not (piece := os.read(ours, 65536)):
                    break
                out += piece if shown else b""
                if keys and out.count(b"\n") >= rows - 1:
                    os.write(ours, keys[:1])
                    keys = keys[1:] or keys  # the last one again and again: less drops what follows Ctrl-C at once
        except OSError:  # Linux says so when the other end is closed
            pass
        os.close(ours)
        return process.wait(SECONDS), out.decode()


needs_less = pytest.mark.skipif(not shutil.which("less"), reason="needs less")


@needs_less
def test_less_ends_at_once_if_all_fits() -> None:
    code, out = on_a_terminal("-c", "8", SAMPLE)
    assert code == 0
    assert "OPEN_SYN" in out
    assert "\x1b[2m" in out, "colours reach it"


@needs_less
def test_less_waits_for_keys_if_not() -> None:
    code, out = on_a_terminal(SAMPLE, keys=b"q", rows=10)
    assert code == 0
    assert "INIT_SYN" in out
    assert "CLOSE" not in out, "that is further down"


@needs_less
def test_ctrl_c_is_the_business_of_the_pager() -> None:
    code, out = on_a_terminal(SAMPLE, keys=b"\x03q", rows=10)
    assert "Traceback" not in out
    assert code in (0, 130)


def test_which_pager() -> None:
    for env in ({"ZDISSECT_PAGER": "sed s/PUT/put/"}, {"PAGER": "sed s/PUT/put/"}):
        assert " put " in on_a_terminal("--color", "never", SAMPLE, **env)[1]
    assert " put " in on_a_terminal("--color", "never", SAMPLE, ZDISSECT_PAGER="sed s/PUT/put/", PAGER="nobody")[1]


@pytest.mark.parametrize("value", ["", "cat", " "])
def test_none(value: str) -> None:
    for args, env in (((), {"PAGER": value}), (("--no-pager",), {"PAGER": "false"}), ((), {"TERM": "dumb"})):
        code, out = on_a_terminal(*args, SAMPLE, **env)
        assert code == 0
        assert "CLOSE" in out


def test_none_for_what_is_live() -> None:
    with open(SAMPLE, "rb") as file:
        done = subprocess.run([*COMMAND, "-"], stdin=file, capture_output=True, env={**os.environ, "PAGER": "false"})
    assert b"CLOSE" in done.stdout


def test_one_that_is_not_there() -> None:
    code, out = on_a_terminal(SAMPLE, PAGER="isnt-there --option")
    assert code == 0
    assert out.startswith("zdissect: the pager 'isnt-there' isn't installed: output isn't paged")
    assert "CLOSE" in out


def test_one_that_fails_is_told() -> None:
    code, out = on_a_terminal(SAMPLE, PAGER="sh -c 'exit 3'")
    assert code == 0
    assert "the pager \"sh -c 'exit 3'\" failed (3): set PAGER, or use --no-pager" in out


def test_what_is_left_when_the_pager_ends_does_not_reach_the_terminal() -> None:
    code, out = on_a_terminal(SAMPLE, PAGER="head -n 1")
    assert code == 0
    assert "INIT_SYN" in out
    assert "CLOSE" not in out


LONG = {
    "stats": ("stats", SAMPLE),
    "sessions": ("sessions", SAMPLE),
    "keys": ("keys", SAMPLE),
    "follow": ("follow", "session:1", SAMPLE),
    "explain": ("explain", "put", "sn-gap"),
    "fields": ("fields", "zenoh.push.*"),
    "filter": ("filter",),
}
"""Commands whose text may be longer than a terminal."""
_MARK = "sed s/^/PAGED:/"


@pytest.mark.parametrize("name", LONG)
def test_whatever_may_be_long_is_paged(name: str) -> None:
    paged, plain = (
        on_a_terminal(*LONG[name], *more, command=PROGRAM, PAGER=_MARK)[1] for more in ((), ("--no-pager",))
    )
    marked = [line.removeprefix("PAGED:") for line in paged.splitlines() if line.startswith("PAGED:")]
    assert marked
    assert marked == plain.splitlines()[: len(marked)], "width and colours are those of the terminal"
    assert "PAGED" not in plain


@pytest.mark.parametrize("args", [
    ("stats", "--json"), ("keys", "--json"), ("findings", "--csv"), ("follow", "session:1", "--json"),
    ("follow", "session:1", "--raw"),
])  # fmt: skip
def test_what_programs_read_is_not(args: tuple[str, ...]) -> None:
    assert "PAGED" not in on_a_terminal(*args, SAMPLE, command=PROGRAM, PAGER=_MARK)[1]


def test_nor_is_what_goes_to_a_pipe() -> None:
    done = subprocess.run([*PROGRAM, "stats", SAMPLE], capture_output=True, env={**os.environ, "PAGER": _MARK})
    assert b"Sessions" in done.stdout
    assert b"PAGED" not in done.stdout
