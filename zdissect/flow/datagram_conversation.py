"""A conversation of datagrams: how they are framed, what waits for a verdict, and whether it is opened anew."""

from dataclasses import dataclass, field
from typing import NamedTuple

from zdissect.flow import detect_datagram, misframed
from zdissect.flow.conversation import Flow
from zdissect.flow.framing import DATAGRAM, UNKNOWN, Framing
from zdissect.flow.resync import Sequence
from zdissect.flow.verdict import Verdict
from zdissect.grammar.checks import VERSIONS
from zdissect.grammar.flags import ID_BITS
from zdissect.grammar.scouting import HELLO
from zdissect.grammar.transport import CLOSE, FRAME, INIT, JOIN, KEEP_ALIVE, OPEN
from zdissect.records import Datagram

SCOUTING, TRANSPORT, COPY = "scouting", "transport", "copy"
OPENING = (INIT.id, OPEN.id)
"""Messages of a handshake, whose ids are those of scouting."""
_OPENS = (INIT.id, JOIN.id, HELLO.id)
"""Messages whose second byte is the version."""
_PLAIN = (CLOSE.id, KEEP_ALIVE.id, FRAME.id)
"""Messages with a reserved bit where others have a flag..."""
_RESERVED = FRAME.flag("X6").mask
_SYN = ID_BITS | INIT.flag("A").mask
"""... and the bits of a header byte that identify an INIT_SYN."""
_VERSIONS = tuple(bytes([version]) for version in VERSIONS)


class Known(NamedTuple):
    """A datagram that is known to be Zenoh."""

    conversation: "DatagramConversation"
    datagram: Datagram
    kind: str
    """Scouting, transport or copy."""
    framing: Framing


CONVERSATION_BYTES = 4096
"""Memory that a conversation takes in all stages, without what waits..."""
WAITING_BYTES = 600
"""... and what each datagram takes that waits, besides the bytes of its frame."""


@dataclass(slots=True, eq=False)
class DatagramConversation:
    """The datagrams between two endpoints."""

    flow: Flow
    expected: bool
    forced: bool = False
    """Whether the user says that it is Zenoh."""
    framings: list[Framing] = field(default_factory=lambda: [UNKNOWN, UNKNOWN])
    """The framing of each direction."""
    waiting: list[Datagram] = field(default_factory=list)
    """Datagrams that could be Zenoh, until enough of them prove it."""
    evidence: int = 0
    """How many of them are evidence of Zenoh."""
    sequences: tuple[Sequence, Sequence] = field(default_factory=lambda: ({}, {}))
    """Sequence numbers of the last fragments of both directions, before the verdict."""
    opaque: int = 0
    """Bytes of datagrams that aren't known to be Zenoh (yet)."""
    init: bytes = b""
    """The last INIT_SYN."""
    beyond: bool = False
    """Whether a message other than INIT came after it."""
    heard_ns: int = 0
    """When its last datagram came."""
    copied: bool = False
    """Whether it was reported that the capture holds some of them twice."""

    def direction(self, datagram: Datagram) -> int:
        """0 if the side that spoke first sent it."""
        return int(datagram.src != self.flow.ends[0])

    def plain(self, datagram: Datagram) -> bool:
        """Whether a datagram certainly continues a session: it neither opens one nor looks like scouting."""
        data, known = datagram.payload, self.flow.verdict is Verdict.ZENOH
        return bool(known and data and data[0] & ID_BITS not in OPENING and not self.waiting)

    def reframe(self, direction: int, framing: Framing) -> None:
        """Sets the framing that a handshake agreed on, from the next datagram of this direction on."""
        self.framings[direction] = framing

    def framing(self, datagram: Datagram) -> Framing:
        """How a datagram is framed; worked out by trial if the handshake isn't in the capture."""
        direction = self.direction(datagram)
        known = self.framings[direction]
        if known.prefix >= 0:
            return known
        fitting = detect_datagram.framings(datagram.payload, cut=datagram.missing > 0)
        if len(fitting) == 1:  # else it says nothing about the next datagram
            self.framings[direction] = fitting[0]
        return detect_datagram.likeliest(datagram.payload, fitting) or DATAGRAM

    def reopens(self, datagram: Datagram) -> bool:
        """Whether a datagram opens a new session on the ports of another: it is an INIT_SYN, and doesn't repeat one
        that wasn't answered."""
        data = datagram.payload
        if not data or data[0] & _SYN != INIT.id or datagram.missing:
            self.beyond = self.beyond or (bool(data) and data[0] & ID_BITS != INIT.id)
            return False
        if not detect_datagram.is_init(data):  # nor is it a compressed batch: no block of LZ4 begins with a version
            return False
        known = self.beyond or bool(self.init)
        again = data == self.init and not self.beyond
        self.init, self.beyond = data, False
        return self.flow.verdict is Verdict.ZENOH and known and not again

    def looks_like_zenoh(self, data: bytes, framing: Framing | None) -> bool:
        """Whether a datagram that proves nothing is taken for Zenoh at once, where Zenoh is expected."""
        if not data:
            return False
        if self.forced:
            return True
        ident = data[0] & ID_BITS
        if framing is not None:
            return ident not in misframed.ANY_BYTES and not self.waiting
        if ident in _OPENS and data[1:2] in _VERSIONS:
            return True
        if ident in _PLAIN and not data[0] & _RESERVED:
            return True
        return misframed.of_datagram(data, DATAGRAM) is not None
