"""The stages of a capture, wired together, and their state: see `pipeline`."""

from collections import Counter
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
    delivered: int = 0
    """Bytes of all TCP streams: payload without what was retransmitted or belonged to no connection."""
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
        return any(quota.log is None for quota in quotas)
