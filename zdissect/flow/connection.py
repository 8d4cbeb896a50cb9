"""A TCP connection: what is known of each direction, what waits, and for how long."""

from math import inf

from zdissect.records import Frame, Segment

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
RECENT_SEGMENTS = 8
RECENT_BYTES = 16 << 10
LARGE = RECENT_BYTES // RECENT_SEGMENTS
"""Delivered payloads that a direction keeps to compare retransmissions with: so many (up to twice as many while they
are small), or so many bytes."""

FIN, SYN, RST, ACK = 1, 2, 4, 16
MASK, SIGN = 0xFFFFFFFF, 0x80000000
NEVER = inf
"""Later than any time, and further than any place in a stream."""

Piece = tuple[int, bytes, Frame, int]
"""Bytes that wait: stream offset, bytes, the frame that carried them and where in it."""


def distance_of(seq: int, origin: int) -> int:
    """How far `seq` lies after `origin`, on the circle of sequence numbers."""
    return ((seq - origin + SIGN) & MASK) - SIGN


class HalfStream:
    """One direction of a connection."""

    __slots__ = (
        "ack", "buffered", "connection", "cuts", "direction", "doubt", "end", "end_frame", "end_reason", "ended",
        "hint", "isn", "last_ns", "offset", "peer", "pieces", "quick", "recent", "seq", "stray", "stream",
    )  # fmt: skip

    peer: "HalfStream"
    connection: "Connection"

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
        self.doubt: tuple[float, int, int] | None = None
        """Bytes before the first number are known to have been sent, since this segment count and time."""
        self.end = -1
        """Stream offset at which FIN or RST ends it; -1 while unknown."""
        self.end_frame: Frame | None = None
        self.end_reason = ""
        self.ended = False
        self.quick = False
        """Nothing waits in either direction: a segment that is next in order needs no care."""
        self.last_ns = 0
        self.recent: list[tuple[int, bytes]] = []
        """Stream offsets and bytes that were delivered last."""

    def open_at(self, seq: int) -> None:
        self.seq = seq
        self.stray = -1

    def base(self) -> int:
        return (self.seq - self.offset) & MASK

    def advance(self, size: int) -> None:
        self.offset += size
        self.seq = (self.seq + size) & MASK

    def keep(self, offset: int, data: bytes) -> None:
        """Remember bytes that are delivered."""
        self.recent.append((offset, data))
        if len(data) > LARGE or len(self.recent) > 2 * RECENT_SEGMENTS:
            self.trim()

    def trim(self) -> None:
        """Forget the oldest of the bytes that were delivered."""
        recent = self.recent
        del recent[:-RECENT_SEGMENTS]
        size = sum(len(data) for _, data in recent)
        while size > RECENT_BYTES and len(recent) > 1:
            size -= len(recent.pop(0)[1])

    def acked(self) -> int:
        """Stream offset up to which the other side has acknowledged; -1 if unknown."""
        ack = self.peer.ack
        if ack < 0 or self.seq < 0:
            return -1
        distance = distance_of(ack, self.seq)
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

    def oldest_ns(self) -> float:
        """Time since when something has waited for the hole at `offset`."""
        frames = [piece[2] for piece in self.pieces[:1]] + [cut[2] for cut in self.cuts[:1]]
        return min((frame.now_ns for frame in frames), default=NEVER)

    def waits(self) -> bool:
        return not self.ended and bool(self.pieces or self.cuts or self.end_reason)


class Connection:
    """What both directions share."""

    __slots__ = ("count", "frame", "halves", "held", "held_bytes", "held_count", "settled")

    def __init__(self, stream: int, frame: Frame) -> None:
        first, second = self.halves = HalfStream(stream), HalfStream(stream)
        first.peer, second.peer = second, first
        first.connection = second.connection = self
        self.settled = False
        """Which side is direction 0 is decided, and a side not heard of yet may start anywhere."""
        self.held: list[tuple[HalfStream, Segment]] = []
        """Segments that wait until it is known where their streams start."""
        self.held_bytes = self.held_count = 0
        self.count = 0
        """Segments seen, but for those that needed no care."""
        self.frame = frame
        """The last of those."""

    def waits(self) -> bool:
        return bool(self.held) or self.halves[0].waits() or self.halves[1].waits()

    def set_opener(self, half: HalfStream) -> None:
        if not self.settled:
            half.direction, half.peer.direction = 0, 1

    def known(self) -> bool:
        """Whether all segments in `held` belong to streams whose start is known by now."""
        return all(half.seq >= 0 for half, _ in self.held)

    def ripe(self, now_ns: int) -> bool:
        """Whether the segments in `held` have waited long enough."""
        return (
            self.count - self.held_count >= GRACE_SEGMENTS
            or now_ns - self.held[0][1].frame.now_ns >= GRACE_NS
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
                half.open_at((mine[0] + min(distance_of(seq, mine[0]) for seq in mine)) & MASK)
        self.settled = True
