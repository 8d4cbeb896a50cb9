"""Standard input, output and errors as they may be: closed, full, or read by nobody any more."""

import codecs
import os
import sys
from contextlib import suppress
from typing import Any, TextIO, cast

from zdissect.output.plain_characters import HANDLER


class Errors:
    """Standard error that may fail: what can't be written there is lost, and stops nothing."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        try:
            return self.stream.write(text)
        except (OSError, ValueError):  # ValueError: it has been closed since
            return len(text)

    def flush(self) -> None:
        try:
            self.stream.flush()
        except (OSError, ValueError):
            nowhere(self.stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def prepare() -> None:
    """Gives every closed stream a descriptor, so that no file gets it, and output fails there."""
    for number, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, flags), number)  # input can't be read, nor output written
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # a terminal that can't show a character gets one like it, or an escape, instead of a traceback
        stream.reconfigure(errors=HANDLER)  # type: ignore[union-attr]
    sys.stderr = cast(TextIO, Errors(sys.stderr))


def for_json() -> None:
    """Makes standard output fit for JSON, which is UTF-8 whatever a terminal would like: ASCII is that, too."""
    if codecs.lookup(sys.stdout.encoding).name != "utf-8":
        codecs.register_error("as-json", _as_json)
        sys.stdout.reconfigure(encoding="ascii", errors="as-json")  # type: ignore[union-attr]


def _as_json(problem: UnicodeError) -> tuple[str, int]:
    """Characters that an encoding doesn't have, as JSON escapes them."""
    import json  # only here: few need it

    assert isinstance(problem, UnicodeEncodeError)
    return json.dumps(problem.object[problem.start : problem.end])[1:-1], problem.end


class Remainder:
    """Writes to standard output what follows a number of bytes, which have been written."""

    def __init__(self, written: int) -> None:
        self.written = written

    def write(self, text: str) -> int:
        """Writes a text, or what is to be written of it."""
        data = text.encode(sys.stdout.encoding, sys.stdout.errors or "strict")
        sys.stdout.buffer.write(data[self.written :])
        self.written = max(self.written - len(data), 0)
        return len(text)


def emit(text: str) -> None:
    """Writes a text to standard output, all of it: Python 3.11 loses a part if a signal comes that doesn't raise."""
    sys.stdout.flush()
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):  # an object in memory
        sys.stdout.write(text)
        return
    data = memoryview(text.encode(sys.stdout.encoding, sys.stdout.errors or "strict"))
    while data:
        data = data[os.write(number, data) :]


def finish() -> OSError | None:
    """Writes what is left to standard output; what keeps it from that. Nothing is left for the interpreter's end."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as problem:
        nowhere(sys.stdout)
        return problem if isinstance(problem, OSError) else None
    finally:
        sys.stderr.flush()
    return None


def nowhere(stream: TextIO) -> None:
    """From now on what is written to a stream goes nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
