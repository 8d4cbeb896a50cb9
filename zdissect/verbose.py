"""What a capture holds besides Zenoh's messages, frame by frame: for `-v`.

A `Verbose` wraps a pipeline and adds notices to what that gives: TCP connections that open and end, repeats,
segments out of order, IP fragments, datagrams and connections that aren't shown, and frames that aren't opened. It
decodes frames a second time and keeps a state of its own, so that nothing is slower without it.
"""

from collections.abc import Iterator
from itertools import chain, islice

from zdissect.dissection import ITSELF, Dissection, Item, Notice, RankedPart
from zdissect.flow.conversation import Flow, StreamConversation
from zdissect.flow.ipfragments import ALONE
from zdissect.flow.link import Decoder
from zdissect.flow.protocol_numbers import BACKGROUND
from zdissect.flow.tcp_analysis import TcpAnalysis
from zdissect.flow.verdict import Verdict
from zdissect.pipeline import OTHERS, Pipeline
from zdissect.records import Datagram, Endpoint, Frame, Segment

_NOBODY = Endpoint(b"", 0)
NO_FLOW = Flow("", "", (_NOBODY, _NOBODY))
"""The conversation of a frame that belongs to none."""

_OPEN = (Verdict.UNDECIDED, Verdict.WEBSOCKET)
"""A connection may still turn out to be Zenoh."""

MOST_MET = 100_000
"""Connections that are remembered as met; beyond that, those that have ended are forgotten."""


class Verbose:
    """A pipeline, with notices about what it doesn't show."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.decoder = Decoder(pipeline.options.udp_ports)
        self.analysis = TcpAnalysis()
        self.met: set[int] = set()
        """Numbers of the connections that had bytes."""
        self.unnamed: dict[int, tuple[StreamConversation, Frame]] = {}
        """Those of which nobody knows what they are, with their first frame."""

    def ranked(self, frame: Frame) -> Iterator[RankedPart]:
        """Notices about a frame, and what the pipeline gives for it, in parts as there."""
        self.decoder.unopened.last = ""
        packet = self.decoder.feed(frame)
        parts = self.pipeline.ranked(frame)
        first = [*parts] if isinstance(packet, Datagram) else [*islice(parts, 1)]  # what it is, is known by then
        out: list[Item] = []
        if packet is None:
            out.append(Notice(frame, NO_FLOW, 0, self.unopened()))
        elif isinstance(packet, Segment):
            self.segment(packet, out)
        else:
            self.datagram(packet, [item for _, items in first for item in items], out)
        yield ITSELF, out
        yield from chain(first, parts)

    def passed(self, ts_ns: int) -> list[Item]:
        """What the pipeline gives when time has passed without a frame."""
        return self.pipeline.passed(ts_ns)

    def forget(self) -> list[Item]:
        """Forgets the connections that are over, in a capture without an end; what is to be said of them."""
        out: list[Item] = []
        known, streams = self.pipeline.conversations.keys(), self.pipeline.streams
        self.met &= known
        for stream in self.unnamed.keys() - known:
            self.name(stream, out, final=True)
        self.analysis.forget(lambda src, dst: streams.stream(src, dst) is None)
        return out

    def close(self) -> list[Item]:
        """What the pipeline gives at the end of the capture, and what the last connections were."""
        return [item for _, items in self.endings() for item in items]

    def endings(self) -> Iterator[RankedPart]:
        """The same in parts."""
        yield from self.pipeline.endings()
        out: list[Item] = []
        for stream in list(self.unnamed):
            self.name(stream, out, final=True)
        yield ITSELF, out

    def unopened(self) -> str:
        """Why a frame gave no packet."""
        reason = self.decoder.unopened.last
        if reason in ("", ALONE):  # the latter is about fragments that came long before
            return "IP fragment: waiting for the others"
        return reason if reason in BACKGROUND else f"not opened: {reason}"

    def segment(self, segment: Segment, out: list[Item]) -> None:
        """Notices about a TCP segment."""
        text = self.analysis.feed(segment)
        known = self.pipeline.streams.stream(segment.src, segment.dst)
        if known is None:
            return
        stream, direction = known
        conversation = self.pipeline.conversations.get(stream)
        if text:
            ends = (segment.src, segment.dst) if direction == 0 else (segment.dst, segment.src)
            out.append(Notice(segment.frame, Flow(f"tcp.{stream}", "tcp", ends), direction, text))
        if conversation is not None and stream not in self.met:
            if len(self.met) >= MOST_MET:
                self.met &= self.pipeline.conversations.keys()
            self.met.add(stream)
            self.unnamed[stream] = conversation, segment.frame
        if stream in self.unnamed:
            self.name(stream, out)

    def name(self, stream: int, out: list[Item], final: bool = False) -> None:
        """Says what a connection is, once that is known, if it isn't shown."""
        conversation, frame = self.unnamed[stream]
        flow = conversation.flow
        if flow.verdict in _OPEN and not final:
            return
        del self.unnamed[stream]
        if flow.verdict in OTHERS:
            out.append(Notice(frame, flow, 0, f"a TCP connection that isn't shown: {flow.verdict.value}"))

    def datagram(self, datagram: Datagram, items: list[Item], out: list[Item]) -> None:
        """Notices about a datagram that isn't shown, or not yet."""
        if any(isinstance(item, Dissection) and item.frame is datagram.frame for item in items):
            return
        conversation = self.pipeline.datagrams.conversation(datagram)
        flow, original = conversation.flow, self.pipeline.datagrams.original
        if original is not None:
            if any(isinstance(item, Notice) and item.code == "captured-twice" for item in items):
                return
            text = f"a datagram that is captured twice: copy of frame {original.frame.number}"
            out.append(Notice(datagram.frame, flow, conversation.direction(datagram), text))
            return
        known = flow.verdict in OTHERS
        what = f"isn't shown: {flow.verdict.value}" if known else "isn't known to be Zenoh, at least not yet"
        text = f"a datagram of {len(datagram.payload) + datagram.missing} bytes that {what}"
        out.append(Notice(datagram.frame, flow, conversation.direction(datagram), text))
