"""A pager for what is longer than the terminal, as git has it: PAGER or less, with LESS=FRX unless it is set."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import UnsupportedOperation

from . import stdio
from .common import complain
from .exit_codes import SIGNALLED
from .settings import current

_DEFAULTS = {"LESS": "FRX", "LV": "-c"}
"""less ends if all fits (F), shows colours (R) and leaves the text on the terminal (X)."""


@contextmanager
def paged(wanted: bool) -> Iterator[None]:
    """What is written inside goes through the pager, errors with it, if standard output is a terminal.

    Whoever leaves the pager early closes a pipe, which ends the program silently. At the end, and on Ctrl-C, the pager
    is waited for: until then it has the terminal.
    """
    command = _command() if wanted and _on_a_terminal() else ""
    process = _start(command) if command else None
    if process is None:
        yield
        return
    assert process.stdin is not None
    sys.stdout.flush()
    streams = [1, 2] if os.isatty(2) else [1]
    kept = {number: os.dup(number) for number in streams}
    for number in streams:
        os.dup2(process.stdin.fileno(), number)
    process.stdin.close()
    try:
        yield
    finally:
        _finish(process, kept)
        if 0 < process.returncode < SIGNALLED:
            complain(f"the pager {command!r} failed ({process.returncode}): set PAGER, or use --no-pager")


def _on_a_terminal() -> bool:
    try:
        return os.isatty(sys.stdout.fileno()) and os.environ.get("TERM") != "dumb"
    except (OSError, ValueError, UnsupportedOperation):
        return False


def _command() -> str:
    """What the user wants; empty for no pager, also where it isn't installed."""
    set_once = current().values.get("pager")
    chosen = os.environ.get("ZDISSECT_PAGER", os.environ.get("PAGER") if set_once is None else set_once or "")
    if chosen is None:
        return "less" if shutil.which("less") else ""
    if chosen.strip() in ("", "cat"):
        return ""
    with suppress(ValueError):  # quotes that don't close: the shell says so
        program = next((word for word in shlex.split(chosen) if "=" not in word), "")
        if program and not shutil.which(program):
            complain(f"the pager {program!r} isn't installed: output isn't paged")
            return ""
    return chosen


def _start(command: str) -> "subprocess.Popen[bytes] | None":
    try:
        return subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, env={**_DEFAULTS, **os.environ})
    except OSError as problem:
        complain(f"the pager {command!r} can't be started ({problem.strerror}): output isn't paged")
        return None


def _finish(process: "subprocess.Popen[bytes]", kept: dict[int, int]) -> None:
    """Gives the pager what is left, and waits until the user leaves it; Ctrl-C is its business then."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    broken = stdio.finish() is not None  # what is left is gone, and doesn't reach the terminal
    for number, copy in kept.items():
        os.dup2(copy, number)
        os.close(copy)
    process.wait()
    signal.signal(signal.SIGINT, before)
    if broken and sys.exc_info()[0] is None:
        raise BrokenPipeError
