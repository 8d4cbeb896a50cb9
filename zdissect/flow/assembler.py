"""Puts the bytes of TCP streams in order, delivers each of them once, and gives up gaps that won't be filled."""

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
    MAX_GAP_NS,
    MAX_WINDOW,
    NEVER,
    RST,
    SYN,
    Connection,
    FinOrRst,
    HalfStream,
    Pending,
    distance_of,
    memory_of,
)
from zdissect.records import Chunk, Frame, Gap, Overlap, Segment, StreamEnd, StreamItem

_start = itemgetter(0)


class Assembler:
    """Puts the bytes of each direction in order. `ignored` counts the segments that were left out, by reason."""

    def __init__(self) -> None:
        self.ignored: Final[Counter[str]] = Counter()
        self.undelivered = 0
        """Payload bytes that no stream gets: they came again, or after an end, or belong to no connection."""

    def _hold_or_accept(self, half: HalfStream, segment: Segment, out: list[StreamItem]) -> None:
        connection = half.connection
        if half.seq < 0 and connection.settled:
            empty = half.start.empty_seq
            near = empty >= 0 and 0 <= distance_of(segment.seq, empty) <= MAX_BUFFERED_BYTES
            half.open_at(empty if near else segment.seq)
        if half.seq >= 0 and not connection.held:
            self._accept(half, segment, out)
            return
        if not connection.held:
            connection.held_count = connection.count
        connection.held.append((half, segment))
        connection.held_bytes += len(segment.payload)
        connection.held_kept += memory_of(segment.frame)

    def _replay(self, connection: Connection, out: list[StreamItem]) -> None:
        if not connection.known():
            connection.settle()
        held, connection.held, connection.held_bytes, connection.held_kept = connection.held, [], 0, 0
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
            held = half.hold()
            insort(held.cuts, (cut, cut + missing, frame), key=_start)
            held.kept += memory_of(frame)
        if segment.flags & RST:
            self._reset(half, start, frame)
        elif segment.flags & FIN and half.end is None and half.offset <= cut + missing <= half.offset + MAX_WINDOW:
            half.end = FinOrRst(cut + missing, frame, "fin")
        self._drain(half, out)
        pending = half.pending
        if pending is not None:
            while pending.size > MAX_BUFFERED_BYTES or len(pending.pieces) + len(pending.cuts) > MAX_BUFFERED_SEGMENTS:
                self._skip(half, half.gap_end(), frame, out)

    def _reset(self, half: HalfStream, start: int, frame: Frame) -> None:
        """An RST ends both directions: its own at its number, the other one after the bytes still on their way."""
        if abs(start - half.offset) > MAX_BUFFERED_BYTES:
            self.ignored["outside the window"] += 1
            return
        if half.end is None:
            half.end = FinOrRst(start if start >= half.offset else -1, frame, "rst")
        peer = half.peer
        if peer.end is None:
            peer.end = FinOrRst(-1, frame, "rst")

    def _insert(
        self, half: HalfStream, start: int, data: bytes, frame: Frame, frame_offset: int, out: list[StreamItem]
    ) -> None:
        """Put the bytes that aren't known yet among the pieces that wait."""
        end = half.end
        limit = end.offset if end is not None and end.offset >= 0 else half.offset if half.ended else -1
        if 0 <= limit < start + len(data):
            self.ignored["after the end"] += 1
            size, data = len(data), data[: max(0, limit - start)]
            self.undelivered += size - len(data)
        if start < half.offset:
            if start < 0:
                self.ignored["before the start"] += 1
            old = half.offset - start
            self._compare_recent(half, start, data[:old], frame, out)
            self.undelivered += min(old, len(data))
            start, data = half.offset, data[old:]
            frame_offset = frame_offset + old if frame_offset >= 0 else -1
        pending = half.hold()
        for low, high in self._fresh(half, start, data, frame, out):
            offset = frame_offset + low - start if frame_offset >= 0 else -1
            insort(pending.pieces, (low, data[low - start : high - start], frame, offset), key=_start)
            pending.size += high - low
            pending.kept += memory_of(frame)

    def _fresh(
        self, half: HalfStream, start: int, data: bytes, frame: Frame, out: list[StreamItem]
    ) -> list[tuple[int, int]]:
        """The ranges of these bytes that no waiting piece holds; the others are compared with those pieces."""
        pieces, stop, position = half.hold().pieces, start + len(data), start
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
                again = data[position - start : both - start]
                self._compare(half, position, again, known[position - other :], frame, out)
                self.undelivered += both - position
                position = both
            index += 1
        if position < stop:
            fresh.append((position, stop))
        return fresh

    def _compare_recent(self, half: HalfStream, start: int, data: bytes, frame: Frame, out: list[StreamItem]) -> None:
        """Compare a retransmission with the bytes delivered before, as far back as they are kept."""
        stop, left = start + len(data), len(data)
        for other, known in reversed(half.recent):
            if other < stop and other + len(known) > start:
                low, high = max(start, other), min(stop, other + len(known))
                self._compare(half, low, data[low - start : high - start], known[low - other :], frame, out)
                left -= high - low
                if left <= 0:
                    break

    def _compare(
        self, half: HalfStream, start: int, data: bytes, known: bytes, frame: Frame, out: list[StreamItem]
    ) -> None:
        # a single byte that is known already is a keep-alive probe, and what it holds has no meaning
        if len(data) > 1 and not known.startswith(data):
            out.append(Overlap(half.stream, half.direction, start, len(data), frame))

    def _drain(self, half: HalfStream, out: list[StreamItem]) -> None:
        """Deliver the bytes that are next in order by now, and the end if it has been reached."""
        if half.pending is not None:
            self._drain_pending(half, half.pending, out)
        end = half.end
        if end is not None and 0 <= end.offset <= half.offset and not half.ended:
            self._end(half, end.frame, end.reason, out)

    def _drain_pending(self, half: HalfStream, pending: Pending, out: list[StreamItem]) -> None:
        """Deliver waiting pieces that are next in order by now."""
        pieces, cuts, used = pending.pieces, pending.cuts, 0
        while True:
            while cuts and cuts[0][1] <= half.offset:
                pending.kept -= memory_of(cuts[0][2])
                del cuts[0]
            if used < len(pieces) and pieces[used][0] == half.offset:
                offset, data, frame, frame_offset = pieces[used]
                out.append(Chunk(half.stream, half.direction, offset, data, frame, frame_offset))
                half.keep(offset, data)
                pending.size -= len(data)
                pending.kept -= memory_of(frame)
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
        if pending.doubt is not None and not half.waits():
            pending.doubt = None

    # The end of a wait, and of a stream.

    def _give_up(self, connection: Connection, now_ns: int, out: list[StreamItem]) -> None:
        """End waits that have lasted long enough."""
        if connection.held and (connection.known() or connection.ripe(now_ns)):
            self._replay(connection, out)
        for half in connection.halves:
            if half.waits() and not connection.held:
                self._doubt(half, now_ns, out)

    def _doubt(self, half: HalfStream, now_ns: int, out: list[StreamItem]) -> None:
        """Give up gaps whose bytes won't come: they were acknowledged, or the stream ended, longer than a grace ago; or
        the gap is old.
        """
        connection, pending, end = half.connection, half.hold(), half.end
        gap_end = half.gap_end()
        certain = NEVER if end is not None else half.acked()
        if pending.doubt is None and (end is not None or 0 <= gap_end <= certain):
            pending.doubt = certain, connection.count, now_ns
        if pending.doubt is not None:
            limit, count, since_ns = pending.doubt
            if connection.count - count >= GRACE_SEGMENTS or now_ns - since_ns >= GRACE_NS:
                pending.doubt = None
                while 0 <= gap_end <= limit:
                    self._skip(half, gap_end, connection.frame, out)
                    gap_end = half.gap_end()
                if end is not None and not half.ended and limit == NEVER:
                    self._end(half, end.frame, end.reason, out)
        while not half.ended and now_ns - pending.oldest_ns() >= MAX_GAP_NS:
            self._skip(half, half.gap_end(), connection.frame, out)

    def _hurry(self, connection: Connection, out: list[StreamItem]) -> None:
        """End all waits of a connection: it takes too much memory."""
        if connection.held:
            self._replay(connection, out)
        for half in connection.halves:
            while (gap_end := half.gap_end()) >= 0:
                self._skip(half, gap_end, connection.frame, out)

    def _skip(self, half: HalfStream, gap_end: int, frame: Frame, out: list[StreamItem]) -> None:
        size = gap_end - half.offset
        out.append(Gap(half.stream, half.direction, half.offset, size, frame, "lost"))
        half.advance(size)
        self._drain(half, out)

    def _end(self, half: HalfStream, frame: Frame | None, reason: str, out: list[StreamItem]) -> None:
        half.ended = True
        pending, half.pending = half.pending, None
        if pending is not None:
            if pending.pieces:
                self.ignored["after the end"] += len(pending.pieces)
                self.undelivered += pending.size
            pending.pieces, pending.cuts, pending.size, pending.kept = [], [], 0, 0
        out.append(StreamEnd(half.stream, half.direction, half.offset, frame, reason))
