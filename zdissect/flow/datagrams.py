"""UDP, and raw Ethernet: which datagrams are Zenoh, and of which kind (notes 3.1, 4.3 and 5).

A conversation is taken for Zenoh if it holds what other protocols hardly hold by chance. Where Zenoh is expected, on
its ports and in answer to a SCOUT, a datagram is Zenoh unless it has the form of another protocol, whether it decodes
or not. Datagrams that could be either wait, in order, until their conversation is decided; all waits are bounded.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from zdissect.engine.tape import Buffer, Origin
from zdissect.flow import detect_datagram, other_protocols
from zdissect.flow.captured_twice import Copies
from zdissect.flow.conversation import Flow
from zdissect.flow.datagram_conversation import (
    CONVERSATION_BYTES,
    COPY,
    SCOUTING,
    TRANSPORT,
    WAITING_BYTES,
    DatagramConversation,
    Known,
)
from zdissect.flow.framing import DATAGRAM, Framing
from zdissect.flow.scouting_datagrams import Scouting
from zdissect.flow.verdict import Verdict
from zdissect.grammar.transport import JOIN
from zdissect.limits import Limits, Quota
from zdissect.records import RAW_ETHERNET, Datagram, Endpoint

PROOF = 2
"""Sound datagrams, unlikely by chance, that prove a conversation to be Zenoh on a port where it isn't expected."""
MOST_WAITING = 64
"""Datagrams without a proof after which a conversation is taken for something else."""
MOST_STRANGE = 16
"""Datagrams that don't look like Zenoh after which a conversation isn't Zenoh, though it was expected."""
_SENDER_BYTES = 1024
"""Memory per sender of a SCOUT, and per multicast group, in terms of the limit of all datagrams."""


class Datagrams:
    """All datagrams of a capture."""

    def __init__(
        self, expected: frozenset[int], forced: frozenset[int], store: Quota[DatagramConversation] | None = None
    ) -> None:
        self.expected = expected
        self.forced = forced
        self.store: Quota[DatagramConversation] = store or Quota("datagrams", Limits().datagrams)
        """The memory that conversations take."""
        self.conversations: dict[tuple[Endpoint, Endpoint], DatagramConversation] = {}
        self.past: list[DatagramConversation] = []
        """Conversations that were ended by others on the same ports."""
        self.most = self.store.most // _SENDER_BYTES
        self.scouting = Scouting(self.most)
        self.numbers: Counter[str] = Counter()
        """How many conversations there are of each link."""
        self.groups: dict[Endpoint, Framing] = {}
        """Multicast groups with a JOIN, and how their datagrams are framed."""
        self.copies = Copies(self.store.most >> 3)
        self.original: Datagram | None = None
        """The datagram that the one fed last is a copy of."""
        self.repeated = 0
        """Payload bytes of all copies."""

    def feed(self, datagram: Datagram) -> Iterable[Known]:
        """The datagrams that are now known to be Zenoh, in order; the first copy in a conversation is reported too."""
        conversation = self.conversation(datagram)
        conversation.heard_ns = datagram.frame.now_ns
        self.original = self.copies.feed(datagram)
        if self.original is not None:
            self.repeated += len(datagram.payload)
            return self.copied(conversation, datagram)
        if conversation.plain(datagram):
            conversation.beyond = True
            conversation.flow.size += len(datagram.payload)
            return (self.continuing(conversation, datagram),)
        return self.careful(conversation, datagram)

    @staticmethod
    def continuing(conversation: DatagramConversation, datagram: Datagram) -> Known:
        """A datagram that continues a session."""
        return Known(conversation, datagram, TRANSPORT, conversation.framing(datagram))

    @staticmethod
    def copied(conversation: DatagramConversation, datagram: Datagram) -> Iterable[Known]:
        """Takes a copy, and reports the first one in a conversation that is shown."""
        if conversation.copied or (conversation.flow.verdict is not Verdict.ZENOH and conversation.opaque):
            return ()
        conversation.copied = True
        return (Known(conversation, datagram, COPY, DATAGRAM),)

    def careful(self, conversation: DatagramConversation, datagram: Datagram) -> Iterator[Known]:
        """Takes a datagram that may not simply continue a session."""
        if conversation.reopens(datagram):
            conversation = self.replace(conversation, datagram)
        conversation.opaque += len(datagram.payload)
        conversation.flow.size += len(datagram.payload)
        for known in self.known(conversation, datagram):
            conversation.opaque -= len(known.datagram.payload)
            yield known

    def close(self) -> Iterator[Known]:
        """The datagrams that still wait where Zenoh is expected, in the order of the capture."""
        left: list[Known] = []
        for conversation in self.all():
            left += self.decided(conversation)
        yield from sorted(left, key=lambda known: (known.datagram.frame.now_ns, known.datagram.frame.number))

    def decided(self, conversation: DatagramConversation) -> Iterator[Known]:
        """The datagrams that wait in a conversation of which no more will come, if Zenoh is expected there."""
        if conversation.flow.verdict is not Verdict.UNDECIDED:
            return
        if conversation.expected and conversation.waiting:
            self.strange(conversation, Verdict.ZENOH)
        elif conversation.opaque:
            conversation.flow.verdict = Verdict.OTHER
        if conversation.flow.verdict is Verdict.ZENOH:
            for known in self.released(conversation):
                conversation.opaque -= len(known.datagram.payload)
                yield known

    def known(self, conversation: DatagramConversation, datagram: Datagram) -> Iterator[Known]:
        """The datagrams of the conversation that are now known to be Zenoh."""
        if self.scouting.is_scouting(conversation, datagram):
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
        if self.scouting.fails_as_scouting(datagram, framing):
            return Known(conversation, datagram, SCOUTING, DATAGRAM)
        return Known(conversation, datagram, TRANSPORT, framing)

    def released(self, conversation: DatagramConversation) -> Iterator[Known]:
        """The datagrams that waited in a conversation."""
        for waiting in self.forget(conversation):
            yield self.read(conversation, waiting)

    def forget(self, conversation: DatagramConversation) -> list[Datagram]:
        """Ends the wait of a conversation; returns the datagrams that waited."""
        waiting, conversation.waiting = conversation.waiting, []
        if waiting:
            self.store.set(conversation, CONVERSATION_BYTES)
        return waiting

    def hold(self, conversation: DatagramConversation, datagram: Datagram) -> None:
        """Lets a datagram wait."""
        conversation.waiting.append(datagram)
        self.store.add(conversation, WAITING_BYTES + len(datagram.frame.data))

    def over(self, conversation: DatagramConversation) -> Iterator[Known]:
        """Ends a conversation that is forgotten; the datagrams that waited in it, if they are Zenoh."""
        yield from self.decided(conversation)
        self.forget(conversation)
        if conversation.flow.verdict is Verdict.UNDECIDED:
            conversation.flow.verdict = Verdict.OTHER
        del self.conversations[conversation.flow.ends]
        self.store.drop(conversation)

    def too_many(self) -> list[DatagramConversation]:
        """The conversations to be forgotten because all together take too much memory: first those that aren't Zenoh,
        then those that have been idle longest."""
        if self.store.held <= self.store.most:
            return []
        self.store.tell()
        for largest in self.store.excess():
            if not largest.waiting:
                break
            self.forget(largest)
        if self.store.held <= self.store.most:
            return []
        idle = sorted(self.conversations.values(), key=lambda one: (one.flow.verdict is Verdict.ZENOH, one.heard_ns))
        return idle[: len(idle) // 8 + 1]

    def conversation(self, datagram: Datagram) -> DatagramConversation:
        """The conversation that a datagram belongs to."""
        return self.existing(datagram.src, datagram.dst) or self.new(datagram)

    def existing(self, src: Endpoint, dst: Endpoint) -> DatagramConversation | None:
        """The conversation between two endpoints; None if there is none yet."""
        return self.conversations.get((src, dst)) or self.conversations.get((dst, src))

    def new(self, datagram: Datagram) -> DatagramConversation:
        """A new conversation, opened by the sender of a datagram."""
        src, dst, link = datagram.src, datagram.dst, datagram.link
        flow = Flow(f"{link}.{self.numbers[link]}", link, (src, dst))
        self.numbers[link] += 1
        ports, raw = {src.port, dst.port}, link == RAW_ETHERNET  # whose EtherType is Zenoh's own
        expected, forced = raw or bool(ports & self.expected), raw or bool(ports & self.forced)
        known = self.conversations[src, dst] = DatagramConversation(flow, expected, forced)
        self.store.set(known, CONVERSATION_BYTES)
        return known

    def all(self) -> Iterator[DatagramConversation]:
        """All conversations, including those whose ports were taken by others."""
        yield from self.past
        yield from self.conversations.values()

    def replace(self, conversation: DatagramConversation, datagram: Datagram) -> DatagramConversation:
        """Ends a conversation; a datagram opens a new one on its ports."""
        flow = conversation.flow
        flow.endings.append((0, "reused", datagram.frame.now_ns))
        self.past.append(conversation)
        del self.conversations[flow.ends]
        new = self.new(datagram)
        new.flow.replaces, new.flow.verdict, new.init = flow.id, Verdict.ZENOH, conversation.init
        return new

    def judge(self, conversation: DatagramConversation, datagram: Datagram) -> None:
        """Decides what a conversation is, if this datagram and those before it are enough to tell."""
        flow, data, cut = conversation.flow, datagram.payload, datagram.missing > 0
        conversation.expected = conversation.expected or datagram.dst in self.scouting.scouts
        fitting, before = detect_datagram.framings(data, cut=cut), conversation.evidence
        framing = self.groups.get(datagram.dst) or detect_datagram.likeliest(data, fitting)
        if other_protocols.is_quic(data):
            flow.verdict = Verdict.QUIC
        elif framing is not None and self.proves(conversation, datagram, framing):
            flow.verdict = Verdict.ZENOH
        elif conversation.evidence == before and (other := other_protocols.of_datagram(data, cut=cut)) is not None:
            flow.verdict = other
        elif conversation.expected and conversation.looks_like_zenoh(data, framing):
            flow.verdict = Verdict.ZENOH
        else:
            self.wait(conversation, datagram, framing)
        if flow.verdict not in (Verdict.UNDECIDED, Verdict.ZENOH):
            self.forget(conversation)

    def wait(self, conversation: DatagramConversation, datagram: Datagram, framing: Framing | None) -> None:
        """Notes a datagram that decides nothing."""
        self.hold(conversation, datagram)
        if framing is None:
            conversation.evidence = 0
        if len(conversation.waiting) < (MOST_STRANGE if conversation.expected else MOST_WAITING):
            return
        conversation.evidence = 0
        if conversation.expected:
            self.strange(conversation, Verdict.OTHER)
        if conversation.flow.verdict is not Verdict.ZENOH:
            self.forget(conversation)

    @staticmethod
    def strange(conversation: DatagramConversation, verdict: Verdict) -> None:
        """Decides what a conversation is where Zenoh is expected, but nothing has proved it."""
        waiting = conversation.waiting
        if all(detect_datagram.framings(datagram.payload, cut=datagram.missing > 0) for datagram in waiting):
            verdict = Verdict.ZENOH
        elif all(other_protocols.may_be_quic(datagram.payload) for datagram in waiting):
            verdict = Verdict.QUIC
        conversation.flow.verdict = verdict

    def proves(self, conversation: DatagramConversation, datagram: Datagram, framing: Framing) -> bool:
        """Whether this datagram, with those before it, shows that the conversation is Zenoh."""
        data, cut = datagram.payload, datagram.missing > 0
        if datagram.dst in self.groups:
            conversation.framings = [framing, framing]
            return True
        opening = None if cut else detect_datagram.opens_session(data, framing)
        if opening == JOIN.id:
            self.groups[datagram.dst] = framing
            if len(self.groups) > self.most:
                del self.groups[next(iter(self.groups))]
        sequence = conversation.sequences[conversation.direction(datagram)]
        tells = detect_datagram.tells(data, framing, sequence, cut=cut)
        conversation.evidence += tells
        return opening is not None or (conversation.expected and tells) or conversation.evidence >= PROOF


def buffer_of(datagram: Datagram) -> Buffer:
    """The datagram's payload with its origin."""
    return Buffer(datagram.link, datagram.payload, [Origin(0, datagram.frame.number, datagram.offset)])
