"""How far a command has read its files, in one line on a terminal: never in a file, never with -q."""

import os
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from zdissect.records import Frame

if TYPE_CHECKING:
    from zdissect.capture import Capture

_FIRST_S, _EVERY_S = 1.0, 0.25
_FRAMES = 512
"""So many frames are read between two looks at the clock."""
_AS_THEY_COME = ("dissect", "follow", "top")
"""Commands that print while they read: on a terminal, that is progress enough."""


class FileProgress:
    """A line on standard error about how far files have been read."""

    def __init__(self, files: tuple[str, ...]) -> None:
        self.total = sum(map(_size, files))
        """Bytes of all files."""
        self.before = 0
        """Bytes of those that have been read."""
        self.frames = 0
        self.began = time.monotonic()
        self.next = self.began + _FIRST_S
        self.shown = False

    def through(self, capture: "Capture") -> Iterator[Frame]:
        """The frames of a capture; the line is gone when they end, however that is."""
        try:
            for frame in capture:
                self.frames += 1
                if not self.frames % _FRAMES:
                    self.look(capture.position)
                yield frame
        finally:
            self.before += capture.size or 0
            self.clear()

    def reached(self, position: int, frames: int) -> None:
        """Takes how far others have read the files."""
        self.frames = frames
        self.look(position)

    def look(self, position: int | None) -> None:
        """Writes the line if it is time for it."""
        now = time.monotonic()
        if now < self.next:
            return
        self.next = now + _EVERY_S
        self.shown = True
        sys.stderr.write(f"\r\x1b[K{self.text((position or 0) + self.before, now - self.began)}")
        sys.stderr.flush()

    def text(self, done: int, seconds: float) -> str:
        """What the line says after so many bytes and seconds."""
        frames = f"{self.frames} frames"
        if not done or done > self.total:  # a pipe, or a file that grows
            return f"{frames}, {seconds:.0f} s"
        left = round(seconds * (self.total - done) / done)
        rest = f"{left // 60} min {left % 60} s" if left >= 60 else f"{left} s"
        return f"{100 * done // self.total} % of {self.total / 1e6:.1f} MB, {frames}, {rest} left"

    def clear(self) -> None:
        """Takes the line away."""
        if self.shown:
            self.shown = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def file_progress(files: tuple[str, ...]) -> FileProgress | None:
    """What shows how far the command is that runs; None if nothing does."""
    context = click.get_current_context(silent=True)
    if context is None or context.params.get("quiet") or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return None
    if sys.stdout.isatty() and context.info_name in _AS_THEY_COME:
        return None
    return FileProgress(files)


def _size(name: str) -> int:
    """Bytes of a file; 0 if it isn't there, or none."""
    try:
        return os.stat(name).st_size if name != "-" else 0
    except OSError:
        return 0
