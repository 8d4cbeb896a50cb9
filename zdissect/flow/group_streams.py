"""The TCP streams of a group: some connections of a capture, treated as if the others were present too.

A connection depends on others in three ways: they precede it in numbering; their segments show that time has passed,
so that its waits end; and it is forgotten when there are too many of them. `ObservedStreams` has all connections of a
capture and records this. `GroupStreams` has some of them, and is told.
"""

from collections.abc import Iterable

from zdissect.flow.connection import NEVER, Connection, HalfStream
from zdissect.flow.tcp import Streams
from zdissect.records import Endpoint, Segment, StreamItem


class ObservedStreams(Streams):
    """All connections of a capture. Their effects on each other are in `looked` and `dropped`, until taken out."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[tuple[Endpoint, Endpoint]] = []
        """The ends of each connection, by its number."""
        self.looked: list[int] = []
        """Numbers of connections whose wait has ended, or its last part begun, because a segment showed the time."""
        self.dropped: list[int] = []
        """Numbers of connections that were forgotten when a segment opened another."""

    def _open(self, segment: Segment, out: list[StreamItem]) -> HalfStream:
        self.opened.append((segment.src, segment.dst))
        return super()._open(segment, out)

    def _look(self, connection: Connection, now_ns: int, out: list[StreamItem]) -> None:
        before = len(out), _waits(connection)
        super()._look(connection, now_ns, out)
        if before != (len(out), _waits(connection)):
            self.looked.append(connection.halves[0].stream)

    def _drop(self, drop: set[Connection], out: list[StreamItem]) -> None:
        self.dropped += sorted(connection.halves[0].stream for connection in drop)
        super()._drop(drop, out)


def _waits(connection: Connection) -> tuple[object, ...]:
    """What time alone may change."""
    return len(connection.held), *(half.pending and half.pending.doubt for half in connection.halves)


class GroupStreams(Streams):
    """Some connections of a capture, whose numbers, in order, are given. Time passes only when `look` says so."""

    def __init__(self, numbers: Iterable[int]) -> None:
        super().__init__()
        self._numbers = iter(numbers)
        self.count = 0
        """How many connections were opened so far."""
        self._making_room: set[Connection] = set()
        self.late = 0
        """How many items the last look at waiting connections gave."""

    def look(self, now_ns: int) -> list[StreamItem]:
        """Look at the connections that wait, as a segment of another one would make `Streams.feed` do."""
        return self._tick(now_ns)

    def look_next(self) -> None:
        """Look at the connections that wait when the next segment is fed."""
        self.due_ns = -NEVER

    def drop(self, numbers: Iterable[int]) -> list[StreamItem]:
        """Forget connections now: another one was opened elsewhere."""
        out: list[StreamItem] = []
        if drop := self._known(numbers):
            self._drop(drop, out)
        return out

    def make_room(self, numbers: Iterable[int]) -> None:
        """Forget connections when the next segment fed opens another one."""
        self._making_room = self._known(numbers)

    def exhausted(self) -> bool:
        """Whether all numbers are in use: then the connections were those that were foreseen."""
        return next(self._numbers, None) is None

    def _known(self, numbers: Iterable[int]) -> set[Connection]:
        return {self._ends[number][0].connection for number in numbers}

    def _number(self, now_ns: int, out: list[StreamItem]) -> int:
        if self._making_room:
            self._drop(self._making_room, out)
            self._making_room = set()
        number = next(self._numbers, None)
        if number is None:
            raise ValueError("a connection that wasn't foreseen")
        self.count += 1
        return number

    def _note(self, connection: Connection, now_ns: int) -> None:
        super()._note(connection, now_ns)
        self.due_ns = NEVER

    def _tick(self, now_ns: int) -> list[StreamItem]:
        out = super()._tick(now_ns)
        self.due_ns = NEVER
        self.late = len(out)
        return out
