"""Writes a capture file: complete or not at all, and never over a capture that is being read."""

import os
import sys
import tempfile
from collections.abc import Iterable
from types import TracebackType
from typing import IO

from zdissect.capture.errors import CaptureError
from zdissect.capture.pcapng_writer import PcapngWriter
from zdissect.records import Frame


class OutputFile:
    """Writes a pcapng file, as a context: the file gets its name at the end, if nothing went wrong.

    `-` is standard output. Raises OSError if it can't be written, CaptureError if it must not be.
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
        self._temporary = ""
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
        except OSError as problem:  # the name makes no sense to the system
            raise OSError(problem.errno, problem.strerror, self.path) from problem
        self._file.write(self._writer.start())
        return self

    def write(self, frame: Frame, comments: Iterable[str] = ()) -> None:
        """Writes a frame."""
        self._file.write(self._writer.frame(frame, comments))
        self.frames += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.path == "-":
            self._file.flush()
            return
        try:
            self._file.close()
            if kind is None and self._temporary:
                os.replace(self._temporary, self.path)
                self._temporary = ""
        finally:
            if self._temporary:
                os.unlink(self._temporary)

    def _open(self) -> IO[bytes]:
        if self.path == "-":
            return sys.stdout.buffer
        if os.path.exists(self.path) and not os.path.isfile(self.path):  # a device, a named pipe
            return open(self.path, "wb")
        folder, name = os.path.split(os.path.abspath(self.path))
        number, self._temporary = tempfile.mkstemp(".tmp", f".{name[:100]}.", folder)
        mask = os.umask(0o077)
        os.umask(mask)
        os.chmod(self._temporary, 0o666 & ~mask)
        return os.fdopen(number, "wb")
