"""A first look at a large capture, before it is shared out: which of its connections must be decoded together.

It puts TCP streams in order as decoding does, but decodes nothing beyond the first batch of each direction, where the
ends of a session name themselves. Connections with the same ports, or the same pair of ZenohIDs, are tied together;
everything that isn't plain TCP counts as one connection. If too little was tied together, decoding finds out.
"""

from collections.abc import Iterable, Iterator

from zdissect.flow.clock import EARLY_NS
from zdissect.flow.datagram_conversation import TRANSPORT, Known
from zdissect.flow.group_streams import ObservedStreams
from zdissect.flow.ticks import Ticks
from zdissect.grammar.flags import ID_BITS
from zdissect.grammar.transport import INIT
from zdissect.parallel.introductions import Introduction, zid_of
from zdissect.parallel.split import ALL, Moment, Split, shared_out
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Datagram, Endpoint, Frame, Segment, StreamItem

RECORD = 16
"""Bytes that a frame takes besides its own."""
MOST_LEAPS = 10_000
"""Most leaps of the clock, of which all groups are told; captures with more aren't split."""


class FirstLook:
    """The connections of a capture, whose frames are fed in order."""

    def __init__(self, options: Options) -> None:
        self.streams = ObservedStreams()
        self.pipeline = Pipeline(options, streams=self.streams)
        self.nodes: dict[tuple[Endpoint, Endpoint], int] = {}
        """A number for each pair of ends, in both orders; 0 stands for everything that isn't plain TCP."""
        self.sizes = [0]
        """Bytes of each of them."""
        self.parents = [0]
        """For each number, another one that it is tied to, or itself."""
        self.pairs: dict[frozenset[str], int] = {}
        """A number that these ZenohIDs belong to."""
        self.introductions: dict[int, Introduction | None] = {}
        """Connections that may still name their ends; None for those that have, or won't."""
        self.callers: dict[str, list[str | None]] = {}
        """The ZenohIDs in the INITs of UDP conversations."""
        self.moments: list[tuple[Moment, list[int]]] = []
        """The effects of connections on each other, and the numbers of the connections affected."""
        self.latest_ns = EARLY_NS
        self.last = Moment("", 0, 0, 0, 0)
        """The frame fed last."""
        self.places: list[int] = []
        """The frame that opened each connection, by the number of that: its position in the capture, from 1."""
        self.leaps = 0
        self.ticks = Ticks()

    def feed(self, frame: Frame) -> None:
        """Takes a frame."""
        frame, leap = self.clocked(frame)
        self.last = self.moment_of(frame, self.last.place + 1)._replace(leap=leap)
        self.take(frame)
        if len(self.streams.opened) > len(self.places):
            self.places.append(self.last.place)
        self.told_at(frame.now_ns)

    def passed(self, frame: Frame) -> None:
        """Takes what the time of a frame shows, a segment that was taken otherwise."""
        self.last = self.moment_of(frame, self.last.place + 1)
        self.pieces(self.streams.passed(frame.now_ns))
        self.told_at(frame.now_ns)

    def moment_of(self, frame: Frame, place: int) -> Moment:
        """A frame, as far as it matters to others."""
        self.latest_ns = max(self.latest_ns, frame.now_ns)
        return Moment(frame.source, frame.number, frame.ts_ns, frame.now_ns, self.latest_ns, place=place)

    def told_at(self, now_ns: int) -> None:
        """Records what others are to be told of at the last frame."""
        tick = self.ticks.feed(now_ns)
        if tick or self.last.leap or self.streams.looked or self.streams.dropped:
            self.moment(tick)

    def clocked(self, frame: Frame) -> tuple[Frame, tuple[int, str] | None]:
        """The frame by the clock of the capture, and its leap, if it is one. Raises ValueError if there are too many
        leaps to tell all groups.
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
        """Takes the content of a frame."""
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
        introductions = self.introductions
        for item in items:
            if introductions.get(item.stream, _NEW) is not None:
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
        introduction = self.introductions.get(item.stream)
        if introduction is None:
            introduction = self.introductions[item.stream] = Introduction(self.pipeline.conversation(item.stream))
        if introduction.feed(item):
            self.met(item.stream, introduction)

    def met(self, stream: int, introduction: Introduction) -> None:
        """Stops looking for the names of a connection's ends."""
        self.introductions[stream] = None
        self.called(introduction.names, self.nodes[self.streams.opened[stream]])

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
        names[direction] = zid_of(known.datagram.payload, known.framing) or names[direction]
        self.called(names, 0)

    def moment(self, tick: bool) -> None:
        """Records the effect of the last frame on connections that it doesn't belong to."""
        looked, dropped = self.streams.looked, self.streams.dropped
        moment = self.last._replace(look=bool(looked), tick=tick, drop=tuple(dropped))
        self.moments.append((moment, [*looked]))
        looked.clear()
        dropped.clear()

    def tie(self, node: int, other: int) -> None:
        """Ties two numbers together."""
        node, other = self.root(node), self.root(other)
        self.parents[max(node, other)] = min(node, other)

    def root(self, node: int) -> int:
        """The number that stands for all that are tied together."""
        parents = self.parents
        while parents[node] != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    def split(self, most: int) -> Split:
        """The capture, which has ended, in at most `most` groups."""
        self.pieces(self.streams.close())
        self.heard(self.pipeline.datagrams.close())
        for stream, introduction in list(self.introductions.items()):
            if introduction is not None:
                introduction.close()
                self.met(stream, introduction)
        roots = [self.root(node) for node in range(len(self.parents))]
        groups, sizes = shared_out(roots, self.sizes, most)
        numbers: list[list[int]] = [[] for _ in sizes]
        owner = [groups[self.nodes[ends]] for ends in self.streams.opened]
        for stream, group in enumerate(owner):
            numbers[group].append(stream)
        ends = {(src, dst): groups[node] for (src, dst), node in self.nodes.items() if groups[node]}
        moments = list(self.told(owner, len(sizes)))
        pairs: list[list[list[str]]] = [[] for _ in sizes]
        for pair, node in self.pairs.items():
            pairs[groups[node]].append(sorted(pair))
        return Split(ends, sizes, numbers, self.last, moments, sorted(self.pipeline.options.udp_ports), pairs)

    def told(self, owner: list[int], count: int) -> Iterator[tuple[int, Moment]]:
        """(group, moment) for everything that a group must know about the others, in order."""
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


_NEW = object()
