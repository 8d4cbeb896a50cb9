"""Conversations: what two endpoints say to each other, cut into batches once it is known to be Zenoh."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from zdissect.flow import detect_datagram, misframed, other_protocols
from zdissect.flow.cutter import Cutter
from zdissect.flow.detect_stream import LOOK_AHEAD, Look, Looked, look
from zdissect.flow.framing import DATAGRAM, STREAM, UNKNOWN, Framing
from zdissect.flow.misframed import Misframing
from zdissect.flow.stream_buffer import Batch, Skipped
from zdissect.flow.unprefixed import SegmentCutter
from zdissect.flow.upgrade import is_upgrade
from zdissect.flow.verdict import Verdict
from zdissect.grammar.batch import LOW_LATENCY_PREFIX
from zdissect.records import Chunk, Endpoint, Frame, Gap

Begins = Callable[[int], bool]


def never(direction: int) -> bool:
    """Datagrams have no beginning that the capture could miss."""
    return False


@dataclass(slots=True)
class Flow:
    """A conversation. Direction 0 is from `ends[0]`, the side that opened it (or spoke first), to `ends[1]`."""

    id: str
    """`tcp.0`, `udp.3`, `raweth.0`: numbered per protocol in order of appearance."""
    link: str
    ends: tuple[Endpoint, Endpoint]
    verdict: Verdict = Verdict.UNDECIDED
    size: int = 0
    """Its payload bytes, each counted once, whatever they carry."""
    endings: list[tuple[int, str, int]] = field(default_factory=list)
    """(direction, `fin`, `rst`, `reused` or `capture`, time) of directions that ended, in order; UDP: `reused`."""
    numbered: tuple[str, int] = ("", 0)
    """The frame whose messages were numbered last."""
    index: int = 0
    """The number of the next message in it."""
    sent: list[int] = field(default_factory=lambda: [0, 0])
    """How many messages of each direction were numbered."""
    begins: Begins = never
    """Whether the capture holds a direction from its SYN on, possibly with gaps."""
    replaces: str = ""
    """The conversation that this one ended by taking its ports."""

    def place(self, frame: Frame, messages: int) -> int:
        """Numbers messages of a frame; returns the number of the first one. What comes late of a frame isn't separated
        by what other flows had in between."""
        if self.numbered != (frame.source, frame.number):
            self.numbered, self.index = (frame.source, frame.number), 0
        self.index += messages
        return self.index - messages


_OFTEN = 1024
"""First bytes of a stream that are looked at whenever more come. Of more, an eighth must have come since the last look:
else a stream in tiny segments would be read from its beginning for each of them."""
MOST_UNDECIDED = 4 * LOOK_AHEAD
"""Bytes of memory that wait for a verdict in a conversation; then it is decided by what there is."""
ITEM_BYTES = 300
"""Memory that a piece of a stream takes that waits, besides the bytes of its frame."""


@dataclass(slots=True)
class _Side:
    cutter: Cutter = field(default_factory=lambda: Cutter(STREAM))
    size: int = 0
    first_offset: int = 0
    """Stream offset at which it begins in the capture."""
    head: bytearray = field(default_factory=bytearray)
    """Before the verdict: its first bytes, up to the first gap."""
    holed: bool = False
    """Whether there was a gap."""
    seen: int = -1
    """How many of the first bytes there were at the last look."""
    looked: Looked = field(default_factory=Looked)
    """What earlier looks at them found."""
    meant: Framing = STREAM
    """How batches are framed until a handshake agrees on something."""
    known: bool = False
    """Whether the framing of the first batch has been checked."""


class StreamConversation:
    """A TCP connection: decides what it is, then cuts both directions into batches."""

    def __init__(self, flow: Flow, expected: bool) -> None:
        self.flow = flow
        self.expected = expected
        self.sides = (_Side(), _Side())
        self.ended = [False, False]
        self.waiting: list[Chunk | Gap] = []
        """What came before the verdict in both directions, in order..."""
        self.waits = 0
        """... and the memory that it takes."""
        self.opaque = 0
        """Bytes of a stream that isn't Zenoh, or isn't known to be."""
        self.held: list[tuple[int, Batch | Skipped]] = []
        """What came on a WebSocket before its first message..."""
        self.held_bytes = 0
        """... and the memory that it takes."""
        self.changed = False
        """Whether what is kept may have changed since it was counted."""

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
        """What an item completes, if it isn't exactly one batch."""
        self.changed = True
        if self.flow.verdict is Verdict.UNDECIDED:
            yield from self.wait(item)
        elif self.flow.verdict in _CUT:
            side = self.sides[item.direction]
            if not (item.offset or side.known) and isinstance(item, Chunk) and self.flow.verdict in _ZENOH:
                self.mean(side, misframed.of_stream(item.data) if self.flow.begins(item.direction) else None)
            cuttings = side.cutter.feed(item)
            self.opaque += len(item.data) if isinstance(item, Chunk) else 0
            yield from self.checked(item.direction, cuttings)
        elif isinstance(item, Chunk):
            self.opaque += len(item.data)

    def wait(self, item: Chunk | Gap) -> Iterator[tuple[int, Batch | Skipped]]:
        """Takes what comes before the verdict."""
        side = self.sides[item.direction]
        if not side.size and not side.holed:
            side.first_offset = item.offset
        self.waiting.append(item)
        self.waits += ITEM_BYTES + len(item.frame.data)
        if isinstance(item, Gap):
            side.holed = True
        else:
            side.size += len(item.data)
            if not side.holed:
                side.head += item.data
            fresh = len(side.head) - side.seen
            if side.seen < 0 or (fresh and (len(side.head) <= _OFTEN or fresh >= len(side.head) >> 3)):
                side.seen = len(side.head)
                yield from self.decide(item.direction, final=False)
        if self.waits > MOST_UNDECIDED and self.flow.verdict is Verdict.UNDECIDED:
            yield from self.decided()

    def decided(self) -> Iterator[tuple[int, Batch | Skipped]]:
        """Ends the wait for a verdict: what there is decides."""
        for direction in (0, 1):
            if self.flow.verdict is Verdict.UNDECIDED and self.sides[direction].size:
                yield from self.decide(direction, final=True)

    def close(self) -> Iterator[tuple[int, Batch | Skipped]]:
        """What is left when the connection, or the capture, ends."""
        yield from self.decided()
        if self.flow.verdict in _CUT:
            for direction, side in enumerate(self.sides):
                yield from self.checked(direction, side.cutter.close())
            if self.flow.verdict is Verdict.WEBSOCKET and self.expected and self.held:
                self.flow.verdict, self.opaque = Verdict.TEXT, 0
                yield from self.held

    def kept(self) -> int:
        """The memory that is taken by what can't be passed on yet."""
        self.changed = False
        first, second = self.sides
        return self.waits + self.held_bytes + first.cutter.kept + second.cutter.kept

    def relieve(self, frame: Frame) -> Iterator[tuple[int, Batch | Skipped]]:
        """Gives up what waits, because it takes too much memory: what there is decides, and batches end here."""
        yield from self.decided()
        if self.held:
            self.flow.verdict = Verdict.OTHER
            self.held, self.held_bytes = [], 0
        if self.flow.verdict in _CUT:
            for direction, side in enumerate(self.sides):
                if side.cutter.have or side.cutter.kept:
                    yield from self.checked(direction, side.cutter.gap(Gap(0, direction, 0, 0, frame, "limit")))

    def checked(self, direction: int, cuttings: Iterator[Batch | Skipped]) -> Iterator[tuple[int, Batch | Skipped]]:
        """Passes on what was cut; of a WebSocket only once it is known what its messages are."""
        for cutting in cuttings:
            if self.flow.verdict in _WEBSOCKET:
                self.held.append((direction, cutting))
                self.held_bytes += ITEM_BYTES + len(cutting.frame.data)
                self.flow.verdict = self.carried(cutting)
                if self.flow.verdict in _SHOWN:
                    yield from self.held
                if self.flow.verdict is not Verdict.WEBSOCKET:
                    self.held, self.held_bytes = [], 0
                continue
            if self.flow.verdict not in _ZENOH:
                return
            cutter = self.sides[direction].cutter
            if cutter.hint is not None and isinstance(cutting, Batch):
                cutting, cutter.hint = cutting._replace(hint=cutter.hint), None
            yield direction, cutting
        if self.flow.verdict in _SHOWN:
            self.opaque = 0

    def carried(self, cutting: Batch | Skipped) -> Verdict:
        """What a WebSocket carries, judged by one of its messages. On Zenoh's ports unknown content is shown."""
        known = self.flow.verdict
        if isinstance(cutting, Skipped):
            if other_protocols.is_remote_api(cutting.text):
                return Verdict.REMOTE_API
            return Verdict.TEXT if cutting.text and self.expected else known
        data = cutting.buffer.data
        if other_protocols.is_remote_api(data):
            return Verdict.REMOTE_API
        if self.expected or detect_datagram.transport(data) or misframed.of_datagram(data, DATAGRAM):
            return Verdict.ZENOH
        return Verdict.OTHER

    def decide(self, direction: int, final: bool) -> Iterator[tuple[int, Batch | Skipped]]:
        """Looks at the first bytes of a direction; once there is a verdict, replays what waited in both."""
        side = self.sides[direction]
        head = bytes(side.head)
        begins = not side.first_offset and bool(head) and self.flow.begins(direction)
        first_look = look(head, self.expected, final, side.looked, begins)
        verdict = first_look.verdict
        if verdict is Verdict.HTTP and (upgrade := is_upgrade(head)) is not False:
            verdict = Verdict.UNDECIDED if upgrade is None and not final else Verdict.WEBSOCKET
        if verdict is Verdict.UNDECIDED:
            return
        self.flow.verdict = verdict
        if verdict is Verdict.WEBSOCKET:
            from zdissect.flow.websocket import WebSocketCutter  # only where there is a WebSocket

            self.flow.link = "ws"
            for each in self.sides:
                each.cutter = WebSocketCutter(DATAGRAM)
        elif verdict in _ZENOH:
            self.begin(direction, first_look)
        waiting, self.waiting, self.waits = self.waiting, [], 0
        for each in self.sides:
            each.head.clear()
            each.looked = Looked()
        for item in waiting:
            yield from self.feed(item)

    def begin(self, direction: int, first_look: Look) -> None:
        """Sets where the batches of a direction begin, and how they are framed. What is found out in the middle of a
        stream holds for the other direction too, unless the capture has that from its first byte on."""
        for number, side in enumerate(self.sides):
            own = number == direction
            if own or (first_look.verdict is Verdict.MIDDLE and not self.flow.begins(number)):
                side.cutter.lost, side.cutter.framing = first_look.lost, first_look.framing
            if own:
                self.mean(side, first_look.hint)

    @staticmethod
    def mean(side: _Side, hint: Misframing | None) -> None:
        """Sets how a direction is framed, if that isn't as it should be."""
        side.known = True
        if hint is None:
            return
        side.meant = hint.framing
        side.cutter = Cutter(hint.framing) if hint.framing.prefix else SegmentCutter(hint.framing)
        side.cutter.hint = hint

    def reframe(self, direction: int, framing: Framing) -> None:
        """Sets the framing that a handshake agreed on, from the next batch of this direction on."""
        cutter, meant = self.sides[direction].cutter, self.sides[direction].meant
        cutter.unsure = framing == UNKNOWN
        if framing != UNKNOWN:
            prefix = LOW_LATENCY_PREFIX if framing.low_latency and meant.prefix else meant.prefix
            cutter.framing = framing._replace(prefix=prefix, big=meant.big)


_ZENOH = (Verdict.ZENOH, Verdict.MIDDLE)
_WEBSOCKET = (Verdict.WEBSOCKET, Verdict.TEXT)
_CUT = (*_ZENOH, *_WEBSOCKET)
_SHOWN = (*_ZENOH, Verdict.TEXT)
