"""From frames to dissections: the only place that wires the layers together.

A `Pipeline` is fed one frame at a time, in the order of the capture, and returns what that frame completes. It holds
all state of a capture, does no I/O, and is the same for the command line and for bulk conversion.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from zdissect.dissection import Dissection, Item, Skip
from zdissect.engine.compiler import Reader
from zdissect.engine.interpreter import interpret
from zdissect.engine.lazy import lazy_messages
from zdissect.engine.messages import Message, add_findings, inherit, messages, nameless
from zdissect.engine.tape import Buffer
from zdissect.flow import detect, hints
from zdissect.flow.batch import Batch, Skipped
from zdissect.flow.causal import Causal
from zdissect.flow.conversation import Flow, StreamConversation
from zdissect.flow.datagrams import SCOUTING, Datagrams, Known, buffer_of
from zdissect.flow.decode import decode
from zdissect.flow.framing import DATAGRAM
from zdissect.flow.hints import Hint
from zdissect.flow.link import Decoder
from zdissect.flow.tcp import Streams
from zdissect.flow.verdict import Verdict
from zdissect.grammar.batch import NETWORK_MESSAGE, SCOUTING_DATAGRAM
from zdissect.records import Chunk, Datagram, End, Frame, Gap, Overlap, StreamItem
from zdissect.session.fragments import Assembled
from zdissect.session.session import Link
from zdissect.session.state import Sessions


@dataclass(frozen=True, slots=True)
class Options:
    """What the user knows better than the capture."""

    tcp_ports: frozenset[int] = frozenset()
    """TCP ports whose connections are Zenoh, whatever they look like."""
    udp_ports: frozenset[int] = frozenset()
    """The same for UDP."""
    rows: bool = False
    """Only rows are wanted: plain batches are read by the compiled functions and have no tape unless asked for."""
    history: bool = False
    """Keep the links that ended, for statistics."""


@dataclass(slots=True)
class Pipeline:
    """The stages of one capture, and their state."""

    options: Options = field(default_factory=Options)
    captured: int = 0
    """Payload bytes of all TCP segments and UDP datagrams, retransmitted ones too."""
    delivered: int = 0
    """Bytes of all TCP streams: payload without what was retransmitted or belonged to no connection."""
    decoder: Decoder = field(default_factory=Decoder)
    streams: Streams = field(default_factory=Streams)
    causal: Causal = field(init=False)
    conversations: dict[int, StreamConversation] = field(default_factory=dict)
    datagrams: Datagrams = field(init=False)
    reader: Reader = field(default_factory=Reader)
    sessions: Sessions = field(default_factory=Sessions)
    gone: Counter[str] = field(default_factory=Counter)
    """Connections that ended and weren't Zenoh, by what they were."""
    opaque: Counter[str] = field(default_factory=Counter)
    """Their bytes."""
    links: list[Link] = field(default_factory=list)
    """Links that ended, if `Options.history` asks to keep them."""

    def __post_init__(self) -> None:
        ports = frozenset({detect.ZENOH_PORT, detect.SCOUTING_PORT})
        self.datagrams = Datagrams(ports | self.options.udp_ports, self.options.udp_ports)
        self.causal = Causal(self.streams.first)

    def feed(self, frame: Frame) -> list[Item]:
        """What this frame completes, in order."""
        packet = self.decoder.feed(frame)
        if packet is None:
            return []
        self.captured += len(packet.payload)
        out: list[Item] = []
        if isinstance(packet, Datagram):
            for known in self.datagrams.feed(packet):
                self.datagram(known, out)
        else:
            for item in self.causal.feed(packet, self.streams.feed(packet)):
                self.stream(item, out)
        return out

    def late(self, items: list[StreamItem], now_ns: int) -> list[Item]:
        """What pieces of TCP streams complete that came because of segments that were fed elsewhere."""
        out: list[Item] = []
        for item in self.causal.late(items, now_ns):
            self.stream(item, out)
        return out

    def close(self) -> list[Item]:
        """What is left when the capture ends."""
        out: list[Item] = []
        for item in self.causal.close(self.streams.close()):
            self.stream(item, out)
        for stream in list(self.conversations):
            self.end(stream, out)
        for known in self.datagrams.close():
            self.datagram(known, out)
        return out

    def others(self) -> Counter[str]:
        """Conversations that aren't Zenoh, by what they are."""
        flows = [one.flow for one in self.conversations.values()]
        flows += [one.flow for one in self.datagrams.conversations.values()]
        return self.gone + Counter(flow.verdict.value for flow in flows if flow.verdict in _NAMED)

    def stream(self, item: StreamItem, out: list[Item]) -> None:
        """Adds what a piece of a TCP stream completes."""
        conversation = self.conversations.get(item.stream)
        if conversation is None:
            if isinstance(item, End):
                return
            conversation = self.conversations[item.stream] = self.conversation(item.stream)
        if isinstance(item, Chunk | Gap):
            if isinstance(item, Chunk):
                self.delivered += len(item.data)
                conversation.flow.size += len(item.data)
            self.batches(conversation, conversation.feed(item), out)
        elif isinstance(item, Overlap):
            why = "retransmitted with other bytes than before; the first ones are kept"
            flow = conversation.flow
            out.append(Skip(item.frame, flow, item.direction, item.offset, item.size, b"", why, "tcp-overlap"))
        else:
            conversation.ended[item.direction] = True
            self.sessions.ending(conversation.flow.id)
            ended_ns = item.frame.ts_ns if item.frame is not None else 0
            conversation.flow.endings.append((item.direction, item.reason, ended_ns))
            if all(conversation.ended):
                self.end(item.stream, out)

    def end(self, stream: int, out: list[Item]) -> None:
        """A TCP connection, or the capture, has ended."""
        conversation = self.conversations.pop(stream)
        self.batches(conversation, conversation.close(), out)
        link = self.sessions.end(conversation.flow.id)
        if link is not None and self.options.history:
            self.links.append(link)
        if conversation.flow.verdict in _NAMED:
            self.gone[conversation.flow.verdict.value] += 1
            self.opaque[conversation.flow.verdict.value] += conversation.opaque

    def conversation(self, stream: int) -> StreamConversation:
        """A new TCP connection."""
        ends = self.streams.ends(stream)
        ports = {end.port for end in ends}
        flow = Flow(f"tcp.{stream}", "tcp", ends)
        return StreamConversation(flow, detect.ZENOH_PORT in ports, bool(ports & self.options.tcp_ports))

    def batches(
        self, conversation: StreamConversation, found: Iterable[tuple[int, Batch | Skipped]], out: list[Item]
    ) -> None:
        """Dissects what a conversation was cut into. The framing may change between two batches."""
        flow = conversation.flow
        for direction, one in found:
            if isinstance(one, Skipped):
                skip = Skip(one.frame, flow, direction, one.offset, one.size, one.data, one.reason, one.code)
                if skip.code:
                    self.sessions.skip(skip)
                out.append(skip)
                continue
            item = Dissection(one.frame, one.frames, flow, direction, one.buffer, _EMPTY, one.framing, one.missing)
            self.dissect(item, _WHY.get(one.missing, ""), out)
            framing = self.sessions.framing(flow.id, direction)
            if framing is not None:
                conversation.reframe(direction, framing)

    def datagram(self, known: Known, out: list[Item]) -> None:
        """Dissects a datagram that is known to be Zenoh."""
        conversation, one, kind, framing = known
        flow, direction = conversation.flow, conversation.direction(one)
        item = Dissection(one.frame, one.frames, flow, direction, buffer_of(one), _EMPTY, framing)
        item.missing = "cut" if one.missing else ""
        if kind == SCOUTING:
            item.tape = interpret(SCOUTING_DATAGRAM, one.payload, cut=bool(one.missing))
            item.scouting = True
            self.known(item, out)
            return
        self.dissect(item, f"{one.missing} bytes more were on the wire", out)
        agreed = self.sessions.framing(flow.id, direction)
        if agreed is not None:
            conversation.framings[direction] = agreed

    def dissect(self, item: Dissection, why: str, out: list[Item]) -> None:
        """Decodes a batch; a compressed one gives two dissections, the batch and what it holds."""
        data, framing = item.buffer.data, item.framing
        if self.options.rows and data and not (item.missing or framing.compression or framing.low_latency):
            cells = self.reader.batch(data, framing.prefix)
            if cells is not None:
                item.tape, found = lazy_messages(data, framing.prefix, cells)
                self.known(item, out, found)
                return
        limit = self.sessions.batch_limit(item.flow.id)
        item.tape, plain, inner = decode(data, item.framing, cut=bool(item.missing), limit=limit)
        self.sessions.framed(item)
        if item.missing:
            item.tape.remarks.append((MISSING[item.missing], len(data), len(data), why))
        if plain is None or inner is None:
            if not (item.missing or framing.prefix) and hints.doubtful(data, item.tape):
                self.hint(item, hints.of_datagram(data, framing))
            self.known(item, out)
            return
        out.append(item)
        plain.origin = item.buffer.origin
        content = Dissection(item.frame, item.frames, item.flow, item.direction, plain, inner, DATAGRAM)
        size = len(data) - item.framing.prefix - 1
        content.origin = f"decompressed from {size} bytes, ratio {len(plain.data) / max(size, 1):.2f}"
        self.known(content, out, outer=item)

    @staticmethod
    def hint(item: Dissection, hint: Hint | None) -> None:
        """Reads a batch as it is meant, if that is known."""
        if not item.buffer.data:
            item.tape.remarks.append(("truncated", 0, 0, "nothing is in it"))
        elif hint is not None:
            item.tape, item.framing, item.scouting = hint.tape(item.buffer.data), hint.framing, hint.scouts

    def known(
        self, item: Dissection, out: list[Item], found: list[Message] | None = None, outer: Dissection | None = None
    ) -> None:
        """Adds what the session knows; then come the messages that fragments of this batch complete."""
        item.messages = messages(item.tape) if found is None else found
        whole = self.sessions.feed(item)
        if item.tape.remarks:
            item.messages = [message for message in item.messages if not message.repeated]
            if not item.messages:
                item.messages = nameless(item.tape, "scouting" if item.scouting else "transport")
            add_findings(item.tape, item.messages)
        if outer is not None:
            add_findings(outer.tape, item.messages)
            for message in item.messages:
                message.row["compressed"] = True
        out.append(item)
        out += [self.assembled(item, one) for one in whole]

    def assembled(self, item: Dissection, whole: Assembled) -> Dissection:
        """A message that was put together from fragments."""
        buffer = Buffer("reassembled", whole.data, whole.origin)
        tape = interpret(NETWORK_MESSAGE, whole.data)
        out = Dissection(item.frame, tuple(whole.frames), item.flow, item.direction, buffer, tape, DATAGRAM)
        out.origin = f"reassembled from {whole.pieces} fragments"
        out.messages = messages(tape)
        for message in out.messages:
            message.row["fragments"] = whole.frames
            inherit(message.row, whole.channel)
        self.sessions.assembled(out)
        out.messages = out.messages or nameless(tape, "network")
        add_findings(tape, out.messages)
        return out


_NAMED = frozenset(Verdict) - {Verdict.ZENOH, Verdict.MIDDLE, Verdict.UNDECIDED}
_EMPTY = interpret(NETWORK_MESSAGE, b"", cut=True)
MISSING = {"cut": "cut-by-capture", "lost": "torn-batch", "end": "stream-ends"}
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
