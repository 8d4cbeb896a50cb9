"""The stages of a capture, wired together, and their state: see `pipeline`."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from zdissect.dissector import Dissector
from zdissect.flow.causal import Causal
from zdissect.flow.clock import Clock
from zdissect.flow.conversation import StreamConversation
from zdissect.flow.datagram_conversation import DatagramConversation
from zdissect.flow.datagrams import Datagrams
from zdissect.flow.link import Decoder
from zdissect.flow.tcp import Streams
from zdissect.flow.ticks import Ticks
from zdissect.flow.verdict import Verdict
from zdissect.grammar.ports import SCOUTING_PORT, ZENOH_PORT
from zdissect.limits import Options, Quota
from zdissect.records import Frame
from zdissect.session.model import Link
from zdissect.session.state import Sessions


@dataclass(slots=True)
class PipelineStages:
    """The stages of one capture, and their state."""

    options: Options = field(default_factory=Options)
    captured: int = 0
    """Payload bytes of all TCP segments and UDP datagrams, retransmitted ones too."""
    clock: Clock = field(default_factory=Clock)
    decoder: Decoder = field(init=False)
    streams: Streams = field(default_factory=Streams)
    causal: Causal = field(init=False)
    dissector: Dissector = field(init=False)
    conversations: dict[int, StreamConversation] = field(default_factory=dict)
    datagrams: Datagrams = field(init=False)
    ticks: Ticks = field(default_factory=Ticks)
    sessions: Sessions = field(init=False)
    buffers: Quota[StreamConversation] = field(init=False)
    """The memory that conversations over TCP take with what can't be passed on yet."""
    reached: list[str] = field(default_factory=list)
    """Texts about limits that were reached, until they are told."""
    gone: Counter[str] = field(default_factory=Counter)
    """Connections that ended and weren't Zenoh, by what they were."""
    opaque: Counter[str] = field(default_factory=Counter)
    """Their bytes."""
    links: list[Link] = field(default_factory=list)
    """Links that ended, if `Options.history` asks to keep them."""
    last: Frame | None = None
    """The last frame of the capture so far."""

    def __post_init__(self) -> None:
        self.decoder = Decoder(self.options.udp_ports)
        ports = frozenset({ZENOH_PORT, SCOUTING_PORT})
        limits, log = self.options.limits, self.reached
        self.decoder.limit(Quota("packets", limits.packets, log))
        datagrams: Quota[DatagramConversation] = Quota("datagrams", limits.datagrams, log)
        self.datagrams = Datagrams(ports | self.options.udp_ports, self.options.udp_ports, datagrams)
        self.streams.store = Quota("connections", limits.connections, log)
        self.streams.waits = Quota("connections", limits.connections, log)
        self.causal = Causal(self.streams.first, Quota("connections", limits.connections))
        self.buffers = Quota("streams", limits.streams, log)
        self.sessions = Sessions(limits)
        self.dissector = Dissector(self.sessions)

    def limited(self) -> bool:
        """Whether a limit of memory has been reached: for what else there is in the capture it counts, too."""
        memory, streams = self.sessions.memory, self.streams
        quotas = (streams.store, streams.waits, self.buffers, self.datagrams.store, memory.tables, memory.fragments)
        return any(quota.log is None for quota in (*quotas, memory.keys))

    def all_links(self) -> list[Link]:
        """The links that ended, if they were kept, and those that haven't."""
        return [*self.links, *self.sessions.links.values()]

    def others(self) -> Counter[str]:
        """Conversations that aren't Zenoh, by what they are."""
        flows = [conversation.flow for conversation in self.conversations.values()]
        flows += [conversation.flow for conversation in self.datagrams.all()]
        return self.gone + Counter(flow.verdict.value for flow in flows if flow.verdict in OTHERS)

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


OTHERS = frozenset(Verdict) - {Verdict.ZENOH, Verdict.MIDDLE, Verdict.TEXT, Verdict.UNDECIDED}
"""Conversations that aren't shown."""
