"""Conversations: what two endpoints say to each other, cut into batches once it is known to be Zenoh."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from zdissect.flow import detect
from zdissect.flow.batch import Batch, Cutter, Skipped
from zdissect.flow.framing import DATAGRAM, STREAM, UNKNOWN, Framing
from zdissect.flow.upgrade import is_upgrade
from zdissect.flow.verdict import Verdict
from zdissect.records import Chunk, Endpoint, Gap


@dataclass(slots=True)
class Flow:
    """A conversation. Direction 0 is from `ends[0]`, the side that opened it (or spoke first), to `ends[1]`."""

    id: str
    """`tcp.0`, `udp.3`, `raweth.0`: numbered per protocol in order of appearance."""
    link: str
    ends: tuple[Endpoint, Endpoint]
    verdict: Verdict = Verdict.UNDECIDED
    size: int = 0
    """Its payload bytes, each once, whatever they are."""
    endings: list[tuple[int, str, int]] = field(default_factory=list)
    """(direction, fin, rst, reused or capture, time) in the order in which its directions ended; none for datagrams."""
    numbered: tuple[str, int] = ("", 0)
    """The frame whose messages were numbered last."""
    index: int = 0
    """The number of the next one."""
    sent: list[int] = field(default_factory=lambda: [0, 0])
    """How many messages of each direction were numbered."""


@dataclass(slots=True)
class _Side:
    cutter: Cutter = field(default_factory=lambda: Cutter(STREAM))
    waiting: list[Chunk | Gap] = field(default_factory=list)
    """What came before the verdict."""
    size: int = 0
    scanned: dict[Framing, int] = field(default_factory=dict)
    """Where the search for batches stopped, before the verdict."""


class StreamConversation:
    """A TCP connection: decides what it is, then cuts both directions into batches."""

    def __init__(self, flow: Flow, expected: bool, forced: bool = False) -> None:
        self.flow = flow
        self.expected = expected
        self.sides = (_Side(), _Side())
        self.ended = [False, False]
        self.waiting: list[Chunk | Gap] = []
        """What came before the verdict in both directions, in order."""
        self.opaque = 0
        """Bytes of a stream that isn't Zenoh, or not known to be."""
        self.held: list[tuple[int, Batch | Skipped]] = []
        """What a WebSocket held before its first message."""
        if forced:
            flow.verdict = Verdict.ZENOH

    def feed(self, item: Chunk | Gap) -> Iterable[tuple[int, Batch | Skipped]]:
        """(direction, batch or skipped bytes) that this item completes."""
        if self.flow.verdict in _ZENOH and isinstance(item, Chunk):
            direction = item.direction
            batch = self.sides[direction].cutter.whole(item)
            if batch is not None:
                self.opaque = 0
                return ((direction, batch),)
        return self.cut(item)

    def cut(self, item: Chunk | Gap) -> Iterator[tuple[int, Batch | Skipped]]:
        """What an item completes that isn't just a batch of its own."""
        if self.flow.verdict is Verdict.UNDECIDED:
            side = self.sides[item.direction]
            side.waiting.append(item)
            self.waiting.append(item)
            if isinstance(item, Gap):
                return
            side.size += len(item.data)
            yield from self.decide(item.direction, final=False)
        elif self.flow.verdict in _CUT:
            found = self.sides[item.direction].cutter.feed(item)
            self.opaque += len(item.data) if isinstance(item, Chunk) else 0
            yield from self.checked(item.direction, found)
        elif isinstance(item, Chunk):
            self.opaque += len(item.data)

    def close(self) -> Iterator[tuple[int, Batch | Skipped]]:
        """What is left when the connection, or the capture, ends."""
        for direction in (0, 1):
            if self.flow.verdict is Verdict.UNDECIDED and self.sides[direction].size:
                yield from self.decide(direction, final=True)
        if self.flow.verdict in _CUT:
            for direction, side in enumerate(self.sides):
                yield from self.checked(direction, side.cutter.close())

    def checked(self, direction: int, found: Iterator[Batch | Skipped]) -> Iterator[tuple[int, Batch | Skipped]]:
        """Passes on what was cut; of a WebSocket only once its first message turned out to be Zenoh."""
        for one in found:
            if self.flow.verdict is Verdict.WEBSOCKET:
                if isinstance(one, Skipped):
                    self.held.append((direction, one))
                    continue
                if detect.transport(one.buffer.data) is None:
                    self.flow.verdict = Verdict.OTHER
                    return
                self.flow.verdict = Verdict.ZENOH
                yield from self.held
            yield direction, one
        if self.flow.verdict in _ZENOH:
            self.opaque = 0

    def decide(self, direction: int, final: bool) -> Iterator[tuple[int, Batch | Skipped]]:
        """Looks at the first bytes of a direction; once there is a verdict, replays what waited in both."""
        verdict, framing = detect.stream(self.head(direction), self.expected, final, self.sides[direction].scanned)
        if verdict is Verdict.HTTP and (upgrade := is_upgrade(self.head(direction))) is not False:
            verdict = Verdict.UNDECIDED if upgrade is None and not final else Verdict.WEBSOCKET
        if verdict is Verdict.UNDECIDED:
            return
        self.flow.verdict = verdict
        if verdict is Verdict.WEBSOCKET:
            from zdissect.flow.websocket import WebSocketCutter  # only where there is a WebSocket

            self.flow.link = "ws"
            for side in self.sides:
                side.cutter = WebSocketCutter(DATAGRAM)
        waiting, self.waiting = self.waiting, []
        if verdict is Verdict.MIDDLE:
            for side in self.sides:
                side.cutter.lost = "the capture starts in the middle of a batch"
                side.cutter.framing = framing
        for side in self.sides:
            side.waiting = []
        for item in waiting:
            yield from self.feed(item)

    def reframe(self, direction: int, framing: Framing) -> None:
        """Takes over what a handshake agreed on: from the next batch of this direction on."""
        cutter = self.sides[direction].cutter
        cutter.unsure = framing == UNKNOWN
        if framing != UNKNOWN:
            cutter.framing = framing._replace(prefix=4 if framing.low_latency else 2)

    def head(self, direction: int) -> bytes:
        """The first bytes of a direction, up to the first hole."""
        pieces = []
        for item in self.sides[direction].waiting:
            if isinstance(item, Gap):
                break
            pieces.append(item.data)
        return b"".join(pieces)


_ZENOH = (Verdict.ZENOH, Verdict.MIDDLE)
_CUT = (*_ZENOH, Verdict.WEBSOCKET)
