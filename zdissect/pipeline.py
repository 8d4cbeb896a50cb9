"""From frames to dissections: the only place that wires the layers together.

A `Pipeline` is fed one frame at a time, in the order of the capture, and returns what that frame completes, or gives it
in parts. It holds all state of a capture, does no I/O, and is the same for the command line and for bulk conversion.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from operator import attrgetter

from zdissect.dissection import (
    ITSELF,
    LEAP,
    LOOK,
    Dissection,
    Item,
    Notice,
    RankedPart,
    Skip,
    due_ns,
    parts_of,
    ticked,
)
from zdissect.dissector import EMPTY, WHY
from zdissect.engine.interpreter import interpret
from zdissect.flow.conversation import Flow, StreamConversation
from zdissect.flow.datagram_conversation import COPY, SCOUTING, DatagramConversation, Known
from zdissect.flow.datagrams import buffer_of
from zdissect.flow.stream_buffer import Batch, Skipped
from zdissect.grammar.batch import SCOUTING_DATAGRAM
from zdissect.grammar.ports import ZENOH_PORT
from zdissect.limits import Options as Options
from zdissect.records import Chunk, Datagram, Frame, Gap, Overlap, Segment, StreamEnd, StreamItem
from zdissect.stages import OTHERS as OTHERS
from zdissect.stages import PipelineStages


class Pipeline(PipelineStages):
    """The stages of one capture, and their state."""

    __slots__ = ()

    def feed(self, frame: Frame) -> list[Item]:
        """What this frame completes, in order, and what it shows to be overdue."""
        return [item for _, items in self.ranked(frame) for item in items]

    def begun(self, frame: Frame) -> Iterator[Item]:
        """The same, made as it is taken, once the frame is decoded. All of it is to be taken before the next frame."""
        parts = self.ranked(frame)
        first = next(parts, (ITSELF, []))
        return (item for _, items in chain([first], parts) for item in items)

    def ranked(self, frame: Frame) -> Iterator[RankedPart]:
        """The same with ranks, in parts: what a frame brings may take far more memory than the frame. All of it is to
        be taken before the next frame."""
        self.last = frame = self.clock.feed(frame)
        tick = self.ticks.feed(frame.now_ns)
        packet = self.decoder.feed(frame)
        if packet is not None:
            self.captured += len(packet.payload)
            brought = self.segment(packet) if isinstance(packet, Segment) else self.received(packet)
            yield from self.leapt(packet, brought) if self.clock.told else brought
            if self.reached and (flow := self.flow(packet)) is not None:
                texts, self.reached[:] = [*self.reached], []
                side = int(packet.src != flow.ends[0])
                yield ITSELF, [Notice(frame, flow, side, text, "limit") for text in texts]
        if tick:
            yield from ticked(self.made(self.tick, frame))

    def leapt(self, packet: Segment | Datagram, parts: Iterator[RankedPart]) -> Iterator[RankedPart]:
        """What a frame brings at which the clock has leapt: first that it has."""
        first = next(parts, None)
        if (flow := self.flow(packet)) is not None:
            side = int(packet.src != flow.ends[0])
            yield (LEAP, 0), [Notice(packet.frame, flow, side, self.clock.told, "time-leap")]
        if first is not None:
            yield first
            yield from parts

    def passed(self, ts_ns: int) -> list[Item]:
        """What is overdue, or waits no longer, at a time until which no further frame has come, in a live capture."""
        out: list[Item] = []
        if self.last is None or ts_ns <= self.last.ts_ns:
            return out
        frame = self.clock.feed(Frame(self.last.source, self.last.number, ts_ns, self.last.link, 0, b""))
        now_ns = frame.now_ns
        out += self.streamed(self.causal.passed(self.streams.passed(now_ns), now_ns))
        if self.ticks.feed(now_ns):
            self.tick(frame, out)
        return out

    def flow(self, packet: Segment | Datagram) -> Flow | None:
        """The conversation of the packet that was fed last."""
        if isinstance(packet, Datagram):
            return self.datagrams.conversation(packet).flow
        connection = self.streams.stream(packet.src, packet.dst)
        if connection is None:
            return None
        known = self.conversations.get(connection[0])
        return self.conversation(connection[0]).flow if known is None else known.flow

    def tick(self, frame: Frame, out: list[Item]) -> None:
        """Adds what is overdue by the time of a frame."""
        self.sessions.tick(frame)
        self.dissector.told(out)

    def waited(self, items: list[StreamItem], now_ns: int) -> Iterator[RankedPart]:
        """What pieces of TCP streams complete that have waited until now."""
        for item in self.causal.late(items, now_ns):
            yield from parts_of((LOOK, item.stream), self.stream(item))

    def close(self) -> list[Item]:
        """What is left when the capture ends."""
        return [item for _, items in self.endings() for item in items]

    def endings(self) -> Iterator[RankedPart]:
        """What is left when the capture ends, in parts, and its rank: by this it is in order, also if groups of
        connections end apart from each other (zdissect/parallel).
        """
        self.decoder.close()
        for item in sorted(self.causal.close(self.streams.close()), key=attrgetter("stream")):
            yield from parts_of((0, item.stream), self.stream(item))
        for stream, conversation in sorted(self.conversations.items()):
            yield from parts_of((1, stream), self.batches(conversation, conversation.close()))
        for known in self.datagrams.close():
            yield (2, 0), self.datagram(known)
        if self.last is not None:
            for notice in self.made(self.tick, self.last):
                yield (3, due_ns(notice)), [notice]
            self.sessions.close(self.last)
            yield (4, 0), self.made(self.dissector.told)
        for stream in list(self.conversations):
            self.end(stream)

    @staticmethod
    def made(add: Callable[..., None], *arguments: object) -> list[Item]:
        """What a method adds to the list that it takes last."""
        out: list[Item] = []
        add(*arguments, out)
        return out

    def segment(self, segment: Segment) -> Iterator[RankedPart]:
        """What a TCP segment completes."""
        items = self.causal.feed(segment, self.streams.feed(segment))
        return parts_of(ITSELF, self.streamed(items)) if items else iter(())

    def streamed(self, items: Iterable[StreamItem]) -> Iterator[Item]:
        """What pieces of TCP streams complete."""
        for item in items:
            yield from self.stream(item)

    def stream(self, item: StreamItem) -> Iterator[Item]:
        """What a piece of a TCP stream completes, as it is taken."""
        conversation = self.conversations.get(item.stream)
        if conversation is None:
            if isinstance(item, StreamEnd):
                return
            conversation = self.conversations[item.stream] = self.conversation(item.stream)
        if isinstance(item, Chunk):
            conversation.flow.size += len(item.data)
            yield from self.batches(conversation, conversation.feed(item))
            if conversation.changed:
                yield from self.count(conversation, item.frame)
        elif isinstance(item, Gap):
            yield from self.batches(conversation, conversation.feed(item))
            yield from self.count(conversation, item.frame)
        elif isinstance(item, Overlap):
            why = "retransmitted with different bytes; the first ones are kept"
            flow = conversation.flow
            yield Skip(item.frame, flow, item.direction, item.offset, item.size, b"", why, "tcp-overlap")
        else:
            conversation.ended[item.direction] = True
            self.sessions.ending(conversation.flow, item.direction, item.frame)
            yield from self.made(self.dissector.told)
            ended_ns = item.frame.now_ns if item.frame is not None else 0
            conversation.flow.endings.append((item.direction, item.reason, ended_ns))
            if all(conversation.ended):
                yield from self.batches(conversation, conversation.close())
                self.end(item.stream)

    def count(self, conversation: StreamConversation, frame: Frame) -> Iterator[Item]:
        """Counts what a conversation keeps; if all together keep too much, the largest give it up."""
        self.buffers.set(conversation, conversation.kept())
        for largest in self.buffers.excess():
            yield from self.batches(largest, largest.relieve(frame))
            self.buffers.set(largest, largest.kept())

    def silent(self, conversations: list[DatagramConversation]) -> Iterator[Item]:
        """Ends conversations of datagrams; what waited in them, now decided as it would be at the end."""
        for conversation in conversations:
            for known in self.datagrams.over(conversation):
                yield from self.datagram(known)
        self.ended(conversations)

    def conversation(self, stream: int) -> StreamConversation:
        """A new TCP connection."""
        ends = self.streams.ends(stream)
        ports = {end.port for end in ends}
        flow = Flow(f"tcp.{stream}", "tcp", ends, begins=partial(self.streams.begins, stream))
        return StreamConversation(flow, bool(ports & (self.options.tcp_ports | {ZENOH_PORT})))

    def batches(
        self, conversation: StreamConversation, cuttings: Iterable[tuple[int, Batch | Skipped]]
    ) -> Iterator[Item]:
        """Dissects what a conversation was cut into, as it is taken. The framing may change between two batches."""
        flow = conversation.flow
        for direction, cutting in cuttings:
            if isinstance(cutting, Skipped):
                frame, offset, size, data, why, code, _ = cutting
                skip = Skip(frame, flow, direction, offset, size, data, why, code)
                if skip.code:
                    self.sessions.skip(skip)
                yield skip
                continue
            buffer, frame, frames, missing, framing, hint, around = cutting
            item, out = Dissection(frame, frames, flow, direction, buffer, EMPTY, framing, missing), list[Item]()
            item.around = around
            self.dissector.dissect(item, WHY.get(missing, ""), out, hint)
            if item.next_framing is not None:
                conversation.reframe(direction, item.next_framing)
            yield from out

    def received(self, datagram: Datagram) -> Iterator[RankedPart]:
        """What a datagram completes."""
        for known in self.datagrams.feed(datagram):
            yield ITSELF, self.datagram(known)
        if self.datagrams.store.held > self.datagrams.store.most:
            yield from parts_of(ITSELF, self.silent(self.datagrams.too_many()))

    def datagram(self, known: Known) -> list[Item]:
        """Dissects a datagram that is known to be Zenoh."""
        conversation, datagram, kind, framing = known
        flow, direction = conversation.flow, conversation.direction(datagram)
        if flow.replaces and self.forget(flow.replaces):
            flow.replaces = ""
        if kind == COPY:
            original = self.datagrams.original
            number = original.frame.number if original is not None else 0
            text = f"copy of frame {number}, captured on another interface: copies in this conversation are left out"
            return [Notice(datagram.frame, flow, direction, text, "captured-twice")]
        item, out = (
            Dissection(datagram.frame, datagram.frames, flow, direction, buffer_of(datagram), EMPTY, framing),
            list[Item](),
        )
        item.missing = "cut" if datagram.missing else ""
        if kind == SCOUTING:
            item.tape = interpret(SCOUTING_DATAGRAM, datagram.payload, cut=bool(datagram.missing))
            item.scouting = True
            self.dissector.known(item, out)
            return out
        self.dissector.dissect(item, f"{datagram.missing} more bytes were on the wire", out)
        if item.next_framing is not None:
            conversation.reframe(direction, item.next_framing)
        return out


def dissect(frames: Iterable[Frame], options: Options | None = None) -> Iterator[Item]:
    """Dissects the frames of a capture, in order: the library's main entrance."""
    pipeline = Pipeline(options or Options())
    for frame in frames:
        yield from pipeline.begun(frame)
    for _, left in pipeline.endings():
        yield from left
