"""Files that a capture is written to, one after the other: `-w` and `-b`."""

import os
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from zdissect.capture import pcapng_blocks
from zdissect.capture.autostop import Conditions
from zdissect.records import Frame

_BUFFER = 1 << 20


class Ring:
    """Writes frames as pcapng, to one file, or to a new one whenever a condition is met; keeps the last few of them.

    With conditions, files are named as dumpcap does: `robot_00001_20261128134501.pcapng`, by number and local time.
    """

    def __init__(self, path: str, bounds: Conditions, clock: Callable[[], float] = time.monotonic) -> None:
        self.path, self.bounds, self.clock = path, bounds, clock
        self.links: dict[int, int] = {}
        """Numbers of the interfaces in the file, by link type."""
        self.size = self.frames = self.number = 0
        """Bytes and frames in the file, and how many files have been begun."""
        self.kept: deque[str] = deque()
        """The files that are there."""
        self.begun_s = 0.0
        self.file: BinaryIO = self.begin()

    def write(self, frame: Frame) -> None:
        """Writes a frame, to the next file if that one is full."""
        if self.frames and self.bounds.met(self.clock() - self.begun_s, self.frames, self.size):
            self.file.close()
            self.file = self.begin()
        number = self.links.get(frame.link)
        if number is None:
            number = self.links[frame.link] = len(self.links)
            self.put(pcapng_blocks.interface(frame.link))
        self.put(pcapng_blocks.packet(frame, number))
        self.frames += 1

    def put(self, block: bytes) -> None:
        """Writes a block."""
        self.file.write(block)
        self.size += len(block)

    def begin(self) -> BinaryIO:
        """Opens the next file, and removes the oldest if there are enough."""
        self.number += 1
        name = self.name()
        file = open(name, "wb", _BUFFER)  # noqa: SIM115  # closed when the next one begins
        self.kept.append(name)
        while self.bounds.files is not None and len(self.kept) > self.bounds.files:
            with suppress(FileNotFoundError):
                os.remove(self.kept.popleft())
        head = pcapng_blocks.section()
        file.write(head)
        self.size, self.frames, self.begun_s = len(head), 0, self.clock()
        self.links.clear()
        return file

    def name(self) -> str:
        """The name of the file that begins now."""
        if not self.bounds.bounds_a_file():
            return self.path
        stem, suffix = os.path.splitext(self.path)
        return f"{stem}_{self.number:05}_{time.strftime('%Y%m%d%H%M%S')}{suffix}"

    def flush(self) -> None:
        """Writes out what is buffered, for who reads along."""
        self.file.flush()

    def close(self) -> None:
        """Writes out the rest."""
        self.file.close()
