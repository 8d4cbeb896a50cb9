"""TCP: from segments, in whatever order the capture holds them, to the bytes of each stream, once and in order.

Rules. All state of a connection lives in this file. It looks back, never ahead, and what becomes of a connection
depends on its own segments and on capture time only (when others' segments show that time has passed, an idle
connection is looked at, with the same outcome as if its own next segment had shown it). The first copy of a byte wins.

Three things wait: segments out of order, for what comes before them; the first segments of a connection whose SYN has
not been seen, for the SYN or for something with a lower sequence number; the side that was reset, for what was
still on its way. All waits are bounded, and `close` ends them.
"""

from bisect import bisect_right, insort
from collections import Counter, deque
from operator import itemgetter
from typing import Final

from zdissect.records import Chunk, End, Endpoint, Frame, Gap, Overlap, Segment, StreamItem

GRACE_SEGMENTS = 64
"""Further segments of the connection that a wait outlasts: a capture of several queues mixes a few dozen."""
GRACE_NS = 10**9
"""... or this capture time; longer than any retransmission timer that starts within a round trip."""
MAX_HOLE_NS = 10 * 10**9
"""A hole this old without any acknowledgement beyond it (a one-sided capture) will not be filled."""
MAX_BUFFERED_BYTES = 4 << 20
"""Out-of-order bytes a direction holds: Linux's default limit of the receive window is 6 MiB, half of it payload."""
MAX_BUFFERED_SEGMENTS = 2000
MAX_WINDOW = 1 << 30
"""No TCP window is larger (RFC 7323): bytes further apart don't belong to one connection."""
MAX_CONNECTIONS = 100_000
CLOSED_IDLE_NS = 60 * 10**9
"""Closed connections are remembered this long (TIME_WAIT), so that late retransmissions are known as such."""
RECENT_SEGMENTS = 1024
"""Delivered payloads kept, over all connections, to compare retransmissions with: 64 MiB at the very most."""

_FIN, _SYN, _RST, _ACK = 1, 2, 4, 16
_MASK, _SIGN = 0xFFFFFFFF, 0x80000000
_NEVER = 1 << 63

_new = tuple.__new__  # NamedTuple's own constructor takes twice the time
_start = itemgetter(0)

Piece = tuple[int, bytes, Frame, int]
"""Bytes that wait: stream offset, bytes, the frame that carried them and where in it."""


def _distance(seq: int, origin: int) -> int:
    """How far `seq` lies after `origin`, on the circle of sequence numbers."""
    return ((seq - origin + _SIGN) & _MASK) - _SIGN


class _Half:
    """One direction of a connection."""

    __slots__ = (
        "ack", "buffered", "connection", "cuts", "direction", "doubt", "end", "end_frame", "end_reason", "ended",
        "hint", "isn", "last_ns", "offset", "peer", "pieces", "quick", "seq", "stray", "stream",
    )  # fmt: skip

    peer: "_Half"
    connection: "_Connection"

    def __init__(self, stream: int) -> None:
        self.stream = stream
        self.direction = 0
        self.seq = -1
        """Sequence number of the next byte to deliver; -1 until it is known where the stream starts."""
        self.offset = 0
        """Its stream offset."""
        self.isn = -1
        """Sequence number of the first byte, from the SYN; -1 without one."""
        self.ack = -1
        """Highest acknowledgement this side has sent."""
        self.hint = -1
        """Highest sequence number of its segments without payload."""
        self.stray = -1
        """Sequence number of a segment that can't belong to this connection."""
        self.pieces: list[Piece] = []
        """Ascending, without overlap, all beyond `offset`."""
        self.cuts: list[tuple[int, int, Frame]] = []
        """Ranges that were on the wire but cut off by the capture, ascending by their starts."""
        self.buffered = 0
        self.doubt: tuple[int, int, int] | None = None
        """Bytes before the first number are known to have been sent, since this segment count and time."""
        self.end = -1
        """Stream offset at which FIN or RST ends it; -1 while unknown."""
        self.end_frame: Frame | None = None
        self.end_reason = ""
        self.ended = False
        self.quick = False
        """Nothing waits in either direction: a segment that is next in order needs no care."""
        self.last_ns = 0

    def open_at(self, seq: int) -> None:
        self.seq = seq
        self.stray = -1

    def base(self) -> int:
        return (self.seq - self.offset) & _MASK

    def advance(self, size: int) -> None:
        self.offset += size
        self.seq = (self.seq + size) & _MASK

    def acked(self) -> int:
        """Stream offset up to which the other side has acknowledged; -1 if unknown."""
        ack = self.peer.ack
        if ack < 0 or self.seq < 0:
            return -1
        distance = _distance(ack, self.seq)
        return self.offset + distance if abs(distance) <= MAX_WINDOW else -1

    def hole_end(self) -> int:
        """Where the hole at `offset` ends; -1 if there is none (or none with an end)."""
        if self.ended or self.seq < 0:
            return -1
        ends = [self.end] if self.end > self.offset else []
        if self.pieces:
            ends.append(self.pieces[0][0])
        if self.cuts:
            ends.append(self.cuts[0][0])
        return min(ends, default=-1)

    def oldest_ns(self) -> int:
        """Capture time since when something has waited for the hole at `offset`."""
        frames = [piece[2] for piece in self.pieces[:1]] + [cut[2] for cut in self.cuts[:1]]
        return min((frame.ts_ns for frame in frames), default=_NEVER)

    def waits(self) -> bool:
        return not self.ended and bool(self.pieces or self.cuts or self.end_reason)


class _Connection:
    """What both directions share."""

    __slots__ = ("count", "frame", "halves", "held", "held_bytes", "held_count", "settled")

    def __init__(self, stream: int, frame: Frame) -> None:
        first, second = self.halves = _Half(stream), _Half(stream)
        first.peer, second.peer = second, first
        first.connection = second.connection = self
        self.settled = False
        """Which side is direction 0 is decided, and a side not heard of yet may start anywhere."""
        self.held: list[tuple[_Half, Segment]] = []
        """Segments that wait until it is known where their streams start."""
        self.held_bytes = self.held_count = 0
        self.count = 0
        """Segments seen, but for those that needed no care."""
        self.frame = frame
        """The last of those."""

    def waits(self) -> bool:
        return bool(self.held) or self.halves[0].waits() or self.halves[1].waits()

    def set_opener(self, half: _Half) -> None:
        if not self.settled:
            half.direction, half.peer.direction = 0, 1

    def known(self) -> bool:
        """Whether all segments in `held` belong to streams whose start is known by now."""
        return all(half.seq >= 0 for half, _ in self.held)

    def ripe(self, now_ns: int) -> bool:
        """Whether the segments in `held` have waited long enough."""
        return (
            self.count - self.held_count >= GRACE_SEGMENTS
            or now_ns - self.held[0][1].frame.ts_ns >= GRACE_NS
            or self.held_bytes > MAX_BUFFERED_BYTES
        )

    def settle(self) -> None:
        """Let the streams whose SYN wasn't seen start at the lowest sequence number held."""
        spoken = [(half, segment) for half, segment in self.held if segment.payload or segment.missing] or self.held
        if all(half.isn < 0 for half in self.halves):
            self.set_opener(spoken[0][0])
        for half in self.halves:
            mine = [segment.seq for other, segment in spoken if other is half]
            if half.seq < 0 and mine:
                half.open_at((mine[0] + min(_distance(seq, mine[0]) for seq in mine)) & _MASK)
        self.settled = True


class Streams:
    """Puts the segments of all connections of a capture in order. Sans-IO, picklable.

    `ignored` counts what was left out: "outside the window", "after the end", "before the start".
    """

    def __init__(self) -> None:
        self.ignored: Final[Counter[str]] = Counter()
        self._halves: dict[tuple[Endpoint, Endpoint], _Half] = {}
        self._ends: dict[int, tuple[_Half, Endpoint, Endpoint]] = {}
        self._count = 0
        self._recent: deque[tuple[_Half, int, bytes]] = deque(maxlen=RECENT_SEGMENTS)
        self._waiting: dict[_Connection, None] = {}
        self._due_ns = _NEVER

    def feed(self, segment: Segment) -> list[StreamItem]:
        """Take the next segment of the capture; give what can be delivered now, in order of each stream."""
        frame, src, dst, seq, ack, flags, payload, missing, place = segment
        if frame[2] >= self._due_ns:
            return self._tick(frame[2]) + self._careful(segment)
        half = self._halves.get((src, dst))
        if half is None or seq != half.seq or flags & 7 or missing or not half.quick:
            return self._careful(segment)
        half.last_ns = frame[2]
        if ack != half.ack and flags & _ACK and (half.ack < 0 or (ack - half.ack) & _MASK < _SIGN):
            half.ack = ack
        if not payload:
            return []
        offset, size = half.offset, len(payload)
        half.offset = offset + size
        half.seq = (seq + size) & _MASK
        self._recent.append((half, offset, payload))
        return [_new(Chunk, (half.stream, half.direction, offset, payload, frame, place))]

    def ends(self, stream: int) -> tuple[Endpoint, Endpoint]:
        """(opener, other side) of a connection whose items are being delivered: direction 0 is from the first."""
        half, src, dst = self._ends[stream]
        return (dst, src) if half.direction else (src, dst)

    def close(self) -> list[StreamItem]:
        """End of the capture: give what still waits, the holes in it, and an `End` for every open direction."""
        out: list[StreamItem] = []
        for connection in dict.fromkeys(half.connection for half in self._halves.values()):
            self._finish(connection, "capture", None, out)
        self._halves.clear()
        self._waiting.clear()
        self._due_ns = _NEVER
        return out

    # Connections: which one a segment belongs to, and for how long they are kept.

    def _careful(self, segment: Segment) -> list[StreamItem]:
        out: list[StreamItem] = []
        half = self._half_of(segment, out)
        if half is None:
            return out
        connection, now_ns = half.connection, segment.frame.ts_ns
        if connection.waits():
            self._give_up(connection, now_ns, out)
        half.last_ns, connection.frame = now_ns, segment.frame
        connection.count += 1
        flags = segment.flags
        if flags & _ACK and not flags & _RST and (half.ack < 0 or _distance(segment.ack, half.ack) > 0):
            half.ack = segment.ack
        if flags & _SYN:
            self._synchronise(half, segment)
        if segment.payload or segment.missing or flags & (_FIN | _RST):
            self._hold_or_accept(half, segment, out)
        elif not flags & _SYN and (half.hint < 0 or _distance(segment.seq, half.hint) > 0):
            half.hint = segment.seq
        if connection.waits():
            self._give_up(connection, now_ns, out)
        self._note(connection, now_ns)
        return out

    def _half_of(self, segment: Segment, out: list[StreamItem]) -> _Half | None:
        """The direction that a segment belongs to, of a new connection if need be; None if it is to be left out."""
        half = self._halves.get((segment.src, segment.dst))
        if half is None:
            return self._open(segment, out)
        if segment.flags & _SYN:
            other = self._other_connection(half, (segment.seq + 1) & _MASK)
        elif half.seq < 0 or segment.flags & _RST or not (segment.payload or segment.missing):
            return half
        else:
            distance = _distance(segment.seq, half.seq)
            size = len(segment.payload) + segment.missing
            other = half.ended and half.peer.ended and distance + size > 0
            if abs(distance) > MAX_WINDOW:
                # one such segment is a stray; a second that goes with it is a connection whose SYN isn't there
                other = half.stray >= 0 and abs(_distance(segment.seq, half.stray)) <= MAX_BUFFERED_BYTES
                half.stray = segment.seq
                if not other:
                    self.ignored["outside the window"] += 1
                    return None
        if not other:
            return half
        self._finish(half.connection, "reused", segment.frame, out)
        return self._open(segment, out)

    def _other_connection(self, half: _Half, first: int) -> bool:
        """Whether a SYN, after which the stream starts at `first`, opens a new connection on the same ports."""
        if half.isn >= 0:
            return half.isn != first
        if half.seq >= 0:  # a SYN that comes after the wait for it was over fits closely; a new one hardly ever
            return not 0 <= _distance(half.base(), first) <= MAX_BUFFERED_BYTES
        held = [segment.seq for other, segment in half.connection.held if other is half and not segment.flags & _RST]
        return any(not 0 <= _distance(seq, first) <= MAX_WINDOW for seq in held)

    def _open(self, segment: Segment, out: list[StreamItem]) -> _Half:
        if len(self._halves) >= 2 * MAX_CONNECTIONS or self._count % 4096 == 4095:
            self._forget(segment.frame.ts_ns, out)
        half, peer = _Connection(self._count, segment.frame).halves
        self._count += 1
        half.connection.set_opener(half)
        self._ends[half.stream] = half, segment.src, segment.dst
        self._halves[segment.dst, segment.src] = peer
        self._halves[segment.src, segment.dst] = half
        return half

    def _forget(self, now_ns: int, out: list[StreamItem]) -> None:
        """Drop the connections that closed a while ago, and the tenth longest idle if there are still too many."""
        last = {half.connection: max(half.last_ns, half.peer.last_ns) for half in self._halves.values()}
        drop = {c for c, ns in last.items() if now_ns - ns > CLOSED_IDLE_NS and c.halves[0].ended and c.halves[1].ended}
        if len(last) - len(drop) >= MAX_CONNECTIONS:
            drop.update(sorted(last, key=lambda c: last[c])[: MAX_CONNECTIONS // 10])
        self._ends = {stream: one for stream, one in self._ends.items() if one[0].connection not in drop}
        for connection in last:
            if connection in drop:
                self._finish(connection, "capture", None, out)
        self._halves = {ends: half for ends, half in self._halves.items() if half.connection not in drop}

    # The start of a stream.

    def _synchronise(self, half: _Half, segment: Segment) -> None:
        """Take a SYN: it says where its stream starts, and which side opened the connection."""
        if half.isn >= 0:
            return
        half.isn = first = (segment.seq + 1) & _MASK
        if half.seq >= 0:
            if half.base() != first:
                self.ignored["before the start"] += 1
            return
        half.open_at(first)
        if half.peer.isn < 0:
            half.connection.set_opener(half.peer if segment.flags & _ACK else half)
        if half.peer.seq >= 0:
            half.connection.settled = True

    def _hold_or_accept(self, half: _Half, segment: Segment, out: list[StreamItem]) -> None:
        connection = half.connection
        if half.seq < 0 and connection.settled:
            near = half.hint >= 0 and 0 <= _distance(segment.seq, half.hint) <= MAX_BUFFERED_BYTES
            half.open_at(half.hint if near else segment.seq)
        if half.seq >= 0 and not connection.held:
            self._accept(half, segment, out)
            return
        if not connection.held:
            connection.held_count = connection.count
        connection.held.append((half, segment))
        connection.held_bytes += len(segment.payload)

    def _replay(self, connection: _Connection, out: list[StreamItem]) -> None:
        if not connection.known():
            connection.settle()
        held, connection.held, connection.held_bytes = connection.held, [], 0
        for half, segment in held:
            if half.seq < 0:  # only a FIN or RST of a side that said nothing
                half.open_at(segment.seq)
            self._accept(half, segment, out)

    # The bytes of a stream.

    def _accept(self, half: _Half, segment: Segment, out: list[StreamItem]) -> None:
        """Take the payload, FIN and RST of a segment whose stream has a start."""
        frame, payload, missing = segment.frame, segment.payload, segment.missing
        first = segment.seq + 1 if segment.flags & _SYN else segment.seq  # a SYN takes a number of its own
        start = half.offset + _distance(first, half.seq)
        cut = start + len(payload)
        if payload:
            self._insert(half, start, payload, frame, segment.offset, out)
        if missing and cut + missing > half.offset and not half.ended:
            insort(half.cuts, (cut, cut + missing, frame), key=_start)
        if segment.flags & _RST:
            self._reset(half, start, frame)
        elif segment.flags & _FIN and not half.end_reason and half.offset <= cut + missing <= half.offset + MAX_WINDOW:
            half.end, half.end_frame, half.end_reason = cut + missing, frame, "fin"
        self._drain(half, out)
        while half.buffered > MAX_BUFFERED_BYTES or len(half.pieces) + len(half.cuts) > MAX_BUFFERED_SEGMENTS:
            self._skip(half, half.hole_end(), frame, out)

    def _reset(self, half: _Half, start: int, frame: Frame) -> None:
        """An RST ends both directions: its own where it says, the other after what is still on its way."""
        if abs(start - half.offset) > MAX_BUFFERED_BYTES:
            self.ignored["outside the window"] += 1
            return
        if not half.end_reason:
            half.end, half.end_frame, half.end_reason = start if start >= half.offset else -1, frame, "rst"
        if not half.peer.end_reason:
            half.peer.end_frame, half.peer.end_reason = frame, "rst"

    def _insert(self, half: _Half, start: int, data: bytes, frame: Frame, place: int, out: list[StreamItem]) -> None:
        """Put the bytes that aren't known yet among the pieces that wait."""
        limit = half.end if half.end >= 0 else half.offset if half.ended else _NEVER
        if start + len(data) > limit:
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

    def _compare_recent(self, half: _Half, start: int, data: bytes, frame: Frame, out: list[StreamItem]) -> None:
        """Compare bytes that were delivered already with what was delivered, as far back as that is kept."""
        stop, left = start + len(data), len(data)
        for owner, other, known in reversed(self._recent):
            if owner is half and other < stop and other + len(known) > start:
                a, b = max(start, other), min(stop, other + len(known))
                self._compare(half, a, data[a - start : b - start], known[a - other :], frame, out)
                left -= b - a
                if left <= 0:
                    break

    def _compare(self, half: _Half, start: int, data: bytes, known: bytes, frame: Frame, out: list[StreamItem]) -> None:
        # a single byte that is known already is a keep-alive probe, and what it holds has no meaning
        if len(data) > 1 and not known.startswith(data):
            out.append(Overlap(half.stream, half.direction, start, len(data), frame))

    def _drain(self, half: _Half, out: list[StreamItem]) -> None:
        """Deliver what has become next in order, and the end if it has been reached."""
        pieces, cuts, used = half.pieces, half.cuts, 0
        while True:
            while cuts and cuts[0][1] <= half.offset:
                del cuts[0]
            if used < len(pieces) and pieces[used][0] == half.offset:
                offset, data, frame, place = pieces[used]
                out.append(Chunk(half.stream, half.direction, offset, data, frame, place))
                self._recent.append((half, offset, data))
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

    def _give_up(self, connection: _Connection, now_ns: int, out: list[StreamItem]) -> None:
        """End the waits that have lasted long enough."""
        if connection.held and (connection.known() or connection.ripe(now_ns)):
            self._replay(connection, out)
        for half in connection.halves:
            if half.waits() and not connection.held:
                self._doubt(half, now_ns, out)

    def _doubt(self, half: _Half, now_ns: int, out: list[StreamItem]) -> None:
        """Give up holes that are certain: acknowledged, or before the end, and a grace has passed; or old."""
        connection = half.connection
        hole = half.hole_end()
        certain = _NEVER if half.end_reason else half.acked()
        if half.doubt is None and (half.end_reason or 0 <= hole <= certain):
            half.doubt = certain, connection.count, now_ns
        if half.doubt is not None:
            limit, count, since_ns = half.doubt
            if connection.count - count >= GRACE_SEGMENTS or now_ns - since_ns >= GRACE_NS:
                half.doubt = None
                while 0 <= hole <= limit:
                    self._skip(half, hole, connection.frame, out)
                    hole = half.hole_end()
                if half.end_reason and not half.ended and limit == _NEVER:
                    self._end(half, half.end_frame, half.end_reason, out)
        while not half.ended and now_ns - half.oldest_ns() >= MAX_HOLE_NS:
            self._skip(half, half.hole_end(), connection.frame, out)

    def _skip(self, half: _Half, hole_end: int, frame: Frame, out: list[StreamItem]) -> None:
        size = hole_end - half.offset
        out.append(Gap(half.stream, half.direction, half.offset, size, frame, "lost"))
        half.advance(size)
        self._drain(half, out)

    def _end(self, half: _Half, frame: Frame | None, reason: str, out: list[StreamItem]) -> None:
        half.ended = True
        if half.pieces:
            self.ignored["after the end"] += len(half.pieces)
        half.pieces, half.cuts, half.buffered = [], [], 0
        out.append(End(half.stream, half.direction, half.offset, frame, reason))

    def _finish(self, connection: _Connection, reason: str, frame: Frame | None, out: list[StreamItem]) -> None:
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

    def _note(self, connection: _Connection, now_ns: int) -> None:
        """Remember whether anything waits, so that the common case needn't look."""
        waits = connection.waits()
        for half in connection.halves:
            half.quick = not waits and not half.end_reason
        if waits:
            self._waiting[connection] = None
            self._due_ns = min(self._due_ns, now_ns + GRACE_NS)
        else:
            self._waiting.pop(connection, None)

    def _tick(self, now_ns: int) -> list[StreamItem]:
        """Look at the connections that wait, at most once in a grace."""
        out: list[StreamItem] = []
        for connection in list(self._waiting):
            self._give_up(connection, now_ns, out)
            self._note(connection, now_ns)
        self._due_ns = now_ns + GRACE_NS if self._waiting else _NEVER
        return out
