"""The files that a live capture is written to, one after the other: `-w` and `-b`."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from zdissect.capture.autostop import Bounds
from zdissect.capture.errors import CaptureError
from zdissect.capture.pcapng_writer import PcapngWriter
from zdissect.records import Frame

_BUFFER = 1 << 20


class Ring:
    """Writes frames as pcapng, to one file, or to a new one whenever a condition is met; keeps the last few files.

    With conditions, files are named as dumpcap does: `robot_00001_20261128134501.pcapng`, by number and local time.
    Raises OSError if they can't be written, CaptureError if there is such a file already.
    """

    def __init__(self, path: str, bounds: Bounds, clock: Callable[[], float] = time.monotonic) -> None:
        self.path, self.bounds, self.clock = path, bounds, clock
        self.size = self.frames = self.number = 0
        """Bytes and frames in the current file, and how many files have been started."""
        self.kept: deque[str] = deque()
        """The files that exist, oldest first, if only so many may; else there may be ever more of them."""
        self.begin()

    def full(self) -> bool:
        """Whether the next frame goes into a new file."""
        return self.frames > 0 and self.bounds.met(self.clock() - self.begun_s, self.frames, self.size)

    def write(self, frame: Frame) -> None:
        """Writes a frame, to the next file if this one is full."""
        if self.full():
            self.close()
            self.begin()
        block = self.writer.frame(frame)
        self._write(block)
        self.size += len(block)
        self.frames += 1

    def begin(self) -> None:
        """Opens the next file, and removes the oldest if there are enough."""
        self.number += 1
        name = self.name()
        try:
            self.file: BinaryIO = open(name, "xb", _BUFFER)  # noqa: SIM115  # closed when the next one begins
        except FileExistsError:
            raise CaptureError(name, "it already exists: choose another output name, or remove it") from None
        if self.bounds.files is not None:
            self.kept.append(name)
        while self.bounds.files is not None and len(self.kept) > self.bounds.files:
            with suppress(FileNotFoundError):
                os.remove(self.kept.popleft())
        self.writer, self.begun_s = PcapngWriter(), self.clock()
        self._write(head := self.writer.start())
        self.size, self.frames = len(head), 0

    def name(self) -> str:
        """The name of a file that starts now."""
        if not self.bounds.bounds_a_file():
            return self.path
        stem, suffix = os.path.splitext(self.path)
        return f"{stem}_{self.number:05}_{time.strftime('%Y%m%d%H%M%S')}{suffix}"

    def flush(self) -> None:
        """Writes out what is buffered, for programs that read the file as it grows."""
        with self._named():
            self.file.flush()

    def close(self) -> None:
        """Writes out the rest and closes the file."""
        with self._named():
            self.file.close()

    def _write(self, data: bytes) -> None:
        try:
            self.file.write(data)
        except OSError as problem:
            raise OSError(problem.errno, problem.strerror, self.file.name) from problem

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Errors say which file can't be written."""
        try:
            yield
        except OSError as problem:
            raise OSError(problem.errno, problem.strerror, self.file.name) from problem
