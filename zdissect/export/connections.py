"""A first look at a large capture: which of its connections must be decoded together.

It puts TCP streams in order as decoding does, but decodes nothing beyond the first batch of each direction, where the
ends of a session name themselves. Connections are tied together that share their ports, or their pair of ZenohIDs;
what isn't plain TCP is one more thing to be tied to. What was tied together too little shows when it is decoded.
"""

from collections.abc import Iterable, Iterator

from zdissect.engine.messages import messages
from zdissect.export.groups import ALL, Moment, Split, shared_out
from zdissect.flow.beginning import LOOK_AHEAD
from zdissect.flow.clock import EARLY_NS
from zdissect.flow.conversation import StreamConversation
from zdissect.flow.decode import decode
from zdissect.flow.dialogue import TRANSPORT, Known
from zdissect.flow.framing import Framing
from zdissect.flow.partial import Observed
from zdissect.flow.stream_buffer import Batch, Skipped
from zdissect.flow.ticks import Ticks
from zdissect.flow.verdict import Verdict
from zdissect.grammar.flags import ID_BITS
from zdissect.grammar.transport import INIT
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Chunk, Datagram, Endpoint, Frame, Gap, Overlap, Segment, StreamEnd, StreamItem

RECORD = 16
"""Bytes that a frame takes besides its own."""
MOST_LEAPS = 10_000
"""Leaps of the clock that all groups are told of. Captures with more aren't split."""
_OPEN = (Verdict.UNDECIDED, Verdict.ZENOH, Verdict.WEBSOCKET)


class Connections:
    """The connections of a capture, whose frames are fed in order."""

    def __init__(self, options: Options) -> None:
        self.streams = Observed()
        self.pipeline = Pipeline(options, streams=self.streams)
        self.nodes: dict[tuple[Endpoint, Endpoint], int] = {}
        """A number for each pair of ends, in both orders; 0 is all that isn't plain TCP."""
        self.sizes = [0]
        """Bytes of each of them."""
        self.parents = [0]
        """Another one that each is tied to, or itself."""
        self.pairs: dict[frozenset[str], int] = {}
        """One that names these ZenohIDs."""
        self.greetings: dict[int, _Greeting | None] = {}
        """Connections that may still say who they are; None for those that have, or won't."""
        self.callers: dict[str, list[str | None]] = {}
        """What the ends of UDP conversations called themselves."""
        self.moments: list[tuple[Moment, list[int]]] = []
        """What connections did to each other; the numbers of those whose deadlines it was."""
        self.latest_ns = EARLY_NS
        self.last = Moment("", 0, 0, 0, 0)
        """The frame fed last."""
        self.leaps = 0
        self.ticks = Ticks()

    def feed(self, frame: Frame) -> None:
        """Takes a frame."""
        frame, leap = self.clocked(frame)
        self.latest_ns = max(self.latest_ns, frame.now_ns)
        self.last = Moment(frame.source, frame.number, frame.ts_ns, frame.now_ns, self.latest_ns, leap=leap)
        self.take(frame)
        tick = self.ticks.feed(frame.now_ns)
        if tick or leap or self.streams.looked or self.streams.dropped:
            self.moment(tick)

    def clocked(self, frame: Frame) -> tuple[Frame, tuple[int, str] | None]:
        """The frame by the clock of the capture, and the leap that this one makes, if any. Raises ValueError if there
        are too many to tell all groups.
        """
        clock = self.pipeline.clock
        shift = clock.shift
        frame = clock.feed(frame)
        if shift == clock.shift and not clock.told:
            return frame, None
        self.leaps += 1
        if self.leaps > MOST_LEAPS:
            raise ValueError("too many leaps")
        return frame, (clock.shift, clock.told)

    def take(self, frame: Frame) -> None:
        """Takes what is in a frame."""
        packet = self.pipeline.decoder.feed(frame)
        size = len(frame.data) + RECORD
        if not isinstance(packet, Segment):
            self.sizes[0] += size
            if packet is not None:
                self.datagram(packet)
            return
        node = self.nodes.get((packet.src, packet.dst)) or self.node(packet.src, packet.dst)
        self.sizes[node] += size
        if packet.offset < 0:
            self.tie(node, 0)
        self.pieces(self.streams.feed(packet))

    def pieces(self, items: list[StreamItem]) -> None:
        """Takes pieces of streams."""
        greetings = self.greetings
        for item in items:
            if greetings.get(item.stream, _NEW) is not None:
                self.greet(item)

    def node(self, src: Endpoint, dst: Endpoint) -> int:
        """The number of a new pair of ends."""
        node = len(self.parents)
        self.parents.append(node)
        self.sizes.append(0)
        self.nodes[src, dst] = self.nodes[dst, src] = node
        return node

    def greet(self, item: StreamItem) -> None:
        """Takes a piece of a stream whose ends aren't known yet."""
        greeting = self.greetings.get(item.stream)
        if greeting is None:
            greeting = self.greetings[item.stream] = _Greeting(self.pipeline.conversation(item.stream))
        if greeting.feed(item):
            self.met(item.stream, greeting)

    def met(self, stream: int, greeting: "_Greeting") -> None:
        """Stops looking for who the ends of a connection are."""
        self.greetings[stream] = None
        self.called(greeting.names, self.nodes[self.streams.opened[stream]])

    def called(self, names: list[str | None], node: int) -> None:
        """Ties together all with the same two names."""
        pair = frozenset(name for name in names if name is not None)
        if None not in names:
            self.tie(node, self.pairs.setdefault(pair, node))

    def datagram(self, datagram: Datagram) -> None:
        """Takes a datagram."""
        self.heard(self.pipeline.datagrams.feed(datagram))

    def heard(self, datagrams: Iterable[Known]) -> None:
        """Takes datagrams that are known to be Zenoh."""
        for known in datagrams:
            # the byte before an INIT says that it isn't compressed, if there is one
            if known.kind == TRANSPORT and INIT.id in (byte & ID_BITS for byte in known.datagram.payload[:2]):
                self.call(known)

    def call(self, known: Known) -> None:
        """Takes a datagram that may hold an INIT."""
        direction = known.conversation.direction(known.datagram)
        names = self.callers.setdefault(known.conversation.flow.id, [None, None])
        names[direction] = name(known.datagram.payload, known.framing) or names[direction]
        self.called(names, 0)

    def moment(self, tick: bool) -> None:
        """Writes down what the frame fed last did to connections that it doesn't belong to."""
        looked, dropped = self.streams.looked, self.streams.dropped
        moment = self.last._replace(look=bool(looked), tick=tick, drop=tuple(dropped))
        self.moments.append((moment, [*looked]))
        looked.clear()
        dropped.clear()

    def tie(self, one: int, other: int) -> None:
        """Ties both together."""
        one, other = self.root(one), self.root(other)
        self.parents[max(one, other)] = min(one, other)

    def root(self, node: int) -> int:
        """The first one of those that belong together."""
        parents = self.parents
        while parents[node] != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    def split(self, most: int) -> Split:
        """The capture, which has ended, in at most so many groups."""
        self.pieces(self.streams.close())
        self.heard(self.pipeline.datagrams.close())
        for stream, greeting in list(self.greetings.items()):
            if greeting is not None:
                greeting.close()
                self.met(stream, greeting)
        roots = [self.root(node) for node in range(len(self.parents))]
        groups, sizes = shared_out(roots, self.sizes, most)
        numbers: list[list[int]] = [[] for _ in sizes]
        owner = [groups[self.nodes[ends]] for ends in self.streams.opened]
        for stream, group in enumerate(owner):
            numbers[group].append(stream)
        ends = {(src, dst): groups[node] for (src, dst), node in self.nodes.items() if groups[node]}
        moments = list(self.told(owner, len(sizes)))
        return Split(ends, sizes, numbers, self.last, moments, sorted(self.pipeline.options.udp_ports))

    def told(self, owner: list[int], count: int) -> Iterator[tuple[int, Moment]]:
        """What each group has to be told of the others: (group, moment), in order."""
        for moment, looked in self.moments:
            if not (looked or moment.drop):
                yield ALL, moment
                continue
            looking = {owner[stream] for stream in looked}
            dropping: dict[int, list[int]] = {}
            for stream in moment.drop:
                dropping.setdefault(owner[stream], []).append(stream)
            for group in range(count) if moment.tick or moment.leap else sorted(looking | dropping.keys()):
                yield group, moment._replace(look=group in looking, drop=tuple(dropping.get(group, ())))


class _Greeting:
    """A connection whose ends aren't known yet."""

    def __init__(self, conversation: StreamConversation) -> None:
        self.conversation = conversation
        self.names: list[str | None] = [None, None]
        self.heard = [False, False]
        self.ended = [False, False]
        self.size = 0

    def feed(self, item: StreamItem) -> bool:
        """Takes a piece of a stream; returns whether nothing more is to be found out."""
        if isinstance(item, Chunk | Gap):
            self.size += len(item.data) if isinstance(item, Chunk) else 0
            self.take(self.conversation.feed(item))
        elif isinstance(item, StreamEnd):
            self.ended[item.direction] = True
            if all(self.ended):
                self.close()
                return True
        elif isinstance(item, Overlap):
            return False
        return all(self.heard) or self.size > 2 * LOOK_AHEAD or self.conversation.flow.verdict not in _OPEN

    def close(self) -> None:
        """Takes what is left when the connection, or the capture, ends."""
        self.take(self.conversation.close())

    def take(self, found: Iterable[tuple[int, Batch | Skipped]]) -> None:
        """Looks into the batches that the connection was cut into."""
        for direction, one in found:
            self.heard[direction] = True
            if not isinstance(one, Skipped) and self.names[direction] is None:
                self.names[direction] = name(one.buffer.data, one.framing)


def name(data: bytes, framing: Framing) -> str | None:
    """The ZenohID in an INIT in a batch."""
    for message in messages(decode(data, framing).content):
        if message.row["message"].startswith("INIT"):
            zid: str | None = message.row.get("zid")
            return zid
    return None


def look(frames: Iterable[Frame], options: Options, most: int) -> str:
    """A capture in so many groups at most, as JSON; empty if it can't be split."""
    connections = Connections(options)
    try:
        for frame in frames:
            connections.feed(frame)
        split = connections.split(most)
    except Exception:  # what is wrong shows when the whole is decoded
        return ""
    return split.json() if len(split.sizes) > 1 else ""


_NEW = object()
