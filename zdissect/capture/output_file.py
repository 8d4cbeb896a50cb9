"""Writes a capture file: complete or not at all, and never over a capture that is being read."""

import os
import sys
from collections.abc import Iterable
from types import TracebackType
from typing import IO

from zdissect.capture.errors import CaptureError
from zdissect.capture.leftovers import Temporary
from zdissect.capture.pcapng_writer import PcapngWriter
from zdissect.records import Frame

_WHOLE = "capture"
"""The file in its temporary directory."""


class OutputFile:
    """Writes a pcapng file, as a context: the file gets its name at the end, if nothing went wrong.

    `-` is standard output. Raises OSError, with its name, if it can't be written, CaptureError if it must not be.
    """

    def __init__(self, path: str, sources: Iterable[str] = (), force: bool | None = None) -> None:
        """Nothing is opened yet.

        Args:
            path: Name of the file.
            sources: Captures being read, which are never overwritten.
            force: Whether an existing file may be overwritten; None where users have no such option.
        """
        self.path = path
        self.frames = 0
        """Frames written so far."""
        self._writer = PcapngWriter()
        self.removed: list[str] = []
        """What killed runs had left of this file, and is gone now."""
        self._temporary: Temporary | None = None
        if path == "-":
            return
        for source in sources:
            if source != "-" and os.path.exists(path) and os.path.exists(source) and os.path.samefile(path, source):
                raise CaptureError(path, "it is the capture being read: choose another name for the output")
        if os.path.lexists(path) and not force and os.path.isfile(path):
            hint = ", or --force" if force is not None else ""
            raise CaptureError(path, f"it already exists: choose another name{hint}")

    def __enter__(self) -> "OutputFile":
        try:
            self._file = self._open()
            self._file.write(self._writer.start())
        except OSError as problem:  # the name makes no sense to the system
            raise self._named(problem) from problem
        return self

    def write(self, frame: Frame, comments: Iterable[str] = ()) -> None:
        """Writes a frame."""
        try:
            self._file.write(self._writer.frame(frame, comments))
        except OSError as problem:
            raise self._named(problem) from problem
        self.frames += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if self.path == "-":
                self._file.flush()
                return
            self._file.close()
            if kind is None and self._temporary is not None:
                self._temporary.put(_WHOLE)
        except OSError as problem:
            raise self._named(problem) from problem
        finally:
            if self._temporary is not None:
                self._temporary.__exit__(kind, error, at)

    def _open(self) -> IO[bytes]:
        if self.path == "-":
            return sys.stdout.buffer
        if os.path.exists(self.path) and not os.path.isfile(self.path):  # a device, a named pipe
            return open(self.path, "wb")
        self._temporary = Temporary(self.path).__enter__()
        self.removed = self._temporary.removed
        return open(self._temporary.path / _WHOLE, "wb")

    def _named(self, problem: OSError) -> OSError:
        """An error that says which file can't be written, and not how: of standard output, that is said elsewhere."""
        return problem if self.path == "-" else OSError(problem.errno, problem.strerror, self.path)
