"""TCP: from segments, in whatever order the capture holds them, to the bytes of each stream, once and in order.

Rules. Nothing looks ahead, and a connection depends on its own segments and on capture time only: when the segments of
others show that time has passed, an idle connection is looked at; when there are too many, those that have been idle
longest are forgotten. Where the segments of others are elsewhere, `group_streams` does both. The first copy of a byte
wins.

Three things wait: segments out of order, for what comes before them; the first segments of a connection whose SYN has
not been seen, for the SYN or for something with a lower sequence number; the side that was reset, for what was
still on its way. All waits are bounded, and `close` ends them.

This module decides what a segment does to its connection. The state of a connection, and how long it waits, is in
`connection`; which connection a segment belongs to, in `connection_table`; the order of bytes, and gaps, in
`assembler`; texts about retransmissions, in `tcp_analysis`.
"""

from zdissect.flow.connection import (
    ACK,
    FIN,
    GRACE_NS,
    LARGE,
    MASK,
    NEVER,
    RECENT_SEGMENTS,
    RST,
    SIGN,
    SYN,
    Connection,
    HalfStream,
    Start,
    distance_of,
)
from zdissect.flow.connection_table import ConnectionTable
from zdissect.records import Chunk, Segment, StreamItem

_new = tuple.__new__  # NamedTuple's own constructor takes twice the time


class Streams(ConnectionTable):
    """Puts the segments of all connections of a capture in order. Sans-IO, picklable.

    `ignored` counts what was left out: "outside the window", "after the end", "before the start".
    """

    def __init__(self) -> None:
        super().__init__()
        self.due_ns: float = NEVER

    def feed(self, segment: Segment) -> list[StreamItem]:
        """Take the next segment of the capture; returns what can be delivered now, in the order of each stream."""
        frame, src, dst, seq, ack, flags, payload, missing, frame_offset = segment
        now_ns = frame.now_ns
        if now_ns >= self.due_ns:
            return self._tick(now_ns) + self.feed(segment)
        half = self._halves.get((src, dst))
        if half is None or seq != half.seq or flags & 7 or missing or not half.quick:
            return self._careful(segment)
        half.last_ns = now_ns
        if ack != half.ack and flags & ACK and (half.ack < 0 or (ack - half.ack) & MASK < SIGN):
            half.ack = ack
        if not payload:
            return []
        offset, size = half.offset, len(payload)
        half.offset = offset + size
        half.seq = (seq + size) & MASK
        recent = half.recent
        recent.append((offset, payload))
        if size > LARGE or len(recent) > 2 * RECENT_SEGMENTS:
            half.trim()
        return [_new(Chunk, (half.stream, half.direction, offset, payload, frame, frame_offset))]

    def passed(self, now_ns: int) -> list[StreamItem]:
        """The items whose wait is over when time has passed without a segment."""
        return self._tick(now_ns) if now_ns >= self.due_ns else []

    def close(self) -> list[StreamItem]:
        """End the capture: returns what still waits, the gaps in it, and a `StreamEnd` for every open direction."""
        out: list[StreamItem] = []
        for connection in dict.fromkeys(half.connection for half in self._halves.values()):
            self._finish(connection, "capture", None, out)
        self._halves.clear()
        self._waiting.clear()
        self.due_ns = NEVER
        return out

    def _careful(self, segment: Segment) -> list[StreamItem]:
        """Take a segment that isn't simply the next one of its stream."""
        out: list[StreamItem] = []
        half = self._half_of(segment, out)
        if half is None:
            self.undelivered += len(segment.payload)
            return out
        connection, now_ns = half.connection, segment.frame.now_ns
        if connection.waits():
            self._give_up(connection, now_ns, out)
        half.last_ns, connection.frame = now_ns, segment.frame
        connection.count += 1
        flags = segment.flags
        if flags & ACK and not flags & RST and (half.ack < 0 or distance_of(segment.ack, half.ack) > 0):
            half.ack = segment.ack
        if flags & SYN:
            self._synchronise(half, segment)
        if segment.payload or segment.missing or flags & (FIN | RST):
            self._hold_or_accept(half, segment, out)
        elif not flags & SYN:
            start = half.start
            if start.empty_seq < 0 or distance_of(segment.seq, start.empty_seq) > 0:
                half.start = _new(Start, (start.first_seq, segment.seq, start.stray_seq))
        if connection.waits():
            self._give_up(connection, now_ns, out)
        self._note(connection, now_ns)
        for largest in self.waits.excess():
            self._hurry(largest, out)
            self._note(largest, now_ns)
        return out

    def _synchronise(self, half: HalfStream, segment: Segment) -> None:
        """Take a SYN: it says where its stream starts, and which side opened the connection."""
        if half.start.first_seq >= 0:
            return
        first = (segment.seq + 1) & MASK
        half.start = _new(Start, (first, *half.start[1:]))
        if half.seq >= 0:
            if half.base() != first:
                self.ignored["before the start"] += 1
            return
        half.open_at(first)
        if half.peer.start.first_seq < 0:
            half.connection.set_opener(half.peer if segment.flags & ACK else half)
        if half.peer.seq >= 0:
            half.connection.settled = True

    def _note(self, connection: Connection, now_ns: int) -> None:
        """Note whether anything waits, so that the common case need not look."""
        waits = connection.waits()
        for half in connection.halves:
            half.quick = not waits and half.end is None
        if waits:
            self.waits.set(connection, connection.kept())
            self._waiting[connection] = None
            self.due_ns = min(self.due_ns, now_ns + GRACE_NS)
        elif connection in self._waiting:
            del self._waiting[connection]
            self.waits.drop(connection)

    def _look(self, connection: Connection, now_ns: int, out: list[StreamItem]) -> None:
        """Look at a connection that waits because others' segments show that time has passed."""
        self._give_up(connection, now_ns, out)
        self._note(connection, now_ns)

    def _tick(self, now_ns: int) -> list[StreamItem]:
        """Look at the connections that wait, at most once in a grace."""
        out: list[StreamItem] = []
        for connection in sorted(self._waiting, key=lambda connection: connection.halves[0].stream):
            self._look(connection, now_ns, out)
        self.due_ns = now_ns + GRACE_NS if self._waiting else NEVER
        return out
