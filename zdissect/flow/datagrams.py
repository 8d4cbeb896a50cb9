"""UDP: which datagrams are Zenoh, and of which kind (notes 3.1, 4.3 and 5)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from zdissect.engine.tape import Buffer, Origin
from zdissect.flow import detect
from zdissect.flow.conversation import Flow
from zdissect.flow.detect import Verdict
from zdissect.flow.framing import DATAGRAM, UNKNOWN, Framing
from zdissect.flow.resync import Sequence
from zdissect.records import Datagram, Endpoint

SCOUTING, TRANSPORT = "scouting", "transport"
PROOF = 2
"""Datagrams that prove a conversation on a port where nobody expects Zenoh: sound ones that chance wouldn't give."""
MOST_WAITING = 64
"""Sound datagrams without a proof after which a conversation is taken for something else."""


@dataclass(slots=True)
class DatagramConversation:
    """The datagrams between two endpoints."""

    flow: Flow
    expected: bool
    framings: list[Framing] = field(default_factory=lambda: [DATAGRAM, DATAGRAM])
    waiting: list[Datagram] = field(default_factory=list)
    """Datagrams that could be Zenoh, until enough of them prove it."""
    told: int = 0
    """How many of them prove something."""
    sequences: tuple[Sequence, Sequence] = field(default_factory=lambda: ({}, {}))
    """Sequence numbers of the last fragments of both directions, before the verdict."""
    opaque: int = 0
    """Bytes of datagrams that aren't known to be Zenoh (yet)."""

    def direction(self, datagram: Datagram) -> int:
        """0 if the side that spoke first sent it."""
        return int(datagram.src != self.flow.ends[0])

    def settle(self, datagram: Datagram) -> None:
        """Finds out how the datagram is framed, if a handshake agreed on what isn't in the capture."""
        direction = self.direction(datagram)
        if self.framings[direction] == UNKNOWN:
            self.framings[direction] = detect.transport(datagram.payload, cut=datagram.missing > 0) or DATAGRAM


class Datagrams:
    """All datagrams of a capture."""

    def __init__(self, expected: frozenset[int], forced: frozenset[int]) -> None:
        self.expected = expected
        self.forced = forced
        self.conversations: dict[tuple[Endpoint, Endpoint], DatagramConversation] = {}
        self.scouts: set[Endpoint] = set()
        """Endpoints that sent a SCOUT: HELLOs come back to them from any port."""
        self.groups: dict[Endpoint, Framing] = {}
        """Multicast groups with a JOIN, and how their datagrams are framed."""

    def feed(self, datagram: Datagram) -> Iterator[tuple[DatagramConversation, Datagram, str]]:
        """(conversation, datagram, scouting or transport) for each datagram that is now known to be Zenoh."""
        conversation = self.conversation(datagram)
        conversation.opaque += len(datagram.payload)
        conversation.flow.size += len(datagram.payload)
        for one, kind in self.known(conversation, datagram):
            conversation.opaque -= len(one.payload)
            yield conversation, one, kind

    def known(self, conversation: DatagramConversation, datagram: Datagram) -> Iterator[tuple[Datagram, str]]:
        """(datagram, scouting or transport) for each datagram of the conversation that is now known to be Zenoh."""
        flow, data = conversation.flow, datagram.payload
        cut = datagram.missing > 0
        if flow.verdict is not Verdict.ZENOH and self.is_scouting(datagram, cut):
            yield datagram, SCOUTING
            return
        if flow.verdict is Verdict.UNDECIDED:
            if detect.is_quic(data):
                flow.verdict = Verdict.QUIC
            elif self.proves(conversation, datagram, cut):
                flow.verdict = Verdict.ZENOH
        if flow.verdict is Verdict.ZENOH:
            waiting, conversation.waiting = conversation.waiting, []
            for one in (*waiting, datagram):
                conversation.settle(one)
                yield one, TRANSPORT

    def conversation(self, datagram: Datagram) -> DatagramConversation:
        """The conversation that a datagram belongs to."""
        src, dst = datagram.src, datagram.dst
        known = self.conversations.get((src, dst)) or self.conversations.get((dst, src))
        if known is None:
            flow = Flow(f"udp.{len(self.conversations)}", "udp", (src, dst))
            known = DatagramConversation(flow, src.port in self.expected or dst.port in self.expected)
            if src.port in self.forced or dst.port in self.forced:
                flow.verdict = Verdict.ZENOH
            self.conversations[src, dst] = known
        return known

    def is_scouting(self, datagram: Datagram, cut: bool) -> bool:
        """Whether it is a SCOUT, or a HELLO to somebody who asked or with what only a HELLO has."""
        tape = detect.scouting(datagram.payload, cut=cut)
        if tape is None:
            return False
        if tape.spans[1][4] == "SCOUT":
            self.scouts.add(datagram.src)
            return True
        return datagram.dst in self.scouts or bool(datagram.payload[0] & 0x20)

    def proves(self, conversation: DatagramConversation, datagram: Datagram, cut: bool) -> bool:
        """Whether this datagram, with those before it, shows that the conversation is Zenoh."""
        data = datagram.payload
        framing = self.groups.get(datagram.dst) or detect.transport(data, cut=cut)
        if framing is None or len(conversation.waiting) >= MOST_WAITING:
            conversation.waiting.clear()
            conversation.told = 0
            return False
        if datagram.dst in self.groups:
            conversation.framings = [framing, framing]
            return True
        conversation.framings = [UNKNOWN, UNKNOWN]
        opening = None if cut else detect.opens_session(data, framing)
        if opening == JOIN:
            self.groups[datagram.dst] = framing
        sequence = conversation.sequences[conversation.direction(datagram)]
        conversation.told += detect.tells(data, framing, sequence, cut=cut)
        if opening is not None or conversation.expected or conversation.told >= PROOF:
            return True
        conversation.waiting.append(datagram)
        return False


JOIN = 7


def buffer_of(datagram: Datagram) -> Buffer:
    """The datagram's payload with its origin."""
    return Buffer("udp", datagram.payload, [Origin(0, datagram.frame.number, datagram.offset)])
