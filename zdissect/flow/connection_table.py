"""Which connection a segment belongs to, and for how long connections are kept.

A new connection on the ports of an old one is recognised by its SYN and sequence numbers. When connections take too
much memory, those that have said nothing are forgotten first, so that a flood of SYNs harms nobody, then those that
have been idle longest.
"""

from zdissect.flow.assembler import Assembler
from zdissect.flow.connection import (
    CONNECTION_BYTES,
    MASK,
    MAX_BUFFERED_BYTES,
    MAX_WINDOW,
    RST,
    SYN,
    Connection,
    HalfStream,
    distance_of,
)
from zdissect.limits import Limits, Quota
from zdissect.records import Endpoint, Frame, Segment, StreamItem

CLOSED_IDLE_NS = 60 * 10**9
"""Closed connections are remembered this long (TIME_WAIT), so that late retransmissions are known as such."""


class ConnectionTable(Assembler):
    """The connections of a capture."""

    def __init__(self) -> None:
        super().__init__()
        self._halves: dict[tuple[Endpoint, Endpoint], HalfStream] = {}
        self._ends: dict[int, tuple[HalfStream, Endpoint, Endpoint]] = {}
        self._over: tuple[list[int], list[int]] = ([], [])
        """Connections that have ended: those whose last items have surely been passed on, and the others."""
        self._count = 0
        self._waiting: dict[Connection, None] = {}
        """Connections in which something waits."""
        self.store: Quota[Connection] = Quota("connections", Limits().connections)
        """The memory that they take..."""
        self.waits: Quota[Connection] = Quota("connections", Limits().connections)
        """... and what waits in them."""

    def ends(self, stream: int) -> tuple[Endpoint, Endpoint]:
        """(opener, other side) of a connection whose items are being delivered: direction 0 is from the first."""
        half, src, dst = self._ends[stream]
        return (dst, src) if half.direction else (src, dst)

    def stream(self, src: Endpoint, dst: Endpoint) -> tuple[int, int] | None:
        """(connection, direction) of bytes sent from `src` to `dst` now; None if there is no such connection."""
        half = self._halves.get((src, dst))
        return None if half is None else (half.stream, half.direction)

    def half(self, src: Endpoint, dst: Endpoint) -> HalfStream | None:
        """What is known of the bytes sent from `src` to `dst` now; None if there is no such connection."""
        return self._halves.get((src, dst))

    def kept(self) -> int:
        """The number of connections that are kept."""
        return len(self._halves) // 2

    def first(self, ends: tuple[Endpoint, Endpoint]) -> int:
        """Sequence number of the first byte that is sent from one end to another, from its SYN; -1 without one."""
        half = self._halves.get(ends)
        return -1 if half is None else half.start.first_seq

    def begins(self, stream: int, direction: int) -> bool:
        """Whether stream offset 0 is the first byte that was sent, by the SYN of this direction."""
        known = self._ends.get(stream)
        if known is None:  # forgotten
            return False
        half = known[0] if known[0].direction == direction else known[0].peer
        return half.start.first_seq >= 0 and half.base() == half.start.first_seq

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
                # one such segment is a stray; two that fit each other are a connection whose SYN isn't there
                stray = half.start.stray_seq
                other = stray >= 0 and abs(distance_of(segment.seq, stray)) <= MAX_BUFFERED_BYTES
                half.start = half.start._replace(stray_seq=segment.seq)
                if not other:
                    self.ignored["outside the window"] += 1
                    return None
        if not other:
            return half
        self._finish(half.connection, "reused", segment.frame, out)
        self.store.drop(half.connection)
        return self._open(segment, out)

    def _other_connection(self, half: HalfStream, first: int) -> bool:
        """Whether a SYN, after which the stream starts at `first`, opens a new connection on the same ports."""
        if half.start.first_seq >= 0:
            return half.start.first_seq != first
        if half.seq >= 0:  # a SYN that comes too late fits closely; a new connection's hardly ever does
            return not 0 <= distance_of(half.base(), first) <= MAX_BUFFERED_BYTES
        held = [segment.seq for other, segment in half.connection.held if other is half and not segment.flags & RST]
        return any(not 0 <= distance_of(seq, first) <= MAX_WINDOW for seq in held)

    def _open(self, segment: Segment, out: list[StreamItem]) -> HalfStream:
        """A new connection, whose first segment this is."""
        half, peer = Connection(self._number(segment.frame.now_ns, out), segment.frame).halves
        half.connection.set_opener(half)
        self._ends[half.stream] = half, segment.src, segment.dst
        self._halves[segment.dst, segment.src] = peer
        self._halves[segment.src, segment.dst] = half
        self.store.set(half.connection, CONNECTION_BYTES)
        return half

    def _number(self, now_ns: int, out: list[StreamItem]) -> int:
        """Makes room for a new connection, and returns its number."""
        if self.store.held > self.store.most or self._count % 4096 == 4095:
            self._drop(self._idle(now_ns), out)
        self._count += 1
        return self._count - 1

    def _idle(self, now_ns: int) -> set[Connection]:
        """The connections that closed a while ago; if the others still take too much, also some of those."""
        connections = {half.connection: None for half in self._halves.values()}
        last = {c: max(first.last_ns, second.last_ns) for c in connections for first, second in (c.halves,)}
        drop = {c for c, last_ns in last.items() if now_ns - last_ns > CLOSED_IDLE_NS and c.over()}
        if self.store.held - len(drop) * CONNECTION_BYTES > self.store.most:
            self.store.tell()
            silent = sorted(last, key=lambda c: (not c.over(), c.spoke(), last[c]))
            drop.update(silent[: len(silent) // 10 + 1])
        return drop

    def forget(self, now_ns: int, before_ns: int) -> list[StreamItem]:
        """Forget the connections that closed a while ago, and those that were last heard before `before_ns`.

        Returns the items that they still had to deliver.
        """
        drop, out = self._idle(now_ns), list[StreamItem]()
        for half in self._halves.values():
            if max(half.last_ns, half.peer.last_ns) < before_ns:
                drop.add(half.connection)
        self._drop(drop, out)
        return out

    def _drop(self, drop: set[Connection], out: list[StreamItem]) -> None:
        """Forget connections, in the order in which they were first seen."""
        passed_on, others = self._over
        for stream in passed_on:
            self._ends.pop(stream, None)
        self._over = others, []
        for connection in dict.fromkeys(half.connection for half in self._halves.values()):
            if connection in drop:
                self._finish(connection, "capture", None, out)
                self.store.drop(connection)
        self._halves = {ends: half for ends, half in self._halves.items() if half.connection not in drop}

    def _finish(self, connection: Connection, reason: str, frame: Frame | None, out: list[StreamItem]) -> None:
        """Deliver everything that is left of a connection."""
        if connection.held:
            self._replay(connection, out)
        for half in sorted(connection.halves, key=lambda half: half.direction):
            while (gap_end := half.gap_end()) >= 0:
                self._skip(half, gap_end, connection.frame, out)
            # one byte more than we have is the FIN, which takes a sequence number too
            if not half.ended and half.acked() > half.offset + 1:
                self._skip(half, half.acked(), connection.frame, out)
            if not half.ended:
                end = half.end
                self._end(half, end.frame if end else frame, end.reason if end else reason, out)
        self._waiting.pop(connection, None)
        self.waits.drop(connection)
        self._over[1].append(connection.halves[0].stream)
