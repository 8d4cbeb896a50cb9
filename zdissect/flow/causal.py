"""Interleaves both directions of a TCP connection as the two ends spoke: an answer comes after its question.

A capture may hold an answer before its question: because a network card has several queues, or because the capturing
machine saw a segment only when it was sent again. Each segment acknowledges what its sender had received by then, so
its bytes are held back until the capture has delivered that. The wait is bounded, in time and memory: the bytes may be
missing for good.
"""

from collections import deque
from collections.abc import Callable
from math import inf
from typing import Final

from zdissect.flow.connection import PIECE_BYTES
from zdissect.flow.link import Decoder
from zdissect.limits import Limits, Quota
from zdissect.records import Chunk, Endpoint, Frame, Gap, Segment, StreamEnd, StreamItem

GRACE_SEGMENTS = 64
"""Most further segments of the connection that a wait lasts for, as in the streams themselves."""
GRACE_NS = 10**9
MAX_WINDOW = 1 << 30
"""Bytes that an acknowledgement can be ahead at most (RFC 7323)."""

_ACK = 16
_MASK, _SIGN = 0xFFFFFFFF, 0x80000000
_Ends = tuple[Endpoint, Endpoint]
_Queue = deque[tuple[StreamItem, Segment | None]]


class _Connection:
    """The state of a connection: what was passed on, and what is held back."""

    def __init__(self) -> None:
        self.base = [-1, -1]
        """Sequence number of stream offset 0, by direction; -1 while unknown."""
        self.passed = [0, 0]
        """Stream offsets up to which bytes, or gaps, were passed on."""
        self.ended = [False, False]
        """Whether the end of a direction has been passed on."""
        self.over = [False, False]
        """Whether the end has come: nothing follows it."""
        self.queues: tuple[_Queue, _Queue] = (deque(), deque())
        self.patient = [True, True]
        """Whether a direction still waits: not after a wait in vain, until the other one goes on."""
        self.age = 0
        self.since_ns = 0
        self.ends: tuple[_Ends, _Ends] | None = None
        self.kept = 0
        """Memory that the queues take."""


class Causal:
    """Both directions of all connections of a capture. Sans-IO, picklable."""

    def __init__(self, first: Callable[[_Ends], int], store: "Quota[_Connection] | None" = None) -> None:
        """`first`: the sequence number of the first byte from one end to another, from its SYN; -1 without one."""
        self.first = first
        self.connections: Final[dict[int, _Connection]] = {}
        self.holding: Final[dict[_Ends, _Connection]] = {}
        """Connections with items held back, by their ends in either order."""
        self.store: Quota[_Connection] = store or Quota("connections", Limits().connections)
        """The memory that they take."""

    def feed(self, segment: Segment, items: list[StreamItem]) -> list[StreamItem]:
        """The items that may be passed on, once a segment has produced `items`."""
        frame, out = segment.frame, list[StreamItem]()
        for item in items:
            self.take(item, segment if item.frame is frame else said(item), frame.now_ns, out)
        if self.holding and (connection := self.holding.get((segment.src, segment.dst))):
            connection.age += 1
            if connection.age > GRACE_SEGMENTS or frame.now_ns - connection.since_ns >= GRACE_NS:
                self.give_up(connection, out)
        return out

    def late(self, items: list[StreamItem], now_ns: int) -> list[StreamItem]:
        """The items that may be passed on, once time alone has produced `items`."""
        out: list[StreamItem] = []
        for item in items:
            self.take(item, said(item), now_ns, out)
        return out

    def passed(self, items: list[StreamItem], now_ns: int) -> list[StreamItem]:
        """The items that may be passed on when time has passed without a segment, which has produced `items`."""
        out = self.late(items, now_ns) if items else []
        for connection in dict.fromkeys(self.holding.values()):
            if now_ns - connection.since_ns >= GRACE_NS:
                self.give_up(connection, out)
        return out

    def close(self, items: list[StreamItem]) -> list[StreamItem]:
        """What is left when the capture ends."""
        out = self.late(items, 0)
        for connection in list(self.connections.values()):
            self.give_up(connection, out)
        return out

    def take(self, item: StreamItem, said: Segment | None, now_ns: int, out: list[StreamItem]) -> None:
        """Passes an item on, or holds it back."""
        connection = self.connections.get(item.stream)
        if connection is None:
            connection = self.connections[item.stream] = _Connection()
        queue = connection.queues[item.direction]
        if isinstance(item, StreamEnd):
            connection.over[item.direction] = True
        if not queue and not self.waits(connection, item, said):
            self.pass_on(connection, item, out)
            self.release(connection, out)
        else:
            queue.append((item, said))
            connection.kept += _memory_of(item)
            self.store.set(connection, connection.kept)
            for largest in self.store.excess():
                self.give_up(largest, out)
        if all(connection.over):
            self.give_up(connection, out)
        elif queue and connection.ends and connection.ends[0] not in self.holding:
            connection.age, connection.since_ns = 0, now_ns
            for ends in connection.ends:
                self.holding[ends] = connection

    def waits(self, connection: _Connection, item: StreamItem, said: Segment | None) -> bool:
        """Whether an item was sent after its sender had received bytes that weren't passed on yet."""
        if said is None or not isinstance(item, Chunk) or not said.flags & _ACK:
            return False
        side, other = item.direction, 1 - item.direction
        if connection.base[side] < 0:
            inside = item.frame_offset - said.offset if said.offset >= 0 and item.frame_offset >= 0 else 0
            connection.base[side] = said.seq + inside - item.offset & _MASK
        back = said.dst, said.src
        if connection.ends is None:
            connection.ends = (said.src, said.dst), back
        base = connection.base[other] if connection.base[other] >= 0 else self.first(back)
        if base < 0 or connection.ended[other] or not connection.patient[side]:
            return False
        return 0 < _distance(said.ack, base + connection.passed[other]) <= MAX_WINDOW

    def pass_on(self, connection: _Connection, item: StreamItem, out: list[StreamItem]) -> None:
        """Passes an item on."""
        out.append(item)
        side, other = item.direction, 1 - item.direction
        if isinstance(item, Chunk):
            connection.passed[side] = item.offset + len(item.data)
            connection.patient[other] = True
        elif isinstance(item, Gap):
            connection.passed[side] = item.offset + item.size
        elif isinstance(item, StreamEnd):
            connection.ended[side] = True
            if all(connection.ended):
                self.connections.pop(item.stream, None)

    def release(self, connection: _Connection, out: list[StreamItem]) -> None:
        """Passes on what need not wait any longer."""
        if not connection.ends or connection.ends[0] not in self.holding:
            return
        going = True
        while going:
            going = False
            for queue in connection.queues:
                while queue and not self.waits(connection, *queue[0]):
                    self.pass_on(connection, queue.popleft()[0], out)
                    going = True
        if connection.ends and not any(connection.queues):
            self.let_go(connection)

    def give_up(self, connection: _Connection, out: list[StreamItem]) -> None:
        """Passes on all that is held back, in order of the frames."""
        for side, queue in enumerate(connection.queues):
            if queue:
                connection.patient[side] = False
        while queues := [queue for queue in connection.queues if queue]:
            self.pass_on(connection, min(queues, key=lambda queue: _time(queue[0][0].frame)).popleft()[0], out)
        self.let_go(connection)

    def let_go(self, connection: _Connection) -> None:
        """Notes that nothing of a connection is held back any more."""
        for ends in connection.ends or ():
            self.holding.pop(ends, None)
        if connection.kept:
            connection.kept = 0
            self.store.drop(connection)


def _distance(number: int, origin: int) -> int:
    """How far a sequence number lies after another, modulo 2^32; negative if before."""
    return ((number - origin + _SIGN) & _MASK) - _SIGN


def _memory_of(item: StreamItem) -> int:
    """Memory that an item takes while it is held back."""
    return PIECE_BYTES + (len(item.frame.data) if item.frame is not None else 0)


def said(item: StreamItem) -> Segment | None:
    """The segment that bytes came in, decoded from its frame again; None if it was reassembled from IP fragments."""
    packet = Decoder().feed(item.frame) if isinstance(item, Chunk) else None
    return packet if isinstance(packet, Segment) else None


def _time(frame: Frame | None) -> tuple[float, int]:
    """A key that sorts frames by time and position; the end of the capture sorts last."""
    return (inf, 0) if frame is None else (frame.now_ns, frame.number)
