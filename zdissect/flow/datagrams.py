"""UDP, and raw Ethernet: which datagrams are Zenoh, and of which kind (notes 3.1, 4.3 and 5).

A conversation is Zenoh by what chance doesn't give. Where Zenoh is expected, on its ports and in answer to a SCOUT, a
datagram is Zenoh unless it has the form of another protocol, whether it decodes or not. What could still be either
waits, in order, until its conversation is decided; all waits are bounded.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Buffer, Origin, Tape
from zdissect.flow import detect, hints, protocols
from zdissect.flow.conversation import Flow
from zdissect.flow.decode import sound
from zdissect.flow.framing import DATAGRAM, UNKNOWN, Framing
from zdissect.flow.resync import Sequence
from zdissect.flow.verdict import Verdict
from zdissect.grammar.batch import BATCH, SCOUTING_DATAGRAM
from zdissect.grammar.registry import UNDECODED
from zdissect.records import RAW_ETHERNET, Datagram, Endpoint

SCOUTING, TRANSPORT = "scouting", "transport"
PROOF = 2
"""Datagrams that prove a conversation on a port where nobody expects Zenoh: sound ones that chance wouldn't give."""
MOST_WAITING = 64
"""Datagrams without a proof after which a conversation is taken for something else."""
MOST_STRANGE = 16
"""Datagrams that don't look like Zenoh after which a conversation isn't, though Zenoh was expected."""
MOST_HELD = 4096
"""Datagrams that wait in all conversations."""

_INIT, _CLOSE, _KEEP_ALIVE, _FRAME, _JOIN = 1, 3, 4, 5, 7
_SCOUT, _HELLO = 1, 2
_ANY_BYTES = (0, 6)
"""OAM and FRAGMENT: what follows their first bytes may be anything."""


class Known(NamedTuple):
    """A datagram that is known to be Zenoh."""

    conversation: "DatagramConversation"
    datagram: Datagram
    kind: str
    """Scouting or transport."""
    framing: Framing


@dataclass(slots=True)
class DatagramConversation:
    """The datagrams between two endpoints."""

    flow: Flow
    expected: bool
    forced: bool = False
    """The user says that it is Zenoh."""
    framings: list[Framing] = field(default_factory=lambda: [UNKNOWN, UNKNOWN])
    """Of both directions."""
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

    def framing(self, datagram: Datagram) -> Framing:
        """How a datagram is framed: found out if a handshake agreed on what isn't in the capture."""
        direction = self.direction(datagram)
        known = self.framings[direction]
        if known != UNKNOWN:
            return known
        fitting = detect.framings(datagram.payload, cut=datagram.missing > 0)
        if len(fitting) == 1:  # else it says nothing of the next one
            self.framings[direction] = fitting[0]
        return detect.likeliest(datagram.payload, fitting) or DATAGRAM


class Datagrams:
    """All datagrams of a capture."""

    def __init__(self, expected: frozenset[int], forced: frozenset[int]) -> None:
        self.expected = expected
        self.forced = forced
        self.conversations: dict[tuple[Endpoint, Endpoint], DatagramConversation] = {}
        self.scouts: set[Endpoint] = set()
        """Endpoints that sent a SCOUT: HELLOs come back to them from any port."""
        self.numbers: Counter[str] = Counter()
        """How many conversations there are of each link."""
        self.groups: dict[Endpoint, Framing] = {}
        """Multicast groups with a JOIN, and how their datagrams are framed."""
        self.holders: dict[str, DatagramConversation] = {}
        """Conversations in which datagrams wait, by their flows."""
        self.held = 0
        """How many datagrams wait."""

    def feed(self, datagram: Datagram) -> Iterator[Known]:
        """The datagrams that are now known to be Zenoh, in order."""
        conversation = self.conversation(datagram)
        conversation.opaque += len(datagram.payload)
        conversation.flow.size += len(datagram.payload)
        for one in self.known(conversation, datagram):
            conversation.opaque -= len(one.datagram.payload)
            yield one

    def close(self) -> Iterator[Known]:
        """Those that still wait where Zenoh is expected, in the order of the capture."""
        left: list[Known] = []
        for conversation in self.conversations.values():
            if conversation.flow.verdict is not Verdict.UNDECIDED:
                continue
            if conversation.expected and conversation.waiting:
                self.strange(conversation, Verdict.ZENOH)
            elif conversation.opaque:
                conversation.flow.verdict = Verdict.OTHER
            if conversation.flow.verdict is Verdict.ZENOH:
                left += self.released(conversation)
        self.holders.clear()
        self.held = 0
        for one in sorted(left, key=lambda known: (known.datagram.frame.now_ns, known.datagram.frame.number)):
            one.conversation.opaque -= len(one.datagram.payload)
            yield one

    def known(self, conversation: DatagramConversation, datagram: Datagram) -> Iterator[Known]:
        """The datagrams of the conversation that are now known to be Zenoh."""
        if self.is_scouting(conversation, datagram):
            yield Known(conversation, datagram, SCOUTING, DATAGRAM)
            return
        if conversation.flow.verdict is Verdict.UNDECIDED:
            self.judge(conversation, datagram)
        if conversation.flow.verdict is Verdict.ZENOH:
            yield from self.released(conversation)
            yield self.read(conversation, datagram)

    def read(self, conversation: DatagramConversation, datagram: Datagram) -> Known:
        """A datagram of a conversation that is Zenoh."""
        framing = conversation.framing(datagram)
        if self.fails_as_scouting(conversation, datagram, framing):
            return Known(conversation, datagram, SCOUTING, DATAGRAM)
        return Known(conversation, datagram, TRANSPORT, framing)

    def released(self, conversation: DatagramConversation) -> Iterator[Known]:
        """The datagrams that waited in a conversation."""
        for one in self.forget(conversation):
            yield self.read(conversation, one)

    def forget(self, conversation: DatagramConversation) -> list[Datagram]:
        """Ends the wait of a conversation; what waited."""
        waiting, conversation.waiting = conversation.waiting, []
        if waiting:
            self.held -= len(waiting)
            self.holders.pop(conversation.flow.id, None)
        return waiting

    def hold(self, conversation: DatagramConversation, datagram: Datagram) -> None:
        """Lets a datagram wait; the conversation that began to wait first gives way if there are too many."""
        conversation.waiting.append(datagram)
        self.holders.setdefault(conversation.flow.id, conversation)
        self.held += 1
        if self.held > MOST_HELD:
            self.forget(next(iter(self.holders.values())))

    def conversation(self, datagram: Datagram) -> DatagramConversation:
        """The conversation that a datagram belongs to."""
        src, dst = datagram.src, datagram.dst
        known = self.conversations.get((src, dst)) or self.conversations.get((dst, src))
        if known is None:
            link = datagram.link
            flow = Flow(f"{link}.{self.numbers[link]}", link, (src, dst))
            self.numbers[link] += 1
            ports, raw = {src.port, dst.port}, link == RAW_ETHERNET  # whose EtherType is Zenoh's own
            expected, forced = raw or bool(ports & self.expected), raw or bool(ports & self.forced)
            known = DatagramConversation(flow, expected, forced)
            self.conversations[src, dst] = known
        return known

    def is_scouting(self, conversation: DatagramConversation, datagram: Datagram) -> bool:
        """Whether it is a SCOUT, or a HELLO to somebody who asked or with what only a HELLO has."""
        data, cut = datagram.payload, datagram.missing > 0
        if not data or data[0] & 31 not in (_SCOUT, _HELLO):
            return False
        tape = detect.scouting(data, cut=cut)
        if tape is None:
            return False
        if conversation.flow.verdict is Verdict.ZENOH and detect.framings(data, cut=cut):
            return False  # an INIT or OPEN, whose ids are those of SCOUT and HELLO
        if tape.spans[1][4] == "SCOUT":
            self.scouts.add(datagram.src)
            return True
        return datagram.dst in self.scouts or bool(data[0] & 0x20)

    def fails_as_scouting(self, conversation: DatagramConversation, datagram: Datagram, framing: Framing) -> bool:
        """Whether a datagram that doesn't decode is more of a scouting message than of a batch."""
        data, cut = datagram.payload, datagram.missing > 0
        if not data or data[0] & 31 not in (_SCOUT, _HELLO) or framing != DATAGRAM or hints.of_datagram(data, framing):
            return False
        batch, scouting = interpret(BATCH, data, cut=cut, **framing.inputs), interpret(SCOUTING_DATAGRAM, data, cut=cut)
        if self.asked(datagram):  # an INIT there is a slip; an OPEN is a HELLO, whose bytes it nearly always takes
            more = not sound(batch) if data[0] & 31 == _HELLO else bool(_undecoded(batch)) or not _undecoded(scouting)
        else:
            more = (_undecoded(scouting), len(scouting.remarks)) < (_undecoded(batch), len(batch.remarks))
        if more and data[0] & 31 == _SCOUT:
            self.scouts.add(datagram.src)
        return more

    def asked(self, datagram: Datagram) -> bool:
        """Whether scouting is expected of a datagram, by its ports or because it comes to somebody who asked."""
        return detect.SCOUTING_PORT in (datagram.src.port, datagram.dst.port) or datagram.dst in self.scouts

    def judge(self, conversation: DatagramConversation, datagram: Datagram) -> None:
        """Decides, if this datagram and those before it suffice for that, what a conversation is."""
        flow, data, cut = conversation.flow, datagram.payload, datagram.missing > 0
        conversation.expected = conversation.expected or datagram.dst in self.scouts
        fitting = detect.framings(data, cut=cut)
        framing = self.groups.get(datagram.dst) or detect.likeliest(data, fitting)
        if protocols.is_quic(data):
            flow.verdict = Verdict.QUIC
        elif framing is not None and self.proves(conversation, datagram, framing):
            flow.verdict = Verdict.ZENOH
        elif (other := protocols.of_datagram(data, cut=cut)) is not None:
            flow.verdict = other
        elif conversation.expected and self.looks_like_zenoh(conversation, data, framing):
            flow.verdict = Verdict.ZENOH
        else:
            self.wait(conversation, datagram, framing)
        if flow.verdict not in (Verdict.UNDECIDED, Verdict.ZENOH):
            self.forget(conversation)

    def wait(self, conversation: DatagramConversation, datagram: Datagram, framing: Framing | None) -> None:
        """Takes note of a datagram that decides nothing."""
        self.hold(conversation, datagram)
        if framing is None:
            conversation.told = 0
        if len(conversation.waiting) < (MOST_STRANGE if conversation.expected else MOST_WAITING):
            return
        conversation.told = 0
        if conversation.expected:
            self.strange(conversation, Verdict.OTHER)
        if conversation.flow.verdict is not Verdict.ZENOH:
            self.forget(conversation)

    @staticmethod
    def strange(conversation: DatagramConversation, verdict: Verdict) -> None:
        """Decides what a conversation is where Zenoh is expected, but nothing has proved it."""
        data = [one.payload for one in conversation.waiting]
        if all(detect.framings(one.payload, cut=one.missing > 0) for one in conversation.waiting):
            verdict = Verdict.ZENOH
        elif all(protocols.may_be_quic(one) for one in data):
            verdict = Verdict.QUIC
        conversation.flow.verdict = verdict

    def proves(self, conversation: DatagramConversation, datagram: Datagram, framing: Framing) -> bool:
        """Whether this datagram, with those before it, shows that the conversation is Zenoh."""
        data, cut = datagram.payload, datagram.missing > 0
        if datagram.dst in self.groups:
            conversation.framings = [framing, framing]
            return True
        opening = None if cut else detect.opens_session(data, framing)
        if opening == _JOIN:
            self.groups[datagram.dst] = framing
        sequence = conversation.sequences[conversation.direction(datagram)]
        tells = detect.tells(data, framing, sequence, cut=cut)
        conversation.told += tells
        return opening is not None or (conversation.expected and tells) or conversation.told >= PROOF

    @staticmethod
    def looks_like_zenoh(conversation: DatagramConversation, data: bytes, framing: Framing | None) -> bool:
        """Whether a datagram is taken for Zenoh at once where that is expected, and that it proves nothing."""
        if not data:
            return False
        if conversation.forced:
            return True
        ident = data[0] & 31
        if framing is not None:
            return ident not in _ANY_BYTES and not conversation.waiting
        if ident in (_INIT, _JOIN, _HELLO) and data[1:2] in (b"\x08", b"\x09"):
            return True
        if ident in (_CLOSE, _KEEP_ALIVE, _FRAME) and not data[0] & 0x40:
            return True
        return hints.of_datagram(data, DATAGRAM) is not None


def _undecoded(tape: Tape) -> int:
    """Bytes that no field owns."""
    return sum(stop - start for field, _, start, stop, _ in tape.spans if field is UNDECODED)


def buffer_of(datagram: Datagram) -> Buffer:
    """The datagram's payload with its origin."""
    return Buffer(datagram.link, datagram.payload, [Origin(0, datagram.frame.number, datagram.offset)])
