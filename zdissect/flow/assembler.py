"""The bytes of TCP streams: put in order, each delivered once, holes given up when they are certain."""

from bisect import bisect_right, insort
from collections import Counter
from operator import itemgetter
from typing import Final

from zdissect.flow.connection import (
    FIN,
    GRACE_NS,
    GRACE_SEGMENTS,
    MAX_BUFFERED_BYTES,
    MAX_BUFFERED_SEGMENTS,
    MAX_HOLE_NS,
    MAX_WINDOW,
    NEVER,
    RST,
    SYN,
    Connection,
    HalfStream,
    distance_of,
)
from zdissect.records import Chunk, Frame, Gap, Overlap, Segment, StreamEnd, StreamItem

_start = itemgetter(0)


class Assembler:
    """Puts the bytes of a direction in order. `ignored` counts what was left out."""

    def __init__(self) -> None:
        self.ignored: Final[Counter[str]] = Counter()

    def _hold_or_accept(self, half: HalfStream, segment: Segment, out: list[StreamItem]) -> None:
        connection = half.connection
        if half.seq < 0 and connection.settled:
            near = half.hint >= 0 and 0 <= distance_of(segment.seq, half.hint) <= MAX_BUFFERED_BYTES
            half.open_at(half.hint if near else segment.seq)
        if half.seq >= 0 and not connection.held:
            self._accept(half, segment, out)
            return
        if not connection.held:
            connection.held_count = connection.count
        connection.held.append((half, segment))
        connection.held_bytes += len(segment.payload)

    def _replay(self, connection: Connection, out: list[StreamItem]) -> None:
        if not connection.known():
            connection.settle()
        held, connection.held, connection.held_bytes = connection.held, [], 0
        for half, segment in held:
            if half.seq < 0:  # only a FIN or RST of a side that said nothing
                half.open_at(segment.seq)
            self._accept(half, segment, out)

    # The bytes of a stream.

    def _accept(self, half: HalfStream, segment: Segment, out: list[StreamItem]) -> None:
        """Take the payload, FIN and RST of a segment whose stream has a start."""
        frame, payload, missing = segment.frame, segment.payload, segment.missing
        first = segment.seq + 1 if segment.flags & SYN else segment.seq  # a SYN takes a number of its own
        start = half.offset + distance_of(first, half.seq)
        cut = start + len(payload)
        if payload:
            self._insert(half, start, payload, frame, segment.offset, out)
        if missing and cut + missing > half.offset and not half.ended:
            insort(half.cuts, (cut, cut + missing, frame), key=_start)
        if segment.flags & RST:
            self._reset(half, start, frame)
        elif segment.flags & FIN and not half.end_reason and half.offset <= cut + missing <= half.offset + MAX_WINDOW:
            half.end, half.end_frame, half.end_reason = cut + missing, frame, "fin"
        self._drain(half, out)
        while half.buffered > MAX_BUFFERED_BYTES or len(half.pieces) + len(half.cuts) > MAX_BUFFERED_SEGMENTS:
            self._skip(half, half.hole_end(), frame, out)

    def _reset(self, half: HalfStream, start: int, frame: Frame) -> None:
        """An RST ends both directions: its own where it says, the other after what is still on its way."""
        if abs(start - half.offset) > MAX_BUFFERED_BYTES:
            self.ignored["outside the window"] += 1
            return
        if not half.end_reason:
            half.end, half.end_frame, half.end_reason = start if start >= half.offset else -1, frame, "rst"
        if not half.peer.end_reason:
            half.peer.end_frame, half.peer.end_reason = frame, "rst"

    def _insert(
        self, half: HalfStream, start: int, data: bytes, frame: Frame, place: int, out: list[StreamItem]
    ) -> None:
        """Put the bytes that aren't known yet among the pieces that wait."""
        limit = half.end if half.end >= 0 else half.offset if half.ended else -1
        if 0 <= limit < start + len(data):
            self.ignored["after the end"] += 1
            data = data[: max(0, limit - start)]
        if start < half.offset:
            if start < 0:
                self.ignored["before the start"] += 1
            old = half.offset - start
            self._compare_recent(half, start, data[:old], frame, out)
            start, data, place = half.offset, data[old:], place + old if place >= 0 else -1
        pieces, stop, position = half.pieces, start + len(data), start
        fresh: list[tuple[int, int]] = []
        index = max(bisect_right(pieces, start, key=_start) - 1, 0)
        while position < stop and index < len(pieces):
            other, known, _, _ = pieces[index]
            if other >= stop:
                break
            if other > position:
                fresh.append((position, other))
                position = other
            both = min(other + len(known), stop)
            if both > position:
                self._compare(
                    half, position, data[position - start : both - start], known[position - other :], frame, out
                )
                position = both
            index += 1
        if position < stop:
            fresh.append((position, stop))
        for a, b in fresh:
            insort(pieces, (a, data[a - start : b - start], frame, place + a - start if place >= 0 else -1), key=_start)
            half.buffered += b - a

    def _compare_recent(self, half: HalfStream, start: int, data: bytes, frame: Frame, out: list[StreamItem]) -> None:
        """Compare bytes that were delivered already with what was delivered, as far back as that is kept."""
        stop, left = start + len(data), len(data)
        for other, known in reversed(half.recent):
            if other < stop and other + len(known) > start:
                a, b = max(start, other), min(stop, other + len(known))
                self._compare(half, a, data[a - start : b - start], known[a - other :], frame, out)
                left -= b - a
                if left <= 0:
                    break

    def _compare(
        self, half: HalfStream, start: int, data: bytes, known: bytes, frame: Frame, out: list[StreamItem]
    ) -> None:
        # a single byte that is known already is a keep-alive probe, and what it holds has no meaning
        if len(data) > 1 and not known.startswith(data):
            out.append(Overlap(half.stream, half.direction, start, len(data), frame))

    def _drain(self, half: HalfStream, out: list[StreamItem]) -> None:
        """Deliver what has become next in order, and the end if it has been reached."""
        pieces, cuts, used = half.pieces, half.cuts, 0
        while True:
            while cuts and cuts[0][1] <= half.offset:
                del cuts[0]
            if used < len(pieces) and pieces[used][0] == half.offset:
                offset, data, frame, place = pieces[used]
                out.append(Chunk(half.stream, half.direction, offset, data, frame, place))
                half.keep(offset, data)
                half.buffered -= len(data)
                half.advance(len(data))
                used += 1
                continue
            if not cuts or cuts[0][0] > half.offset:
                break
            _, stop, frame = cuts[0]
            size = min(stop, pieces[used][0] if used < len(pieces) else stop) - half.offset
            out.append(Gap(half.stream, half.direction, half.offset, size, frame, "cut"))
            half.advance(size)
        del pieces[:used]
        if not half.waits():
            half.doubt = None
        if 0 <= half.end <= half.offset and not half.ended:
            self._end(half, half.end_frame, half.end_reason, out)

    # The end of a wait, and of a stream.

    def _give_up(self, connection: Connection, now_ns: int, out: list[StreamItem]) -> None:
        """End the waits that have lasted long enough."""
        if connection.held and (connection.known() or connection.ripe(now_ns)):
            self._replay(connection, out)
        for half in connection.halves:
            if half.waits() and not connection.held:
                self._doubt(half, now_ns, out)

    def _doubt(self, half: HalfStream, now_ns: int, out: list[StreamItem]) -> None:
        """Give up holes that are certain: acknowledged, or before the end, and a grace has passed; or old."""
        connection = half.connection
        hole = half.hole_end()
        certain = NEVER if half.end_reason else half.acked()
        if half.doubt is None and (half.end_reason or 0 <= hole <= certain):
            half.doubt = certain, connection.count, now_ns
        if half.doubt is not None:
            limit, count, since_ns = half.doubt
            if connection.count - count >= GRACE_SEGMENTS or now_ns - since_ns >= GRACE_NS:
                half.doubt = None
                while 0 <= hole <= limit:
                    self._skip(half, hole, connection.frame, out)
                    hole = half.hole_end()
                if half.end_reason and not half.ended and limit == NEVER:
                    self._end(half, half.end_frame, half.end_reason, out)
        while not half.ended and now_ns - half.oldest_ns() >= MAX_HOLE_NS:
            self._skip(half, half.hole_end(), connection.frame, out)

    def _skip(self, half: HalfStream, hole_end: int, frame: Frame, out: list[StreamItem]) -> None:
        size = hole_end - half.offset
        out.append(Gap(half.stream, half.direction, half.offset, size, frame, "lost"))
        half.advance(size)
        self._drain(half, out)

    def _end(self, half: HalfStream, frame: Frame | None, reason: str, out: list[StreamItem]) -> None:
        half.ended = True
        if half.pieces:
            self.ignored["after the end"] += len(half.pieces)
        half.pieces, half.cuts, half.buffered = [], [], 0
        out.append(StreamEnd(half.stream, half.direction, half.offset, frame, reason))
