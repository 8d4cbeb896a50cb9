"""IP fragments: reassembles the payload of a packet, whatever the order of its pieces. Memory is bounded.

The size that a fragment claims is believed only as far as it can be true; only bytes that are really held count
against the limit. Beyond it, the sender with most of them loses its oldest datagrams, so that a sender who floods harms
nobody else.
"""

from bisect import bisect_right
from collections import Counter
from operator import itemgetter
from typing import NamedTuple

from zdissect.flow.unopened import Unopened
from zdissect.limits import Limits, Quota
from zdissect.records import Frame

OPEN_BYTES, PART_BYTES = 800, 160
"""Bytes of memory that a datagram takes that waits for fragments, and each fragment besides its own."""
MAX_SIZE = 65535
"""Bytes of the longest IP packet that can be fragmented: a jumbogram can't (RFC 2675)."""
FRAGMENT_LIFETIME_NS = 30 * 10**9
"""Linux's ipfrag_time; afterwards an identification may be in use again."""
MAX_FINISHED = 64
"""Datagrams remembered after they are complete, so that a late duplicate of a fragment opens no new one."""

ALONE, IMPOSSIBLE, CONTRARY = "IP fragments without the others", "IP fragments beyond 65535 bytes", "bad IP fragment"

_start, _stop = itemgetter(0), itemgetter(1)
Part = tuple[int, int, bytes, tuple[int, ...]]
"""Start, stop, captured bytes, frame numbers."""


class FragmentHeader(NamedTuple):
    """What the IP header of a fragment says."""

    key: bytes
    """What all fragments of the datagram share."""
    addresses: bytes
    """The addresses of sender and receiver."""
    protocol: int
    start: int
    """Where the fragment starts in the payload of the datagram."""
    more: bool
    """Whether more fragments follow."""


class Fragment(NamedTuple):
    """An IP fragment."""

    key: bytes
    """What all fragments of a datagram share."""
    sender: bytes
    frame: Frame
    numbers: tuple[int, ...]
    """The frames that it came from."""
    start: int
    """Where it starts in the payload of the datagram."""
    size: int
    """Its bytes on the wire."""
    more: bool
    """Whether more fragments follow."""
    data: bytes
    """Its captured bytes."""

    @property
    def stop(self) -> int:
        """Where it ends in the payload of the datagram."""
        return self.start + self.size


class Whole(NamedTuple):
    """An IP payload put together from fragments."""

    data: bytes
    """The captured bytes, up to the first that the capture cut off."""
    size: int
    """Bytes on the wire."""
    frames: tuple[int, ...]


class Open:
    """A datagram of which some fragments are still missing."""

    __slots__ = ("files", "held", "kept", "now_ns", "parts", "sender", "size")

    def __init__(self, sender: bytes, now_ns: int) -> None:
        self.sender = sender
        self.now_ns = now_ns
        self.parts: list[Part] = []
        """Ascending, without overlap."""
        self.size = -1
        """Bytes of the whole; -1 until the last fragment has come."""
        self.held = 0
        """Bytes on the wire of the fragments so far."""
        self.kept = OPEN_BYTES
        """Bytes of memory."""
        self.files: Counter[str] = Counter()
        """Numbers of its frames, by file."""

    def add(self, start: int, stop: int, data: bytes, numbers: tuple[int, ...]) -> None:
        """Keep the bytes that no earlier fragment holds (first wins: in RFC 815's order a late one would overwrite)."""
        parts = self.parts
        first = at = bisect_right(parts, start, key=_stop)
        position, fresh = start, []
        while position < stop:
            other = parts[at] if at < len(parts) and parts[at][0] < stop else None
            end = stop if other is None else other[0]
            if end > position:
                fresh.append((position, end, data[position - start : end - start], numbers))
            if other is None:
                break
            position = max(position, other[1])
            at += 1
        if fresh:
            parts[first:at] = sorted(parts[first:at] + fresh, key=_start)
            self.held += sum(stop - start for start, stop, _, _ in fresh)
            self.kept += sum(PART_BYTES + len(piece[2]) for piece in fresh)

    def end(self, size: int) -> None:
        """Set the size of the whole, and drop what lies beyond."""
        self.size = size
        while self.parts and self.parts[-1][1] > size:
            start, stop, data, numbers = self.parts.pop()
            self.held -= stop - start
            self.kept -= PART_BYTES + len(data)
            if start < size:
                self.add(start, size, data[: size - start], numbers)

    def whole(self) -> Whole:
        """The whole payload, once `held` has reached `size`."""
        data = bytearray()
        for start, stop, captured, _ in self.parts:
            data += captured
            if len(captured) < stop - start:
                break
        frames = tuple(dict.fromkeys(number for part in self.parts for number in part[3]))
        return Whole(bytes(data), self.size, frames)


class Fragments:
    """Datagrams being reassembled, oldest first; bounded in bytes and time."""

    def __init__(self, unopened: Unopened) -> None:
        self._unopened = unopened
        self._open: dict[bytes, Open] = {}
        self._finished: dict[bytes, bytes] = {}
        self._senders: dict[bytes, dict[bytes, None]] = {}
        """The keys of each sender's datagrams, oldest first."""
        self.store: Quota[bytes] = Quota("packets", Limits().packets)
        """The memory that senders take."""

    def feed(self, fragment: Fragment) -> Whole | None:
        """Take a fragment; returns the payload that it completes, if any."""
        key, frame, stop = fragment.key, fragment.frame, fragment.stop
        if stop > MAX_SIZE:
            self._unopened.add(frame.source, IMPOSSIBLE)
            return None
        if self._repeats(fragment):
            return None
        datagram = self._datagram(fragment)
        if 0 <= datagram.size < stop:
            self._unopened.add(frame.source, CONTRARY)
            return None
        before = datagram.kept
        datagram.add(fragment.start, stop, fragment.data, fragment.numbers)
        datagram.files[frame.source] += 1
        if not fragment.more:
            datagram.end(stop)
        self.store.add(datagram.sender, datagram.kept - before)
        if datagram.held == datagram.size:
            self._remove(key)
            whole = datagram.whole()
            self._remember(key, whole.data)
            return whole
        for sender in self.store.excess():
            # if nobody has much, many senders have a little each: then the age counts, not the size
            keys = list(self._senders[sender] if self.store.owners[sender] >= self.store.most >> 3 else self._open)
            for old in keys[: (len(keys) + 1) // 2]:
                self._drop(old)
        return None

    def _repeats(self, fragment: Fragment) -> bool:
        """Whether this is a late duplicate, from a datagram that is complete; if not, that datagram is forgotten."""
        finished, data = self._finished.get(fragment.key), fragment.data
        if finished is None:
            return False
        if data and data == finished[fragment.start : fragment.start + len(data)]:
            return True
        del self._finished[fragment.key]
        return False

    def _datagram(self, fragment: Fragment) -> Open:
        """The datagram that a fragment belongs to; a new one if there is none, or if it is too old."""
        key, now_ns = fragment.key, fragment.frame.now_ns
        datagram = self._open.get(key)
        if datagram is not None and abs(now_ns - datagram.now_ns) > FRAGMENT_LIFETIME_NS:
            self._drop(key)
            datagram = None
        if datagram is None:
            while self._open and now_ns - self._open[first := next(iter(self._open))].now_ns > FRAGMENT_LIFETIME_NS:
                self._drop(first)
            datagram = self._open[key] = Open(fragment.sender, now_ns)
            self._senders.setdefault(fragment.sender, {})[key] = None
            self.store.add(fragment.sender, datagram.kept)
        return datagram

    def close(self) -> None:
        """Give up all that wait."""
        for key in list(self._open):
            self._drop(key)

    def _drop(self, key: bytes) -> None:
        """Give up a datagram."""
        for source, frames in self._remove(key).files.items():
            self._unopened.add(source, ALONE, frames)

    def _remove(self, key: bytes) -> Open:
        """Forget a datagram."""
        removed = self._open.pop(key)
        keys = self._senders[removed.sender]
        del keys[key]
        self.store.add(removed.sender, -removed.kept)
        if not keys:
            del self._senders[removed.sender]
            self.store.drop(removed.sender)
        return removed

    def _remember(self, key: bytes, data: bytes) -> None:
        self._finished[key] = data
        if len(self._finished) > MAX_FINISHED:
            del self._finished[next(iter(self._finished))]
