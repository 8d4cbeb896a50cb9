"""Which datagrams are scouting: SCOUT and HELLO share their ids with INIT and OPEN (notes 5).

A SCOUT is recognised by its content alone, a HELLO if it answers a SCOUT, or has fields that only a HELLO has. A
datagram that doesn't decode is taken for the kind as which more of it does, or for scouting where that is expected.
"""

from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Tape
from zdissect.flow import detect_datagram, misframed
from zdissect.flow.batch_decoding import sound
from zdissect.flow.datagram_conversation import DatagramConversation
from zdissect.flow.framing import DATAGRAM, Framing
from zdissect.flow.verdict import Verdict
from zdissect.grammar.batch import BATCH, SCOUTING_DATAGRAM
from zdissect.grammar.field import UNDECODED
from zdissect.grammar.flags import ID_BITS
from zdissect.grammar.ports import SCOUTING_PORT
from zdissect.grammar.scouting import HELLO, SCOUT
from zdissect.grammar.transport import TRANSPORT as BATCHES
from zdissect.records import Datagram, Endpoint

_BATCHES = frozenset(message.id for message in BATCHES)
"""Ids of the messages that a batch may begin with."""
_LOCATORS = HELLO.flag("L").mask
"""The field that only a HELLO has."""


class Scouting:
    """The scouting of a capture: who sent a SCOUT, and which datagrams are scouting."""

    def __init__(self, most: int) -> None:
        """`most`: so many senders of a SCOUT are remembered, the latest."""
        self.most = most
        self.scouts: dict[Endpoint, None] = {}
        """Endpoints that sent a SCOUT: HELLOs come back to them from any port."""

    def asks(self, endpoint: Endpoint) -> None:
        """Notes that an endpoint sent a SCOUT."""
        self.scouts[endpoint] = None
        if len(self.scouts) > self.most:
            del self.scouts[next(iter(self.scouts))]

    def is_scouting(self, conversation: DatagramConversation, datagram: Datagram) -> bool:
        """Whether it is a SCOUT, or a HELLO that answers one or has a field that only a HELLO has."""
        data, cut = datagram.payload, datagram.missing > 0
        if not data or data[0] & ID_BITS not in (SCOUT.id, HELLO.id):
            return False
        tape = detect_datagram.scouting(data, cut=cut)
        if tape is None:
            return False
        if conversation.flow.verdict is Verdict.ZENOH and detect_datagram.framings(data, cut=cut):
            return False  # an INIT or OPEN, whose ids are those of SCOUT and HELLO
        if tape.spans[1][4] == SCOUT.name:
            if misframed.opens(data) and not self.asked(datagram):
                return False  # an INIT whose ZenohID could as well be extensions of a SCOUT, for which none is defined
            self.asks(datagram.src)
            return True
        return datagram.dst in self.scouts or bool(data[0] & _LOCATORS)

    def fails_as_scouting(self, datagram: Datagram, framing: Framing) -> bool:
        """Whether more of a datagram that doesn't decode is read as a scouting message than as a batch."""
        data, cut, asked = datagram.payload, datagram.missing > 0, self.asked(datagram)
        if not data or framing != DATAGRAM or misframed.of_datagram(data, framing):
            return False
        ident = data[0] & ID_BITS
        if ident not in (SCOUT.id, HELLO.id):
            return asked and ident not in _BATCHES
        batch, scouting = interpret(BATCH, data, cut=cut, **framing.inputs), interpret(SCOUTING_DATAGRAM, data, cut=cut)
        if not asked:
            more = (_undecoded(scouting), len(scouting.remarks)) < (_undecoded(batch), len(batch.remarks))
        elif ident == HELLO.id:  # not an OPEN, whose bytes nearly always decode as a HELLO
            more = not sound(batch)
        else:  # an INIT there is a mistake
            more = bool(_undecoded(batch)) or not _undecoded(scouting)
        if more and ident == SCOUT.id:
            self.asks(datagram.src)
        return more

    def asked(self, datagram: Datagram) -> bool:
        """Whether a datagram is expected to be scouting, by its ports or because its receiver sent a SCOUT."""
        return SCOUTING_PORT in (datagram.src.port, datagram.dst.port) or datagram.dst in self.scouts


def _undecoded(tape: Tape) -> int:
    """Bytes that no field owns."""
    return sum(stop - start for field, _, start, stop, _ in tape.spans if field is UNDECODED)
