"""IP fragments: puts the payload of a packet together, whatever the order of its pieces. Memory is bounded."""

from collections import Counter
from typing import NamedTuple

from zdissect.records import Frame

MAX_OPEN = 1024
"""Datagrams that wait for fragments; Linux keeps 4 MiB of them, which is fewer."""
MAX_OPEN_BYTES = 16 << 20
FRAGMENT_LIFETIME_NS = 30 * 10**9
"""Linux's ipfrag_time; afterwards an identification may be in use again."""
MAX_FINISHED = 64
"""Datagrams remembered after they are complete, so that a late duplicate of a fragment opens no new one."""


class Whole(NamedTuple):
    """An IP payload put together from fragments."""

    data: bytes
    """The captured bytes, up to the first that the capture cut off."""
    size: int
    """Bytes on the wire."""
    frames: tuple[int, ...]


class Open:
    """A datagram some of whose fragments are not there yet."""

    __slots__ = ("held", "parts", "size", "ts_ns")

    def __init__(self, ts_ns: int) -> None:
        self.ts_ns = ts_ns
        self.parts: list[tuple[int, int, bytes, int]] = []
        """(start, stop, captured bytes, frame number), ascending, without overlap."""
        self.size = -1
        self.held = 0

    def add(self, start: int, stop: int, data: bytes, number: int) -> None:
        """Keep what no earlier fragment holds (the first wins: RFC 815's order would let a late one overwrite)."""
        if not self.parts or self.parts[-1][1] <= start:  # in order, as nearly always
            self.parts.append((start, stop, data, number))
            self.held += stop - start
            return
        position, fresh = start, []
        for other_start, other_stop, _, _ in self.parts:
            if other_start > position and position < stop:
                fresh.append((position, min(other_start, stop)))
            position = max(position, other_stop)
        if position < stop:
            fresh.append((position, stop))
        if fresh:
            self.parts += [(a, b, data[a - start : b - start], number) for a, b in fresh]
            self.parts.sort()
            self.held += sum(b - a for a, b in fresh)

    def whole(self) -> Whole | None:
        if self.size < 0 or self.held < self.size:
            return None
        data = bytearray()
        complete, position = True, 0
        for start, stop, captured, _ in self.parts:
            if position >= self.size:
                break
            if start != position:
                return None
            position = stop
            if complete:
                data += captured
                complete = len(captured) == stop - start
        frames = tuple(dict.fromkeys(number for start, _, _, number in self.parts if start < self.size))
        return Whole(bytes(data[: self.size]), self.size, frames)


class Fragments:
    """Datagrams in the making, oldest first; bounded in number, bytes and time."""

    def __init__(self, ignored: Counter[str]) -> None:
        self._ignored = ignored
        self._open: dict[bytes, Open] = {}
        self._finished: dict[bytes, bytes] = {}
        self._held = 0

    def feed(self, key: bytes, frame: Frame, start: int, more: bool, data: bytes, size: int) -> Whole | None:
        """Take a fragment: `size` bytes from `start`, of which `data` was captured. Gives what it completes."""
        finished = self._finished.get(key)
        if finished is not None:
            if data and data == finished[start : start + len(data)]:
                return None
            del self._finished[key]
        datagram = self._open.get(key)
        if datagram is not None and abs(frame.ts_ns - datagram.ts_ns) > FRAGMENT_LIFETIME_NS:
            self._drop(key)
            datagram = None
        if datagram is None:
            datagram = self._open[key] = Open(frame.ts_ns)
        before = datagram.held
        datagram.add(start, start + size, data, frame.number)
        self._held += datagram.held - before
        if not more and datagram.size < 0:
            datagram.size = start + size
        whole = datagram.whole()
        if whole is not None:
            self._held -= self._open.pop(key).held
            self._remember(key, whole.data)
        while len(self._open) > MAX_OPEN or self._held > MAX_OPEN_BYTES:
            self._drop(next(iter(self._open)))
        return whole

    def close(self) -> None:
        for key in list(self._open):
            self._drop(key)

    def _drop(self, key: bytes) -> None:
        dropped = self._open.pop(key)
        self._held -= dropped.held
        self._ignored["ip fragment dropped"] += len({part[3] for part in dropped.parts})

    def _remember(self, key: bytes, data: bytes) -> None:
        self._finished[key] = data
        if len(self._finished) > MAX_FINISHED:
            del self._finished[next(iter(self._finished))]
