"""TCP: from segments, in whatever order the capture holds them, to the bytes of each stream, once and in order.

Rules. All state of a connection lives in this file. It looks back, never ahead, and what becomes of a connection
depends on its own segments and on capture time only: when others' segments show that time has passed, an idle
connection is looked at; and when there are too many, those that have been idle for longest are forgotten. `partial`
has both where the others' segments are elsewhere. The first copy of a byte wins.

Three things wait: segments out of order, for what comes before them; the first segments of a connection whose SYN has
not been seen, for the SYN or for something with a lower sequence number; the side that was reset, for what was
still on its way. All waits are bounded, and `close` ends them.
"""

from zdissect.flow.assembler import Assembler
from zdissect.flow.connection import (
    ACK,
    CLOSED_IDLE_NS,
    FIN,
    GRACE_NS,
    LARGE,
    MASK,
    MAX_BUFFERED_BYTES,
    MAX_CONNECTIONS,
    MAX_WINDOW,
    NEVER,
    RECENT_SEGMENTS,
    RST,
    SIGN,
    SYN,
    Connection,
    HalfStream,
    distance_of,
)
from zdissect.records import Chunk, Endpoint, Frame, Segment, StreamItem

_new = tuple.__new__  # NamedTuple's own constructor takes twice the time


class Streams(Assembler):
    """Puts the segments of all connections of a capture in order. Sans-IO, picklable.

    `ignored` counts what was left out: "outside the window", "after the end", "before the start".
    """

    def __init__(self) -> None:
        super().__init__()
        self._halves: dict[tuple[Endpoint, Endpoint], HalfStream] = {}
        self._ends: dict[int, tuple[HalfStream, Endpoint, Endpoint]] = {}
        self._over: tuple[list[int], list[int]] = ([], [])
        """Connections that are over: those whose last items have surely been passed on, and the others."""
        self._count = 0
        self._waiting: dict[Connection, None] = {}
        self._due_ns: float = NEVER

    def feed(self, segment: Segment) -> list[StreamItem]:
        """Take the next segment of the capture; give what can be delivered now, in order of each stream."""
        frame, src, dst, seq, ack, flags, payload, missing, place = segment
        now_ns = frame.now_ns
        if now_ns >= self._due_ns:
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
        return [_new(Chunk, (half.stream, half.direction, offset, payload, frame, place))]

    def ends(self, stream: int) -> tuple[Endpoint, Endpoint]:
        """(opener, other side) of a connection whose items are being delivered: direction 0 is from the first."""
        half, src, dst = self._ends[stream]
        return (dst, src) if half.direction else (src, dst)

    def stream(self, src: Endpoint, dst: Endpoint) -> tuple[int, int] | None:
        """(connection, direction) of what is sent from one end to another now; None if nothing is known of it."""
        half = self._halves.get((src, dst))
        return None if half is None else (half.stream, half.direction)

    def first(self, ends: tuple[Endpoint, Endpoint]) -> int:
        """Sequence number of the first byte that is sent from one end to another, from its SYN; -1 without one."""
        half = self._halves.get(ends)
        return -1 if half is None else half.isn

    def begins(self, stream: int, direction: int) -> bool:
        """Whether stream offset 0 is the first byte that was sent, by the SYN of this direction."""
        known = self._ends.get(stream)
        if known is None:  # forgotten
            return False
        half = known[0] if known[0].direction == direction else known[0].peer
        return half.isn >= 0 and half.base() == half.isn

    def close(self) -> list[StreamItem]:
        """End of the capture: give what still waits, the holes in it, and an `StreamEnd` for every open direction."""
        out: list[StreamItem] = []
        for connection in dict.fromkeys(half.connection for half in self._halves.values()):
            self._finish(connection, "capture", None, out)
        self._halves.clear()
        self._waiting.clear()
        self._due_ns = NEVER
        return out

    # Connections: which one a segment belongs to, and for how long they are kept.

    def _careful(self, segment: Segment) -> list[StreamItem]:
        out: list[StreamItem] = []
        half = self._half_of(segment, out)
        if half is None:
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
        elif not flags & SYN and (half.hint < 0 or distance_of(segment.seq, half.hint) > 0):
            half.hint = segment.seq
        if connection.waits():
            self._give_up(connection, now_ns, out)
        self._note(connection, now_ns)
        return out

    def _half_of(self, segment: Segment, out: list[StreamItem]) -> HalfStream | None:
        """The direction that a segment belongs to, of a new connection if need be; None if it is to be left out."""
        half = self._halves.get((segment.src, segment.dst))
        if half is None:
            return self._open(segment, out)
        if segment.flags & SYN:
            other = self._other_connection(half, (segment.seq + 1) & MASK)
        elif half.seq < 0 or segment.flags & RST or not (segment.payload or segment.missing):
            return half
        else:
            distance = distance_of(segment.seq, half.seq)
            size = len(segment.payload) + segment.missing
            other = half.ended and half.peer.ended and distance + size > 0
            if abs(distance) > MAX_WINDOW:
                # one such segment is a stray; a second that goes with it is a connection whose SYN isn't there
                other = half.stray >= 0 and abs(distance_of(segment.seq, half.stray)) <= MAX_BUFFERED_BYTES
                half.stray = segment.seq
                if not other:
                    self.ignored["outside the window"] += 1
                    return None
        if not other:
            return half
        self._finish(half.connection, "reused", segment.frame, out)
        return self._open(segment, out)

    def _other_connection(self, half: HalfStream, first: int) -> bool:
        """Whether a SYN, after which the stream starts at `first`, opens a new connection on the same ports."""
        if half.isn >= 0:
            return half.isn != first
        if half.seq >= 0:  # a SYN that comes after the wait for it was over fits closely; a new one hardly ever
            return not 0 <= distance_of(half.base(), first) <= MAX_BUFFERED_BYTES
        held = [segment.seq for other, segment in half.connection.held if other is half and not segment.flags & RST]
        return any(not 0 <= distance_of(seq, first) <= MAX_WINDOW for seq in held)

    def _open(self, segment: Segment, out: list[StreamItem]) -> HalfStream:
        half, peer = Connection(self._number(segment.frame.now_ns, out), segment.frame).halves
        half.connection.set_opener(half)
        self._ends[half.stream] = half, segment.src, segment.dst
        self._halves[segment.dst, segment.src] = peer
        self._halves[segment.src, segment.dst] = half
        return half

    def _number(self, now_ns: int, out: list[StreamItem]) -> int:
        """The number of a new connection; there is room for it afterwards."""
        if len(self._halves) >= 2 * MAX_CONNECTIONS or self._count % 4096 == 4095:
            self._drop(self._idle(now_ns), out)
        self._count += 1
        return self._count - 1

    def _idle(self, now_ns: int) -> set[Connection]:
        """The connections that closed a while ago, and the tenth longest idle if there are still too many."""
        last = {half.connection: max(half.last_ns, half.peer.last_ns) for half in self._halves.values()}
        drop = {c for c, ns in last.items() if now_ns - ns > CLOSED_IDLE_NS and c.halves[0].ended and c.halves[1].ended}
        if len(last) - len(drop) >= MAX_CONNECTIONS:
            drop.update(sorted(last, key=lambda c: last[c])[: MAX_CONNECTIONS // 10])
        return drop

    def _drop(self, drop: set[Connection], out: list[StreamItem]) -> None:
        """Forget connections, in the order in which their ends were seen first."""
        passed_on, others = self._over
        for stream in passed_on:
            self._ends.pop(stream, None)
        self._over = others, []
        for connection in dict.fromkeys(half.connection for half in self._halves.values()):
            if connection in drop:
                self._finish(connection, "capture", None, out)
        self._halves = {ends: half for ends, half in self._halves.items() if half.connection not in drop}

    # The start of a stream.

    def _synchronise(self, half: HalfStream, segment: Segment) -> None:
        """Take a SYN: it says where its stream starts, and which side opened the connection."""
        if half.isn >= 0:
            return
        half.isn = first = (segment.seq + 1) & MASK
        if half.seq >= 0:
            if half.base() != first:
                self.ignored["before the start"] += 1
            return
        half.open_at(first)
        if half.peer.isn < 0:
            half.connection.set_opener(half.peer if segment.flags & ACK else half)
        if half.peer.seq >= 0:
            half.connection.settled = True

    def _finish(self, connection: Connection, reason: str, frame: Frame | None, out: list[StreamItem]) -> None:
        """Give everything that a connection still has to give."""
        if connection.held:
            self._replay(connection, out)
        for half in sorted(connection.halves, key=lambda half: half.direction):
            while (hole := half.hole_end()) >= 0:
                self._skip(half, hole, connection.frame, out)
            # one byte more than we have is the other side's FIN, which takes a number too
            if not half.ended and half.acked() > half.offset + 1:
                self._skip(half, half.acked(), connection.frame, out)
            if half.end_reason and not half.ended:
                self._end(half, half.end_frame, half.end_reason, out)
            elif not half.ended:
                self._end(half, frame, reason, out)
        self._waiting.pop(connection, None)
        self._over[1].append(connection.halves[0].stream)

    def _note(self, connection: Connection, now_ns: int) -> None:
        """Remember whether anything waits, so that the common case needn't look."""
        waits = connection.waits()
        for half in connection.halves:
            half.quick = not waits and not half.end_reason
        if waits:
            self._waiting[connection] = None
            self._due_ns = min(self._due_ns, now_ns + GRACE_NS)
        else:
            self._waiting.pop(connection, None)

    def _look(self, connection: Connection, now_ns: int, out: list[StreamItem]) -> None:
        """Look at a connection that waits because others' segments show that time has passed."""
        self._give_up(connection, now_ns, out)
        self._note(connection, now_ns)

    def _tick(self, now_ns: int) -> list[StreamItem]:
        """Look at the connections that wait, at most once in a grace."""
        out: list[StreamItem] = []
        for connection in list(self._waiting):
            self._look(connection, now_ns, out)
        self._due_ns = now_ns + GRACE_NS if self._waiting else NEVER
        return out
