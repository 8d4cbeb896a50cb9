"""From frames to dissections: the only place that wires the layers together.

A `Pipeline` is fed one frame at a time, in the order of the capture, and returns what that frame completes. It holds
all state of a capture, does no I/O, and is the same for the command line and for bulk conversion.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Buffer, Tape
from zdissect.flow import detect
from zdissect.flow.batch import Batch, Skipped
from zdissect.flow.conversation import Flow, StreamConversation
from zdissect.flow.datagrams import SCOUTING, DatagramConversation, Datagrams, buffer_of
from zdissect.flow.detect import Verdict
from zdissect.flow.framing import DATAGRAM, Framing
from zdissect.flow.link import Decoder
from zdissect.flow.tcp import Streams
from zdissect.grammar.batch import BATCH, SCOUTING_DATAGRAM
from zdissect.records import Chunk, Datagram, End, Frame, Gap, Segment, StreamItem


@dataclass(frozen=True, slots=True)
class Options:
    """What the user knows better than the capture."""

    tcp_ports: frozenset[int] = frozenset()
    """TCP ports whose connections are Zenoh, whatever they look like."""
    udp_ports: frozenset[int] = frozenset()
    """The same for UDP."""


@dataclass(slots=True)
class Dissection:
    """One batch or datagram, dissected."""

    frame: Frame
    """The frame that completes it."""
    frames: tuple[int, ...]
    """Numbers of all frames that it came from."""
    flow: Flow
    direction: int
    """0: sent by the side that opened the conversation."""
    buffer: Buffer
    tape: Tape
    framing: Framing
    missing: str = ""
    """Why its end isn't there: `cut` or `lost` (see Gap), `end` (of the stream); empty if it is whole."""


@dataclass(slots=True)
class Skip:
    """Bytes of a Zenoh stream that aren't dissected."""

    frame: Frame
    flow: Flow
    direction: int
    offset: int
    """Stream offset of the first byte."""
    size: int
    data: bytes
    """The bytes; empty if the capture doesn't hold them."""
    reason: str


Item = Dissection | Skip


@dataclass(slots=True)
class Pipeline:
    """The stages of one capture, and their state."""

    options: Options = field(default_factory=Options)
    decoder: Decoder = field(default_factory=Decoder)
    streams: Streams = field(default_factory=Streams)
    conversations: dict[int, StreamConversation] = field(default_factory=dict)
    datagrams: Datagrams = field(init=False)
    gone: Counter[str] = field(default_factory=Counter)
    """Connections that ended and weren't Zenoh, by what they were."""

    def __post_init__(self) -> None:
        ports = frozenset({detect.ZENOH_PORT, detect.SCOUTING_PORT})
        self.datagrams = Datagrams(ports | self.options.udp_ports, self.options.udp_ports)

    def feed(self, frame: Frame) -> list[Item]:
        """What this frame completes, in order."""
        packet = self.decoder.feed(frame)
        if packet is None:
            return []
        if isinstance(packet, Datagram):
            return list(self.datagram(packet))
        items = self.streams.feed(packet)
        return [one for item in items for one in self.stream(item, packet)] if items else []

    def close(self) -> list[Item]:
        """What is left when the capture ends."""
        out = [one for item in self.streams.close() for one in self.stream(item, None)]
        for conversation in self.conversations.values():
            out += self.batches(conversation, conversation.close())
        for stream in list(self.conversations):
            self.forget(stream)
        return out

    def forget(self, stream: int) -> None:
        """Drops a TCP connection that has ended, but counts what it was."""
        verdict = self.conversations.pop(stream).flow.verdict
        if verdict in _NAMED:
            self.gone[verdict.value] += 1

    def others(self) -> Counter[str]:
        """Conversations that aren't Zenoh, by what they are."""
        flows = [one.flow for one in (*self.conversations.values(), *self.datagrams.conversations.values())]
        named = Counter(flow.verdict.value for flow in flows if flow.verdict in _NAMED)
        return self.gone + named

    def stream(self, item: StreamItem, segment: Segment | None) -> Iterator[Item]:
        """What a piece of a TCP stream completes."""
        conversation = self.conversations.get(item.stream)
        if conversation is None:
            if not isinstance(item, Chunk | Gap):
                return
            conversation = self.conversations[item.stream] = self.conversation(item.stream)
        if isinstance(item, Chunk | Gap):
            yield from self.batches(conversation, conversation.feed(item))
        elif isinstance(item, End):
            conversation.ended[item.direction] = True
            if all(conversation.ended):
                yield from self.batches(conversation, conversation.close())
                self.forget(item.stream)

    def conversation(self, stream: int) -> StreamConversation:
        """A new TCP connection."""
        ends = self.streams.ends(stream)
        ports = {end.port for end in ends}
        flow = Flow(f"tcp.{stream}", "tcp", ends)
        return StreamConversation(flow, detect.ZENOH_PORT in ports, bool(ports & self.options.tcp_ports))

    def batches(self, conversation: StreamConversation, found: Iterable[tuple[int, Batch | Skipped]]) -> Iterator[Item]:
        """Dissects what a conversation was cut into."""
        flow = conversation.flow
        for direction, one in found:
            if isinstance(one, Skipped):
                yield Skip(one.frame, flow, direction, one.offset, one.size, one.data, one.reason)
                continue
            tape = interpret(BATCH, one.buffer.data, cut=bool(one.missing), **one.framing.inputs)
            if one.missing:
                end = len(one.buffer.data)
                tape.remarks.append((MISSING[one.missing], end, end, _WHY[one.missing]))
            yield Dissection(one.frame, one.frames, flow, direction, one.buffer, tape, one.framing, one.missing)

    def datagram(self, datagram: Datagram) -> Iterator[Item]:
        """Dissects a datagram, and those before it that it proves to be Zenoh."""
        for conversation, one, kind in self.datagrams.feed(datagram):
            yield self.dissect(conversation, one, kind)

    def dissect(self, conversation: DatagramConversation, one: Datagram, kind: str) -> Dissection:
        """One datagram."""
        buffer = buffer_of(one)
        cut = one.missing > 0
        direction = conversation.direction(one)
        framing = DATAGRAM if kind == SCOUTING else conversation.framings[direction]
        if kind == SCOUTING:
            tape = interpret(SCOUTING_DATAGRAM, buffer.data, cut=cut)
        else:
            tape = interpret(BATCH, buffer.data, cut=cut, **framing.inputs)
        if cut:
            end = len(buffer.data)
            tape.remarks.append(("cut-by-capture", end, end, f"{one.missing} bytes more were on the wire"))
        return Dissection(
            one.frame, one.frames, conversation.flow, direction, buffer, tape, framing, "cut" if cut else ""
        )


_NAMED = (Verdict.TLS, Verdict.QUIC, Verdict.HTTP, Verdict.OTHER)
MISSING = {"cut": "cut-by-capture", "lost": "tcp-gap", "end": "stream-ends"}
_WHY = {
    "cut": "the rest was cut off by the capture (snap length)",
    "lost": "the rest isn't in the capture",
    "end": "the stream ends in the middle of a batch",
}


def dissect(frames: Iterable[Frame], options: Options | None = None) -> Iterator[Item]:
    """Dissects the frames of a capture, in order: the library's main entrance."""
    pipeline = Pipeline(options or Options())
    for frame in frames:
        yield from pipeline.feed(frame)
    yield from pipeline.close()
