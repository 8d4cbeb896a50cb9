"""From frames to dissections: the only place that wires the layers together.

A `Pipeline` is fed one frame at a time, in the order of the capture, and returns what that frame completes. It holds
all state of a capture, does no I/O, and is the same for the command line and for bulk conversion.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import attrgetter

from zdissect.dissection import ITSELF, LOOK, Dissection, Item, Notice, Rank, Ranked, Skip, due_ns
from zdissect.dissector import EMPTY, WHY
from zdissect.engine.interpreter import interpret
from zdissect.flow.conversation import Flow, StreamConversation
from zdissect.flow.datagram_conversation import COPY, SCOUTING, DatagramConversation, Known
from zdissect.flow.datagrams import buffer_of
from zdissect.flow.stream_buffer import Batch, Skipped
from zdissect.flow.verdict import Verdict
from zdissect.grammar.batch import SCOUTING_DATAGRAM
from zdissect.grammar.ports import ZENOH_PORT
from zdissect.limits import Options as Options
from zdissect.records import Chunk, Datagram, Frame, Gap, Overlap, Segment, StreamEnd, StreamItem
from zdissect.session.model import Link
from zdissect.stages import PipelineStages


class Pipeline(PipelineStages):
    """The stages of one capture, and their state."""

    __slots__ = ()

    def feed(self, frame: Frame) -> list[Item]:
        """What this frame completes, in order, and what it shows to be overdue."""
        self.last = frame = self.clock.feed(frame)
        now_ns = frame.now_ns
        tick = now_ns >= self.ticks.next_ns and self.ticks.feed(now_ns)
        packet = self.decoder.feed(frame)
        out: list[Item] = []
        if packet is not None:
            self.captured += len(packet.payload)
            if isinstance(packet, Datagram):
                for known in self.datagrams.feed(packet):
                    self.datagram(known, out)
                if self.datagrams.store.held > self.datagrams.store.most:
                    self.silent(self.datagrams.too_many(), out)
            else:
                self.segment(packet, out)
            if self.clock.told and (flow := self.flow(packet)) is not None:
                out.insert(0, Notice(frame, flow, int(packet.src != flow.ends[0]), self.clock.told, "time-leap"))
            if self.reached and (flow := self.flow(packet)) is not None:
                out += [Notice(frame, flow, int(packet.src != flow.ends[0]), text, "limit") for text in self.reached]
                self.reached.clear()
        if tick:
            self.tick(frame, out)
        return out

    def ranked(self, frame: Frame) -> Ranked:
        """The same, with ranks."""
        return [(ITSELF, self.feed(frame))]

    def passed(self, ts_ns: int) -> list[Item]:
        """What is overdue, or waits no longer, at a time until which no further frame has come, in a live capture."""
        out: list[Item] = []
        if self.last is None or ts_ns <= self.last.ts_ns:
            return out
        frame = self.clock.feed(Frame(self.last.source, self.last.number, ts_ns, self.last.link, 0, b""))
        now_ns = frame.now_ns
        for item in self.causal.passed(self.streams.passed(now_ns), now_ns):
            self.stream(item, out)
        if now_ns >= self.ticks.next_ns and self.ticks.feed(now_ns):
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

    def waited(self, items: list[StreamItem], now_ns: int) -> Ranked:
        """What pieces of TCP streams complete that have waited until now."""
        return [((LOOK, item.stream), self.made(self.stream, item)) for item in self.causal.late(items, now_ns)]

    def close(self) -> list[Item]:
        """What is left when the capture ends."""
        return [item for _, items in self.endings() for item in items]

    def endings(self) -> Iterator[tuple[Rank, list[Item]]]:
        """What is left when the capture ends, and its rank: by this it is in order, also if groups of connections end
        apart from each other (zdissect/parallel).
        """
        self.decoder.close()
        for item in sorted(self.causal.close(self.streams.close()), key=attrgetter("stream")):
            yield (0, item.stream), self.made(self.stream, item)
        for stream, conversation in sorted(self.conversations.items()):
            yield (1, stream), self.made(self.batches, conversation, conversation.close())
        for known in self.datagrams.close():
            yield (2, 0), self.made(self.datagram, known)
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

    def all_links(self) -> list[Link]:
        """The links that ended, if they were kept, and those that haven't."""
        return [*self.links, *self.sessions.links.values()]

    def others(self) -> Counter[str]:
        """Conversations that aren't Zenoh, by what they are."""
        flows = [conversation.flow for conversation in self.conversations.values()]
        flows += [conversation.flow for conversation in self.datagrams.all()]
        return self.gone + Counter(flow.verdict.value for flow in flows if flow.verdict in OTHERS)

    def segment(self, segment: Segment, out: list[Item]) -> None:
        """Adds what a TCP segment completes."""
        for item in self.causal.feed(segment, self.streams.feed(segment)):
            self.stream(item, out)

    def stream(self, item: StreamItem, out: list[Item]) -> None:
        """Adds what a piece of a TCP stream completes."""
        conversation = self.conversations.get(item.stream)
        if conversation is None:
            if isinstance(item, StreamEnd):
                return
            conversation = self.conversations[item.stream] = self.conversation(item.stream)
        if isinstance(item, Chunk):
            self.delivered += len(item.data)
            conversation.flow.size += len(item.data)
            self.batches(conversation, conversation.feed(item), out)
            if conversation.changed:
                self.count(conversation, item.frame, out)
        elif isinstance(item, Gap):
            self.batches(conversation, conversation.feed(item), out)
            self.count(conversation, item.frame, out)
        elif isinstance(item, Overlap):
            why = "retransmitted with different bytes; the first ones are kept"
            flow = conversation.flow
            out.append(Skip(item.frame, flow, item.direction, item.offset, item.size, b"", why, "tcp-overlap"))
        else:
            conversation.ended[item.direction] = True
            self.sessions.ending(conversation.flow, item.direction, item.frame)
            self.dissector.told(out)
            ended_ns = item.frame.now_ns if item.frame is not None else 0
            conversation.flow.endings.append((item.direction, item.reason, ended_ns))
            if all(conversation.ended):
                self.batches(conversation, conversation.close(), out)
                self.end(item.stream)

    def count(self, conversation: StreamConversation, frame: Frame, out: list[Item]) -> None:
        """Counts what a conversation keeps; if all together keep too much, the largest give it up."""
        self.buffers.set(conversation, conversation.kept())
        for largest in self.buffers.excess():
            self.batches(largest, largest.relieve(frame), out)
            self.buffers.set(largest, largest.kept())

    def silent(self, conversations: list[DatagramConversation], out: list[Item]) -> None:
        """Ends conversations of datagrams; adds what waited in them, now decided as it would be at the end."""
        for conversation in conversations:
            for known in self.datagrams.over(conversation):
                self.datagram(known, out)
        self.ended(conversations)

    def ended(self, conversations: Iterable[DatagramConversation]) -> None:
        """Conversations of datagrams are over: they are counted, and what is known of them is let go."""
        for conversation in conversations:
            self.forget(conversation.flow.id)
            verdict = conversation.flow.verdict
            if verdict in OTHERS:
                self.gone[verdict.value] += 1
                self.opaque[verdict.value] += conversation.opaque

    def end(self, stream: int) -> None:
        """A TCP connection, or the capture, has ended."""
        conversation = self.conversations.pop(stream)
        self.buffers.drop(conversation)
        self.forget(conversation.flow.id)
        if conversation.flow.verdict in OTHERS:
            self.gone[conversation.flow.verdict.value] += 1
            self.opaque[conversation.flow.verdict.value] += conversation.opaque

    def forget(self, flow: str) -> bool:
        """Ends a flow; whether that was known already, by a CLOSE or by its end."""
        link = self.sessions.end(flow)
        if link is not None and self.options.history:
            self.links.append(link)
        return link is not None and link.over

    def conversation(self, stream: int) -> StreamConversation:
        """A new TCP connection."""
        ends = self.streams.ends(stream)
        ports = {end.port for end in ends}
        flow = Flow(f"tcp.{stream}", "tcp", ends, begins=partial(self.streams.begins, stream))
        return StreamConversation(flow, bool(ports & (self.options.tcp_ports | {ZENOH_PORT})))

    def batches(
        self, conversation: StreamConversation, cuttings: Iterable[tuple[int, Batch | Skipped]], out: list[Item]
    ) -> None:
        """Dissects what a conversation was cut into. The framing may change between two batches."""
        flow = conversation.flow
        for direction, cutting in cuttings:
            if isinstance(cutting, Skipped):
                frame, offset, size, data, why, code, _ = cutting
                skip = Skip(frame, flow, direction, offset, size, data, why, code)
                if skip.code:
                    self.sessions.skip(skip)
                out.append(skip)
                continue
            buffer, frame, frames, missing, framing, hint = cutting
            item = Dissection(frame, frames, flow, direction, buffer, EMPTY, framing, missing)
            self.dissector.dissect(item, WHY.get(missing, ""), out, hint)
            if item.next_framing is not None:
                conversation.reframe(direction, item.next_framing)

    def datagram(self, known: Known, out: list[Item]) -> None:
        """Dissects a datagram that is known to be Zenoh."""
        conversation, datagram, kind, framing = known
        flow, direction = conversation.flow, conversation.direction(datagram)
        if flow.replaces and self.forget(flow.replaces):
            flow.replaces = ""
        if kind == COPY:
            original = self.datagrams.original
            number = original.frame.number if original is not None else 0
            text = f"copy of frame {number}, captured on another interface: copies in this conversation are left out"
            out.append(Notice(datagram.frame, flow, direction, text, "captured-twice"))
            return
        item = Dissection(datagram.frame, datagram.frames, flow, direction, buffer_of(datagram), EMPTY, framing)
        item.missing = "cut" if datagram.missing else ""
        if kind == SCOUTING:
            item.tape = interpret(SCOUTING_DATAGRAM, datagram.payload, cut=bool(datagram.missing))
            item.scouting = True
            self.dissector.known(item, out)
            return
        self.dissector.dissect(item, f"{datagram.missing} more bytes were on the wire", out)
        if item.next_framing is not None:
            conversation.framings[direction] = item.next_framing


OTHERS = frozenset(Verdict) - {Verdict.ZENOH, Verdict.MIDDLE, Verdict.TEXT, Verdict.UNDECIDED}
"""Conversations that aren't shown."""


def dissect(frames: Iterable[Frame], options: Options | None = None) -> Iterator[Item]:
    """Dissects the frames of a capture, in order: the library's main entrance."""
    pipeline = Pipeline(options or Options())
    for frame in frames:
        yield from pipeline.feed(frame)
    yield from pipeline.close()
