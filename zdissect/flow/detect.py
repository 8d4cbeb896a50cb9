"""Tells Zenoh from other protocols by content, on any port (notes 3, 5 and 14).

Zenoh is accepted on evidence that chance doesn't give: a handshake, batches that chain, datagrams that decode to their
last byte. Protocols that share Zenoh's ports are named (`protocols`) and never decoded as Zenoh.
"""

from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Tape
from zdissect.flow import protocols, resync
from zdissect.flow.decode import decode, is_batch, sound
from zdissect.flow.framing import DATAGRAM_FRAMINGS, FRAMINGS, STREAM, Framing
from zdissect.flow.verdict import Verdict
from zdissect.grammar.batch import SCOUTING_DATAGRAM

ZENOH_PORT = 7447
SCOUTING_PORT = 7446
VERSIONS = (8, 9)
"""Protocol versions whose handshake has today's layout."""

LOOK_AHEAD = 1 << 16
"""Bytes of a stream that are looked at before it is given up as not Zenoh: more than the longest batch."""


def stream(
    data: bytes, expected: bool, final: bool, scanned: dict[Framing, int] | None = None
) -> tuple[Verdict, Framing]:
    """(what a stream is, how it is framed), by its first bytes.

    Args:
        expected: It is on a port where Zenoh is expected.
        final: No more bytes will come.
        scanned: Where earlier looks at the same stream stopped, so that none is looked at twice; kept up to date.
    """
    scanned = {} if scanned is None else scanned
    other = protocols.of_stream(data)
    if other is not None:
        return other, STREAM
    if opens(data):
        return Verdict.ZENOH, STREAM
    for framing in FRAMINGS:
        scanned[framing], found = resync.boundary(data, framing, final, scanned.get(framing, 0))
        if found:
            return Verdict.MIDDLE, framing
    if len(data) < LOOK_AHEAD and not final:
        return Verdict.UNDECIDED, STREAM
    return Verdict.MIDDLE if expected else Verdict.OTHER, STREAM


def opens(data: bytes) -> bool:
    """Whether a stream starts with the prefix and the first bytes of an INIT, whatever comes behind them."""
    return len(data) > 5 and data[2] & 31 == 1 and data[3] in VERSIONS and not data[4] & 0x0C and data[4] & 3 != 3


def scouting(data: bytes, *, cut: bool = False) -> Tape | None:
    """The tape of a scouting datagram; None if it is none."""
    if len(data) < 3 or data[0] & 31 not in (1, 2) or data[1] not in VERSIONS:
        return None
    tape = interpret(SCOUTING_DATAGRAM, data, cut=cut)
    return tape if sound(tape) and sum(span[1] == 1 for span in tape.spans) == 1 else None


def transport(data: bytes, *, cut: bool = False) -> Framing | None:
    """The framing under which a datagram decodes to its end as a batch; None if it does under none."""
    return likeliest(data, framings(data, cut=cut))


def framings(data: bytes, *, cut: bool = False) -> list[Framing]:
    """The framings under which a datagram decodes to its end as a batch."""
    return [framing for framing in DATAGRAM_FRAMINGS if is_batch(data, framing, cut=cut)]


def likeliest(data: bytes, fitting: list[Framing]) -> Framing | None:
    """The one of several framings that a datagram most likely has.

    A transport OAM, which nobody sends, is the last choice: it begins like a header byte that says "not compressed".
    """
    return fitting[-1 if not data[:1].strip(b"\x80\x00") else 0] if fitting else None


def tells(data: bytes, framing: Framing, sequence: resync.Sequence, *, cut: bool = False) -> bool:
    """Whether chance wouldn't give this datagram; see `resync.follows`."""
    return resync.follows(resync.read(decode(data, framing, cut=cut).content), sequence)


def opens_session(data: bytes, framing: Framing) -> int | None:
    """The id of a datagram's first message if that is INIT or JOIN: the messages that open a conversation."""
    content = decode(data, framing).content
    messages = (span for span in content.spans if span[0].kind == "message")
    first = next(messages, None)
    if first is None:
        return None
    ident, version = getattr(first[0].node, "id", None), content.data[first[2] + 1 : first[2] + 2]
    return ident if ident in (1, 7) and version in (b"\x08", b"\x09") else None
