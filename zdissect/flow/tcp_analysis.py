"""What a TCP segment is besides its bytes: the opening or the end of a connection, a repeat, or out of order.

For people who look at a capture frame by frame. Streams are put together without it (`tcp`).
"""

from collections import deque
from collections.abc import Callable

from zdissect.records import Endpoint, Segment

_FIN, _SYN, _RST, _ACK = 1, 2, 4, 16
_MASK, _SIGN = 0xFFFFFFFF, 0x80000000
_WINDOW = 1 << 30
"""Most bytes between segments of one connection (RFC 7323)."""
MOST_SEGMENTS = 1024
"""Segments of a direction that are kept to find repeats in."""
MOST_DIRECTIONS = 1 << 14
MOST_FRAMES = 4
"""Most frames that are named."""


class _Direction:
    __slots__ = ("next", "recent")

    def __init__(self, first: int) -> None:
        self.next = first
        """The sequence number after everything that has arrived."""
        self.recent: deque[tuple[int, int, int]] = deque(maxlen=MOST_SEGMENTS)
        """(sequence number, size, frame) of segments, in order of the capture."""

    def covered(self, seq: int, size: int) -> tuple[int, list[int]]:
        """How many of these bytes came earlier, and in which frames."""
        left = [(0, size)]
        frames = []
        for other, length, frame in self.recent:
            start = _distance(other, seq)
            kept = [piece for low, high in left for piece in ((low, min(high, start)), (max(low, start + length), high))
                    if piece[0] < piece[1]]  # fmt: skip
            if sum(high - low for low, high in kept) < sum(high - low for low, high in left):
                frames.append(frame)
                left = kept
                if not left:
                    break
        return size - sum(high - low for low, high in left), frames


class TcpAnalysis:
    """The directions of all connections; bounded."""

    def __init__(self) -> None:
        self.directions: dict[tuple[Endpoint, Endpoint], _Direction] = {}

    def feed(self, segment: Segment) -> str:
        """A text about the next segment of the capture; empty if there is nothing unusual about it."""
        words = []
        flags, size = segment.flags, len(segment.payload) + segment.missing
        first = segment.seq + bool(flags & _SYN) & _MASK
        if flags & _SYN:
            words.append(self.opens(segment, first))
        if size:
            words.append(self.bytes(segment, first, size))
        if flags & _RST:
            words.append("TCP RST: the connection is reset")
        elif flags & _FIN:
            words.append("TCP FIN: this side has nothing more to send")
        return "; ".join(filter(None, words))

    def forget(self, over: Callable[[Endpoint, Endpoint], bool]) -> None:
        """Forgets the directions that are over: from one end to another."""
        self.directions = {ends: known for ends, known in self.directions.items() if not over(*ends)}

    def opens(self, segment: Segment, first: int) -> str:
        """Takes a SYN."""
        known = self.directions.get((segment.src, segment.dst))
        repeated = known is not None and not known.recent and known.next == first
        self.direction(segment, first)
        name = "TCP SYN ACK: the connection is accepted" if segment.flags & _ACK else "TCP SYN: a connection is opened"
        return f"{name}, again" if repeated else name

    def direction(self, segment: Segment, first: int) -> _Direction:
        """A direction from its first byte, or from the first one seen."""
        if len(self.directions) >= MOST_DIRECTIONS:
            self.directions.clear()
        new = self.directions[segment.src, segment.dst] = _Direction(first)
        return new

    def bytes(self, segment: Segment, seq: int, size: int) -> str:
        """Takes the payload of a segment."""
        known = self.directions.get((segment.src, segment.dst)) or self.direction(segment, seq)
        ahead = _distance(seq, known.next)
        if abs(ahead) > _WINDOW:
            return f"TCP segment outside the window: {_bytes(size)}"
        text = ""
        if ahead > 0:
            text = f"TCP segment out of order: {_bytes(ahead)} before it haven't arrived yet"
        elif ahead < 0:
            count, frames = known.covered(seq, size)
            if count == size:
                text = f"TCP retransmission of {_bytes(size)}, first in {_frames(frames)}"
            elif count:
                text = f"TCP retransmission of {count} of these {_bytes(size)}, first in {_frames(frames)}"
            else:
                text = f"TCP segment out of order, or a retransmission of what isn't in the capture: {_bytes(size)}"
        known.recent.append((seq, size, segment.frame.number))
        if ahead + size > 0:
            known.next = seq + size & _MASK
        return text


def _distance(number: int, origin: int) -> int:
    """How far a sequence number lies after another, modulo 2^32; negative if before."""
    return ((number - origin + _SIGN) & _MASK) - _SIGN


def _bytes(size: int) -> str:
    return "1 byte" if size == 1 else f"{size} bytes"


def _frames(frames: list[int]) -> str:
    named = ", ".join(map(str, frames[:MOST_FRAMES])) + (" ..." if len(frames) > MOST_FRAMES else "")
    return f"frame{'s' if len(frames) > 1 else ''} {named}"
