"""Keeps frames in temporary files, to be read again in any order, with room for the changed bytes of each.

Memory: some dozens of bytes per frame. What isn't written stays zero, and takes no room on most file systems.
"""

import tempfile
from array import array
from collections.abc import Iterator
from types import TracebackType
from typing import IO

from zdissect.records import Frame

_GATHERED = 1 << 20


class Spool:
    """Frames by their place, counted from 0, as a context: at its end the files are removed.

    Raises OSError, which names the directory for temporary files, if they can't be written.
    """

    def __init__(self) -> None:
        self._frames = tempfile.TemporaryFile()  # noqa: SIM115
        self._new = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._starts = array("Q", [0])
        self._heads: list[tuple[int, int, int]] = []

    def __enter__(self) -> "Spool":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._frames.close()
        self._new.close()

    def __len__(self) -> int:
        return len(self._heads)

    def add(self, frame: Frame) -> None:
        """Adds a frame. The name of its file isn't kept; its number becomes its place plus one."""
        self._pending.append(frame.data)
        self._pending_size += len(frame.data)
        self._starts.append(self._starts[-1] + len(frame.data))
        self._heads.append((frame.ts_ns, frame.link, frame.wire_len))
        if self._pending_size > _GATHERED:
            self._flush()

    def frame(self, place: int) -> Frame:
        """Returns a frame as it was added."""
        ts_ns, link, wire_len = self._heads[place]
        return Frame("", place + 1, ts_ns, link, wire_len, self.old(place, 0, self._size(place)))

    def frames(self) -> Iterator[Frame]:
        """All of them."""
        return map(self.frame, range(len(self)))

    def old(self, place: int, offset: int, size: int) -> bytes:
        """Returns bytes of a frame as it was added; fewer where it ends."""
        self._flush()
        self._frames.seek(self._starts[place] + offset)
        return self._frames.read(max(0, min(size, self._size(place) - offset)))

    def new(self, place: int, offset: int, size: int) -> bytes:
        """Returns the changed bytes of a frame, zeros where none were written."""
        self._new.seek(self._starts[place] + offset)
        size = max(0, min(size, self._size(place) - offset))
        return (self._new.read(size) or b"").ljust(size, b"\0")

    def write(self, place: int, offset: int, data: bytes) -> None:
        """Writes changed bytes of a frame; those beyond its end are left out."""
        data = data[: max(0, self._size(place) - offset)]
        if data:
            self._new.seek(self._starts[place] + offset)
            _write(self._new, data)

    def _size(self, place: int) -> int:
        return self._starts[place + 1] - self._starts[place]

    def _flush(self) -> None:
        if self._pending:
            self._frames.seek(0, 2)
            _write(self._frames, b"".join(self._pending))
            self._pending.clear()
            self._pending_size = 0


def _write(file: IO[bytes], data: bytes) -> None:
    """Writes to a temporary file, and not only to its buffer."""
    try:
        file.write(data)
        file.flush()
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, tempfile.gettempdir()) from problem
