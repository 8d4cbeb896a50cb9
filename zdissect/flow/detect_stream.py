"""What a stream is, by its first bytes (notes 3.1 and 14).

On any port Zenoh is accepted on evidence unlikely by chance: the first bytes of an INIT, batches that chain, or,
where the capture holds the stream from its SYN on, many lengths that chain over all of it. Where Zenoh is expected, a
stream is read from its first byte whatever it holds, unless it begins as another protocol does.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from zdissect.flow import misframed, other_protocols
from zdissect.flow.batch_decoding import decode, is_batch
from zdissect.flow.framing import FRAMINGS, STREAM, Framing
from zdissect.flow.misframed import Misframing
from zdissect.flow.resync import CHAIN, BoundarySearch
from zdissect.flow.verdict import Verdict
from zdissect.grammar.checks import VERSIONS
from zdissect.grammar.enums import WHATAMI
from zdissect.grammar.flags import ID_BITS, named
from zdissect.grammar.structures import PACKED
from zdissect.grammar.transport import INIT, OPEN

LOOK_AHEAD = 1 << 16
"""Bytes of a stream that are looked at before it is given up as not Zenoh: more than the longest batch."""
MANY = 5
"""Batches that prove the framing of a stream on any port if they chain over all of it."""
_LOOKED_INTO = 16
"""Batches that are decoded to see whether any is of this protocol."""
_HEAD = STREAM.prefix + 3
"""Bytes of the prefix and of what INIT begins with: header, version, and length of the ZenohID with the role."""
_RESERVED, _ROLE = named(PACKED.bits, "reserved2"), named(PACKED.bits, "whatami")

MIDDLE = "the capture starts in the middle of a batch"
NOWHERE = "the stream doesn't begin with a batch, up to the first one"


class Look(NamedTuple):
    """What the first bytes of a stream say."""

    verdict: Verdict
    framing: Framing = STREAM
    lost: str = ""
    """Why the first bytes are no batch; empty if a batch begins with them."""
    hint: Misframing | None = None
    """What is wrong with how it is framed."""


class PrefixChain(NamedTuple):
    """Batches that follow each other by their lengths, from the first byte of a stream on."""

    batches: list[tuple[int, int]]
    """Start and stop of each batch that is whole and not empty."""
    exact: bool
    """Whether the last batch ends with the last byte."""
    places: frozenset[int]
    """Where batches begin."""


@dataclass(slots=True)
class Looked:
    """What earlier looks at the same stream found, so that nothing is searched twice."""

    searches: dict[Framing, BoundarySearch] = field(default_factory=dict)
    """The search for batches of each framing."""
    batches: int = 0
    """How many batches chained from its first byte."""


def look(data: bytes, expected: bool, final: bool, before: Looked, begins: bool = False) -> Look:
    """What a stream is.

    Args:
        data: Its first bytes.
        expected: It is on a port where Zenoh is expected.
        final: No more bytes will come.
        before: What earlier looks found; kept up to date.
        begins: The capture holds it from its SYN on.
    """
    other = other_protocols.of_stream(data)
    if other is not None:
        return Look(other)
    hint = misframed.of_stream(data) if begins else None
    if hint is not None and (expected or (hint.framing.prefix and not hint.scouts)):
        return Look(Verdict.ZENOH, hint.framing, hint=hint)
    if opens(data) and not (begins and _doubtful(data) and not final):
        return Look(Verdict.ZENOH)
    chain = chained(data)
    over, known = final or len(data) >= LOOK_AHEAD, before.batches
    before.batches = len(chain.batches)
    if begins and chain.batches:
        if expected and before.batches == known and not over:
            return Look(Verdict.UNDECIDED)
        first = first_batch(data, chain, expected, final, over)
        if first is not None:
            return first
    boundary = first_boundary(data, chain, final, before, begins)
    if boundary is not None:
        return boundary
    if not over:
        return Look(Verdict.UNDECIDED)
    if not expected:
        return Look(Verdict.OTHER)
    if begins:
        return Look(Verdict.ZENOH)
    return Look(Verdict.MIDDLE, lost="" if chain.exact else MIDDLE)


def first_boundary(data: bytes, chain: PrefixChain, final: bool, before: Looked, begins: bool) -> Look | None:
    """What a stream is if batches of some framing chain in it, from its first byte or a later one on; None if none
    chain, or none yet.
    """
    for framing in FRAMINGS:
        search = before.searches.get(framing)
        if search is None:
            search = before.searches[framing] = BoundarySearch()
        found = search.find(data, framing, final)
        if found and not begins:
            return Look(Verdict.MIDDLE, framing, MIDDLE)
        if found:
            return Look(Verdict.ZENOH, framing, "" if search.scanned in chain.places else NOWHERE)
    return None


def first_batch(data: bytes, chain: PrefixChain, expected: bool, final: bool, over: bool) -> Look | None:
    """What the first batches say about a stream captured from its first byte on; None if they don't say enough.

    Args:
        over: Enough bytes are in hand; no more are waited for.
    """
    count = len(chain.batches)
    looked = chain.batches[:_LOOKED_INTO]
    if expected:
        start, _ = chain.batches[0]
        if data[start + STREAM.prefix] & ID_BITS in (INIT.id, OPEN.id) or any(_sound(data, batch) for batch in looked):
            return Look(Verdict.ZENOH)
        if count < CHAIN and not over:
            return Look(Verdict.UNDECIDED)
        strange = count >= CHAIN or chain.exact
    else:
        strange = over and count >= MANY and (chain.exact or not final)
        if not strange or any(_sound(data, batch) for batch in looked):
            return None
    if not strange or all(_named(data, batch) for batch in looked):
        return Look(Verdict.ZENOH) if expected else None
    how = f"the lengths of {count} batch{'es' * (count > 1)} chain{'s' * (count == 1)}"
    text = f"framed like Zenoh, but not protocol 0x09: {how}, but no message of it is found"
    return Look(Verdict.ZENOH, hint=Misframing(STREAM, "other-protocol", text))


def chained(data: bytes) -> PrefixChain:
    """The batches that chain from the first byte on."""
    prefix, at = STREAM.prefix, 0
    batches: list[tuple[int, int]] = []
    places = [0]
    while at + prefix <= len(data):
        stop = at + prefix + int.from_bytes(data[at : at + prefix], "little")
        if stop > len(data):
            break
        if stop > at + prefix:
            batches.append((at, stop))
        at = stop
        places.append(at)
    return PrefixChain(batches, bool(batches) and at == len(data), frozenset(places))


def opens(data: bytes) -> bool:
    """Whether a stream starts with the prefix and the first bytes of an INIT, whatever comes after them."""
    if len(data) <= _HEAD:
        return False
    header, version, packed = data[STREAM.prefix : _HEAD]
    init = header & ID_BITS == INIT.id and version in VERSIONS
    return init and not packed & _RESERVED.mask and _ROLE.of(packed) in WHATAMI.names


def _doubtful(data: bytes) -> bool:
    """Whether the length of a first batch that isn't whole yet may be big endian."""
    return not data[0] and len(data) < STREAM.prefix + int.from_bytes(data[: STREAM.prefix], "little")


def _sound(data: bytes, batch: tuple[int, int]) -> bool:
    """Whether a batch decodes to its end."""
    return is_batch(data, STREAM, *batch)


def _named(data: bytes, batch: tuple[int, int]) -> bool:
    """Whether the first message of a batch is one of this protocol, as far as its id tells."""
    tape = decode(data, STREAM, start=batch[0], stop=batch[1]).tape
    return any(span[0].kind == "message" for span in tape.spans)
