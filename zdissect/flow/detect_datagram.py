"""Tells datagrams of Zenoh from others by their content, on any port (notes 3, 5 and 14)."""

from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Tape
from zdissect.flow import resync
from zdissect.flow.batch_decoding import decode, is_batch, sound
from zdissect.flow.framing import DATAGRAM, DATAGRAM_FRAMINGS, Framing
from zdissect.grammar.batch import SCOUTING_DATAGRAM
from zdissect.grammar.checks import VERSIONS
from zdissect.grammar.flags import ID_BITS
from zdissect.grammar.rule import MALFORMED
from zdissect.grammar.rules import RULES
from zdissect.grammar.scouting import SCOUTING
from zdissect.grammar.transport import INIT, JOIN, OAM

_SCOUTING = tuple(message.id for message in SCOUTING)
_OPENING = (INIT.id, JOIN.id)
"""Messages that open a conversation."""
_VERSIONS = tuple(bytes([version]) for version in VERSIONS)
_OAM = bytes([OAM.id, OAM.id | OAM.flag("Z").mask])
"""Header bytes of a transport OAM."""


def scouting(data: bytes, *, cut: bool = False) -> Tape | None:
    """The tape of a scouting datagram; None if the bytes aren't one."""
    if len(data) < 3 or data[0] & ID_BITS not in _SCOUTING or data[1] not in VERSIONS:
        return None
    tape = interpret(SCOUTING_DATAGRAM, data, cut=cut)
    return tape if sound(tape) and sum(span[1] == 1 for span in tape.spans) == 1 else None


def transport(data: bytes, *, cut: bool = False) -> Framing | None:
    """The framing under which a datagram decodes to its end as a batch; None if there is none."""
    return likeliest(data, framings(data, cut=cut))


def framings(data: bytes, *, cut: bool = False) -> list[Framing]:
    """The framings under which a datagram decodes to its end as a batch."""
    return [framing for framing in DATAGRAM_FRAMINGS if is_batch(data, framing, cut=cut)]


def likeliest(data: bytes, fitting: list[Framing]) -> Framing | None:
    """The most likely framing of a datagram among several that fit; None if none does.

    A transport OAM, which nobody sends, is the last choice: it begins like a header byte that says "not compressed".
    """
    return fitting[-1 if not data[:1].strip(_OAM) else 0] if fitting else None


def tells(data: bytes, framing: Framing, sequence: resync.Sequence, *, cut: bool = False) -> bool:
    """Whether this datagram is unlikely by chance; see `resync.follows`."""
    return resync.follows(resync.read(decode(data, framing, cut=cut).content), sequence)


def opens_session(data: bytes, framing: Framing) -> int | None:
    """The id of a datagram's first message if that is INIT or JOIN, which open conversations; None otherwise."""
    content = decode(data, framing).content
    messages = (span for span in content.spans if span[0].kind == "message")
    first = next(messages, None)
    if first is None:
        return None
    ident, version = getattr(first[0].node, "id", None), content.data[first[2] + 1 : first[2] + 2]
    return ident if ident in _OPENING and version in _VERSIONS else None


def is_init(data: bytes) -> bool:
    """Whether a datagram is an INIT of a version that is known, with nothing malformed, whatever its values."""
    tape = decode(data, DATAGRAM).tape
    malformed = any(RULES[code].group == MALFORMED for code, *_ in tape.remarks)
    return opens_session(data, DATAGRAM) == INIT.id and not malformed
