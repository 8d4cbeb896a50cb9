"""The TCP segments of a block that are simply next in order: what `flow.tcp` and `flow.causal` do for those, on arrays.

A connection is plain up to the first of its segments that is out of order, sent again, ahead of what it acknowledges,
that opens or ends a direction, or whose headers aren't plain. This one, and all after it in the block, are left to the
scalar way.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from zdissect.flow.connection import ACK, FIN, MASK, MAX_WINDOW, RST, SIGN, SYN, Connection, HalfStream
from zdissect.flow.cutter import Cutter
from zdissect.flow.framing import STREAM
from zdissect.flow.verdict import Verdict
from zdissect.pipeline import Pipeline
from zdissect.records import Datagram, Frame, Segment
from zdissect.vector.arrays import Bools, Ints, StreamWay
from zdissect.vector.block_headers import Headers, endpoints

_ZENOH = (Verdict.ZENOH, Verdict.MIDDLE)


class Taken(NamedTuple):
    """The plain segments, an entry each; those of a connection in the order of the capture."""

    frame: Ints
    """Index in the block."""
    way: Ints
    """Index in `Connections.ways`."""
    start: Ints
    """Where the payload is in `Headers.data`."""
    size: Ints
    """Bytes of it; often 0."""
    acked: Ints
    """By how many bytes its acknowledgement is beyond that of its half-stream when the block begins."""


OddPackets = list[tuple[int, Segment | Datagram]]
"""(index of the frame, packet) of packets whose headers aren't plain, because of fragments, tunnels..."""


def odd_packets(pipeline: Pipeline, frames: list[Frame], headers: Headers) -> OddPackets:
    """Decodes the frames of a block whose headers aren't plain, before it is their turn."""
    odd = np.flatnonzero(headers.odd).tolist()
    decoder = pipeline.decoder.ahead() if odd else pipeline.decoder
    packets = ((index, decoder.feed(frames[index])) for index in odd)
    return [(index, packet) for index, packet in packets if packet is not None]


class Connections:
    """The connections of a block that begin it in a plain state."""

    def __init__(self, pipeline: Pipeline, frames: list[Frame], headers: Headers, odd: OddPackets) -> None:
        self.pipeline = pipeline
        self.ways: list[StreamWay] = []
        """Both directions of each: number 2 n is direction 0 of the n-th connection."""
        self.numbers: dict[Connection, int] = {}
        """By connection: its number, or -1 if it isn't plain."""
        segments = headers.segments
        count = len(segments.ends)
        firsts: dict[bytes, int] = {}
        first = np.fromiter(map(firsts.setdefault, segments.ends, range(count)), np.int64, count)
        own = np.zeros(count, np.int64)
        for ends, index in firsts.items():
            own[index] = self._way(ends)
        way = own[first]
        known = np.flatnonzero(way >= 0)
        order = known[np.argsort((way[known] >> 1).astype(np.uint32), kind="stable")]
        way = way[order]
        size = segments.stop[order] - segments.start[order]
        acked, fits = self._check(way, size, segments.seq[order], segments.ack[order], segments.flags[order])
        frame = segments.frame[order]
        stop = np.full(len(self.ways) // 2, len(frames))
        np.minimum.at(stop, way[~fits] >> 1, frame[~fits])
        for index, packet in odd:
            half = pipeline.streams.half(packet.src, packet.dst) if isinstance(packet, Segment) else None
            if half is not None and (number := self.numbers.get(half.connection, -1)) >= 0:
                stop[number] = min(stop[number], index)
        fits = frame < stop[way >> 1]
        self.taken = Taken(frame[fits], way[fits], segments.start[order][fits], size[fits], acked[fits])

    def leave(self, ways: Bools) -> None:
        """Leaves connections to the scalar way, by their ways."""
        left = np.repeat(ways.reshape(-1, 2).any(axis=1), 2)
        self.taken = Taken(*(column[~left[self.taken.way]] for column in self.taken))

    def go_on(self, frames: list[Frame]) -> Iterator[tuple[int, HalfStream, int]]:
        """Takes half-streams past the plain segments: (way, its half-stream, bytes of payload) of each that has any
        segments."""
        taken, count = self.taken, len(self.ways)
        acked, last = np.zeros(count, np.int64), np.full(count, -1)
        np.maximum.at(acked, taken.way, taken.acked)
        last[taken.way] = taken.frame
        size = np.bincount(taken.way, taken.size, count).astype(np.int64).tolist()
        for way in np.flatnonzero(last >= 0).tolist():
            half = self.ways[way].half
            half.last_ns = frames[last[way]].now_ns
            half.acknowledge(int(acked[way]))
            half.advance(size[way])
            yield way, half, size[way]

    def _way(self, ends: bytes) -> int:
        """The number of the way from one end to another; -1 if its connection isn't plain."""
        half = self.pipeline.streams.half(*endpoints(ends))
        if half is None:
            return -1
        number = self.numbers.get(half.connection)
        if number is None:
            number = self.numbers[half.connection] = self._number(half.connection)
        return 2 * number + half.direction if number >= 0 else -1

    def _number(self, connection: Connection) -> int:
        """The number of a connection; -1 if its state isn't plain."""
        ways = self.plain(connection)
        self.ways += ways
        return len(self.ways) // 2 - 1 if ways else -1

    def plain(self, connection: Connection) -> list[StreamWay]:
        """Both directions of a connection; none if its state isn't plain."""
        halves = sorted(connection.halves, key=lambda half: half.direction)
        stream = halves[0].stream
        conversation, order = self.pipeline.conversations.get(stream), self.pipeline.causal.connections.get(stream)
        if conversation is None or conversation.flow.verdict not in _ZENOH or order is None or order.ends is None:
            return []
        for half, side, base, passed in zip(halves, conversation.sides, order.base, order.passed, strict=True):
            begun = half.offset > 0 or side.known
            if not _in_order(half, base, passed) or (half.seq >= 0 and not (begun and _cuts_plainly(side.cutter))):
                return []
        return [StreamWay(conversation, half) for half in halves]

    def _check(self, way: Ints, size: Ints, seq: Ints, ack: Ints, flags: Ints) -> tuple[Ints, Bools]:
        """(how far each segment acknowledges, whether it is plain)"""
        halves = [way.half for way in self.ways]
        seqs = np.array([half.seq for half in halves], np.int64).reshape(-1, 2)
        acks = np.array([half.ack for half in halves], np.int64)
        each, connection, direction = np.arange(len(way)), way >> 1, way & 1
        sent = np.zeros((len(way), 2), np.int64)
        sent[each, direction] = size
        before = np.cumsum(sent, axis=0) - sent
        if len(way):
            before -= before[np.searchsorted(connection, connection)]
        expected = seqs[connection] + before
        own, other = expected[each, direction], expected[each, 1 - direction]
        acked = _distances(ack, acks[way])
        # bytes that acknowledge what hasn't come yet would wait; so they do where nothing of the other side is known
        early = (size > 0) & (_distances(ack, other) > 0) & (seqs[connection, 1 - direction] >= 0)
        known = seqs[connection, direction] >= 0
        usual = (flags & (SYN | FIN | RST | ACK) == ACK) & (seq == own & MASK)
        return acked, usual & known & ~early & (np.abs(acked) < MAX_WINDOW)


def _in_order(half: HalfStream, base: int, passed: int) -> bool:
    """Whether nothing waits, so that the segments of a half-stream need no care if each is the next one, or none comes.

    Args:
        base: Sequence number of stream offset 0, and
        passed: stream offset up to which bytes were passed on, as `flow.causal` knows them.
    """
    known = base if base >= 0 else half.start.first_seq
    return half.quick and passed == half.offset and known == (half.base() if half.seq >= 0 else -1)


def _cuts_plainly(cutter: Cutter) -> bool:
    """Whether a cutter only has to follow the lengths."""
    doubt = cutter.lost or cutter.unsure or cutter.torn or cutter.hint
    return type(cutter) is Cutter and cutter.framing == STREAM and not doubt


def _distances(number: Ints, origin: Ints) -> Ints:
    """How far sequence numbers lie after others, modulo 2^32; negative if before."""
    return (number - origin + SIGN & MASK) - SIGN
