"""The first mistakes of a new implementation: batches that aren't framed as their link requires, and messages sent over
the wrong link. Looked for where a batch doesn't decode; it is then read as it was meant, with a finding.
"""

from typing import NamedTuple

from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Tape
from zdissect.flow.batch_decoding import decode, is_batch, preceded, sound
from zdissect.flow.detect_datagram import scouting
from zdissect.flow.framing import DATAGRAM, STREAM, Framing
from zdissect.grammar.batch import LOW_LATENCY_PREFIX, SCOUTING_DATAGRAM, STREAM_PREFIX
from zdissect.grammar.checks import VERSIONS
from zdissect.grammar.flags import ID_BITS
from zdissect.grammar.transport import FRAGMENT, INIT, OAM

_PREFIXES = tuple((size, big) for size in (STREAM_PREFIX, LOW_LATENCY_PREFIX) for big in (False, True))
_LONGEST_INIT = 4096
"""Bytes of the longest handshake that is looked for, so that more aren't decoded again and again."""
_SIZES = {STREAM_PREFIX: "two bytes", LOW_LATENCY_PREFIX: "four bytes"}
ANY_BYTES = (OAM.id, FRAGMENT.id)
"""Messages whose content can be nearly any bytes."""


class Misframing(NamedTuple):
    """How to read a batch that isn't framed as its link requires."""

    framing: Framing
    code: str
    """Code of the rule that it breaks."""
    text: str
    scouts: bool = False
    """Whether it is a scouting datagram."""

    def tape(self, data: bytes, *, cut: bool = False) -> Tape:
        """The batch, read as it is meant."""
        prefix = self.framing.prefix
        if not self.scouts:
            tape = decode(data, self.framing, cut=cut).tape
        else:
            tape = interpret(SCOUTING_DATAGRAM, data, prefix, cut=cut)
            tape = preceded(tape, 0) if prefix else tape
        tape.remarks.insert(0, (self.code, 0, min(max(prefix, 1), len(data)), self.text))
        return tape


def of_datagram(data: bytes, framing: Framing) -> Misframing | None:
    """What is wrong with a datagram, or a WebSocket message, that doesn't decode: a length in front that fits."""
    for size, big in _PREFIXES:
        if _length(data, size, big) != len(data) - size or len(data) == size:
            continue
        text = f"a length of {_SIZES[size]}{' (big endian)' * big} in front, which datagrams and messages don't have"
        meant = framing._replace(prefix=size, big=big)
        if scouting(data[size:]) and not opens(data[size:]):
            return Misframing(meant, "length-prefix", text, scouts=True)
        if is_batch(data, meant) or (_starts(data[size:]) and not _chance(data)):
            return Misframing(meant, "length-prefix", text)
    return None


def doubtful(data: bytes, tape: Tape) -> bool:
    """Whether a datagram may be meant otherwise than it was read: it doesn't decode, or only by chance,
    or there is nothing to decode."""
    return not data or not sound(tape) or _chance(data)


def _chance(data: bytes) -> bool:
    """Whether bytes begin as OAM or FRAGMENT, whose content can be nearly any bytes."""
    return bool(data) and data[0] & ID_BITS in ANY_BYTES


def _starts(data: bytes) -> bool:
    """Whether the first bytes may be those of a message, whatever follows."""
    return any(span[0].kind == "message" for span in decode(data, DATAGRAM).tape.spans)


def of_stream(data: bytes) -> Misframing | None:
    """What is wrong with the first bytes of a stream: an INIT whose length prefix is missing or has the wrong form, or
    a scouting message."""
    if opens(data):
        return Misframing(DATAGRAM, "length-prefix", "no length in front: on streams each batch has one, of two bytes")
    for size, big in _PREFIXES[1:]:
        length = _length(data, size, big)
        if 0 < length <= len(data) - size and opens(data[size : size + length]):
            wrong = f"big endian, of {_SIZES[size]}" if big else f"of {_SIZES[size]}"
            text = f"the length in front is {wrong}; before OPEN it has two bytes, little endian"
            return Misframing(Framing(size, big=big), "length-prefix", text)
    text = "scouting goes over UDP, and this is a stream"
    if scouting(data):
        return Misframing(DATAGRAM, "misplaced-message", text, scouts=True)
    size = _length(data, STREAM.prefix, False)
    first = data[STREAM.prefix : STREAM.prefix + size] if 0 < size <= len(data) - STREAM.prefix else b""
    if scouting(first) and not opens(first):  # some ZenohIDs of an INIT could as well be extensions of a SCOUT
        return Misframing(STREAM, "misplaced-message", text, scouts=True)
    return None


def opens(data: bytes) -> bool:
    """Whether bytes are exactly one batch that begins with an INIT of a known version."""
    named = 2 < len(data) <= _LONGEST_INIT and data[0] & ID_BITS == INIT.id and data[1] in VERSIONS
    return named and is_batch(data, DATAGRAM)


def _length(data: bytes, size: int, big: bool) -> int:
    """The number in the first bytes; -1 if some are missing."""
    return int.from_bytes(data[:size], "big" if big else "little") if len(data) >= size else -1
