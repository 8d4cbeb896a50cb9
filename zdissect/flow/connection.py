"""A TCP connection and its two half-streams: what is known of them, what waits, and for how long."""

from math import inf
from typing import NamedTuple

from zdissect.records import Frame, Segment

GRACE_SEGMENTS = 64
"""Most further segments of the connection that a wait lasts for: captures of several queues mix up a few dozen..."""
GRACE_NS = 10**9
"""... or most capture time; longer than any retransmission timer that starts within a round trip."""
MAX_GAP_NS = 10 * 10**9
"""A gap this old without any acknowledgement beyond it (a one-sided capture) will not be filled."""
MAX_BUFFERED_BYTES = 4 << 20
"""Most out-of-order bytes of a direction: Linux's default limit of the receive window is 6 MiB, half of it payload."""
MAX_BUFFERED_SEGMENTS = 2000
CONNECTION_BYTES = 4096
"""Memory that a connection takes in all stages, without what waits..."""
PIECE_BYTES = 512
"""... and what each segment takes that waits, besides the bytes of its frame."""
MAX_WINDOW = 1 << 30
"""No TCP window is larger (RFC 7323): bytes further apart don't belong to one connection."""
RECENT_SEGMENTS = 8
RECENT_BYTES = 16 << 10
LARGE = RECENT_BYTES // RECENT_SEGMENTS
"""Delivered payloads that a direction keeps to compare retransmissions with: their number (up to twice as many while
they are small), or their bytes."""

FIN, SYN, RST, ACK = 1, 2, 4, 16
MASK, SIGN = 0xFFFFFFFF, 0x80000000
NEVER = inf
"""Later than any time, and further than any place in a stream."""

Piece = tuple[int, bytes, Frame, int]
"""Bytes that wait: stream offset, bytes, the frame that carried them and where in it."""


def distance_of(seq: int, origin: int) -> int:
    """How far `seq` lies after `origin`, on the circle of sequence numbers."""
    return ((seq - origin + SIGN) & MASK) - SIGN


class Start(NamedTuple):
    """Sequence numbers that tell where a half-stream starts; -1 while unknown."""

    first_seq: int = -1
    """The number of the first byte, from the SYN."""
    empty_seq: int = -1
    """The highest number of its segments without payload."""
    stray_seq: int = -1
    """The number of a segment that can't belong to this connection."""


_UNKNOWN = Start()


class FinOrRst(NamedTuple):
    """The end of a half-stream."""

    offset: int
    """Its stream offset; -1 if unknown, after an RST of the other side."""
    frame: Frame
    reason: str
    """`fin` or `rst`."""


class Pending:
    """Pieces of a half-stream that wait for the bytes before them."""

    __slots__ = ("cuts", "doubt", "kept", "pieces", "size")

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        """Ascending, without overlap, all beyond what was delivered."""
        self.cuts: list[tuple[int, int, Frame]] = []
        """Ranges that were on the wire but cut off by the capture, ascending by their starts."""
        self.size = 0
        """Bytes of the pieces..."""
        self.kept = 0
        """... and the memory that pieces and cuts take."""
        self.doubt: tuple[float, int, int] | None = None
        """(stream offset, segment count, time): bytes before the offset are known to have been sent, since then."""

    def oldest_ns(self) -> float:
        """The time at which the oldest piece began to wait for the gap in front of it."""
        frames = [piece[2] for piece in self.pieces[:1]] + [cut[2] for cut in self.cuts[:1]]
        return min((frame.now_ns for frame in frames), default=NEVER)


def memory_of(frame: Frame) -> int:
    """Memory that a segment takes while it waits."""
    return PIECE_BYTES + len(frame.data)


def is_syn(segment: Segment) -> bool:
    """Whether a segment opens a direction of a connection."""
    return bool(segment.flags & SYN)


class HalfStream:
    """One direction of a connection. What every segment needs is here, the rest in records."""

    __slots__ = (
        "ack", "connection", "direction", "end", "ended", "last_ns", "offset", "pending", "quick", "recent", "seq",
        "start", "stream",
    )  # fmt: skip

    def __init__(self, connection: "Connection", stream: int) -> None:
        self.connection = connection
        self.stream = stream
        self.direction = 0
        self.seq = -1
        """Sequence number of the next byte to deliver; -1 until it is known where the stream starts."""
        self.offset = 0
        """The stream offset of that byte."""
        self.ack = -1
        """Highest acknowledgement this side has sent."""
        self.last_ns = 0
        """Time of its last segment."""
        self.quick = False
        """Nothing waits in either direction: a segment that is next in order needs no care."""
        self.recent: list[tuple[int, bytes]] = []
        """The most recently delivered bytes, with their stream offsets."""
        self.start = _UNKNOWN
        self.pending: Pending | None = None
        """None until something has had to wait, which saves memory: half-streams are many, and few ever wait."""
        self.end: FinOrRst | None = None
        """Its end, if that is known; takes effect once all bytes before it have come."""
        self.ended = False
        """It has ended: nothing more is delivered."""

    @property
    def peer(self) -> "HalfStream":
        """The other direction."""
        first, second = self.connection.halves
        return second if first is self else first

    def open_at(self, seq: int) -> None:
        """Start the stream at a sequence number."""
        self.seq = seq
        if self.start.stray_seq >= 0:
            self.start = self.start._replace(stray_seq=-1)

    def hold(self) -> Pending:
        """The pieces that wait, created if there are none yet."""
        if self.pending is None:
            self.pending = Pending()
        return self.pending

    def base(self) -> int:
        """Sequence number of stream offset 0."""
        return (self.seq - self.offset) & MASK

    def advance(self, size: int) -> None:
        """Move past the next `size` bytes."""
        self.offset += size
        self.seq = (self.seq + size) & MASK

    def acknowledge(self, size: int) -> None:
        """Take note that this side has acknowledged so many bytes more."""
        self.ack = (self.ack + size) & MASK

    def keep(self, offset: int, data: bytes) -> None:
        """Remember bytes as they are delivered."""
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

    def gap_end(self) -> int:
        """Where the gap at `offset` ends; -1 if there is none (or none with an end)."""
        if self.ended or self.seq < 0:
            return -1
        pending, end = self.pending, self.end
        ends = [end.offset] if end is not None and end.offset > self.offset else []
        if pending is not None and pending.pieces:
            ends.append(pending.pieces[0][0])
        if pending is not None and pending.cuts:
            ends.append(pending.cuts[0][0])
        return min(ends, default=-1)

    def waits(self) -> bool:
        """Whether something waits for the bytes before it."""
        pending = self.pending
        if self.ended or pending is None:
            return self.end is not None and not self.ended
        return bool(pending.pieces or pending.cuts or self.end)


class Connection:
    """What both directions share."""

    __slots__ = ("count", "frame", "halves", "held", "held_bytes", "held_count", "held_kept", "settled")

    def __init__(self, stream: int, frame: Frame) -> None:
        self.halves = HalfStream(self, stream), HalfStream(self, stream)
        self.settled = False
        """Whether it is decided which side is direction 0; a side not heard yet may then start anywhere."""
        self.held: list[tuple[HalfStream, Segment]] = []
        """Segments that are held until it is known where their streams start."""
        self.held_bytes = self.held_count = self.held_kept = 0
        self.count = 0
        """Number of segments so far, without those that were simply next in order."""
        self.frame = frame
        """The last of these segments."""

    def waits(self) -> bool:
        """Whether anything waits, in either direction."""
        return bool(self.held) or self.halves[0].waits() or self.halves[1].waits()

    def kept(self) -> int:
        """The memory that is taken by what waits."""
        return self.held_kept + sum(half.pending.kept for half in self.halves if half.pending is not None)

    def spoke(self) -> bool:
        """Whether it has delivered any bytes."""
        return any(half.offset for half in self.halves)

    def over(self) -> bool:
        """Whether both directions have ended."""
        first, second = self.halves
        return first.ended and second.ended

    def set_opener(self, half: HalfStream) -> None:
        """Make a half-stream direction 0, unless that is decided."""
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
        if all(half.start.first_seq < 0 for half in self.halves):
            self.set_opener(spoken[0][0])
        for half in self.halves:
            mine = [segment.seq for other, segment in spoken if other is half]
            if half.seq < 0 and mine:
                half.open_at((mine[0] + min(distance_of(seq, mine[0]) for seq in mine)) & MASK)
        self.settled = True
