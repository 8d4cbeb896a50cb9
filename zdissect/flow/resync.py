"""Finds the next batch of a stream when its place is lost: a boundary is where length prefixes and headers chain.

An offset is accepted if a prefix there is followed by bytes that decode to their end as a batch, and so is the prefix
after them, and so on for a few batches or to the end of the bytes in hand. At least one batch must prove something:
hold a network message, or a sequence number that follows another's. A FRAGMENT alone proves nothing, as it can hold
any bytes; nor do zeros and small numbers, which payloads are full of.
"""

from typing import NamedTuple

from zdissect.engine.tape import Tape
from zdissect.flow.batch_decoding import LARGEST, decode, sound
from zdissect.flow.framing import STREAM, Framing
from zdissect.grammar.batch import COMPRESSED, LOW_LATENCY
from zdissect.grammar.checks import VERSIONS
from zdissect.grammar.enums import DATA
from zdissect.grammar.extensions import TRANSPORT_PRIORITY
from zdissect.grammar.flags import ID_BITS
from zdissect.grammar.network import NETWORK
from zdissect.grammar.network import OAM as NETWORK_OAM
from zdissect.grammar.transport import CLOSE, FRAGMENT, FRAME, INIT, JOIN, KEEP_ALIVE, OPEN

CHAIN = 3
"""Batches in a row that prove a boundary: one alone may be chance."""
_KEEP_ALIVE = (1).to_bytes(STREAM.prefix, "little") + bytes([KEEP_ALIVE.id])
_UNPROVEN = 20
"""Batches in a row without proof that can't be a boundary: more than there are channels and priorities."""
_TELLING = frozenset((INIT, JOIN, *NETWORK)) - {NETWORK_OAM}
"""Messages that prove something: INIT, JOIN, and all network messages except OAM."""
_VERSIONED = (INIT.id, JOIN.id)
"""Messages whose second byte is the version."""
_RESERVED = FRAME.flag("X6").mask
_STARTS = frozenset(
    message.id | flags
    for message in (OPEN, FRAGMENT, CLOSE, KEEP_ALIVE, FRAME)
    for flags in range(0, 256, ID_BITS + 1)
    if message in (OPEN, FRAGMENT) or not flags & _RESERVED
)
"""Header bytes of the other messages that a batch may start with; all but these two have a reserved bit."""
_LOW_LATENCY = frozenset(message.id for message in LOW_LATENCY)
_COMPRESSED = COMPRESSED.mask
"""Header byte of a compressed batch."""
_CHANNEL = FRAGMENT.flag("R").mask

Sequence = dict[tuple[int, int], int]
"""Sequence number of the last fragment of each channel and priority."""


class BatchEvidence(NamedTuple):
    """How much a batch proves in a chain."""

    telling: bool
    """Whether it holds a message that proves something."""
    space: tuple[int, int] = (-1, -1)
    """Channel and priority, if it is a fragment."""
    sn: int = -1


def boundary(data: bytes, framing: Framing, final: bool, start: int = 0, likely: bool = False) -> tuple[int, bool]:
    """(offset, found): no batch starts before the offset; found, one starts there, otherwise more bytes are needed.

    Args:
        final: No more bytes will come.
        start: Bytes before this offset are known to start no batch.
        likely: Offset 0 is as good as any place to be a boundary: gaps often end where a batch begins.
    """
    known: dict[int, BatchEvidence | None] = {}
    for offset in range(start, len(data) - framing.prefix):
        verdict = _chain(data, framing, offset, final, known, likely and not offset)
        if verdict is None:
            return offset, False
        if verdict:
            return offset, True
    return (len(data) if final else max(start, len(data) - framing.prefix)), False


def fits(data: bytes, framing: Framing, final: bool) -> bool | None:
    """Whether batches begin here with this framing; None if that depends on bytes to come."""
    return _chain(data, framing, 0, final, {}, likely=True)


def _chain(
    data: bytes, framing: Framing, offset: int, final: bool, known: dict[int, BatchEvidence | None], likely: bool
) -> bool | None:
    """Whether batches chain from `offset` on; None if that depends on bytes to come (never so when `final`).

    `known` has the batches that were read before, by their offsets.
    """
    prefix = framing.prefix
    links = alive = 0
    proven = empty = False
    sequence: Sequence = {}
    pos = offset
    while pos + prefix <= len(data):
        size = int.from_bytes(data[pos : pos + prefix], "little")
        if not size:
            if not links or empty:
                return False  # an empty batch stands for a message that was given up, so it is never first or repeated
            empty = True
            pos += prefix
            continue
        stop = pos + prefix + size
        if not _starts(data, pos, framing) or links > _UNPROVEN:
            return False
        if stop > len(data):
            return proven if final else None
        if not _starts(data, stop, framing):
            return False
        if pos not in known:
            known[pos] = _read(data, framing, pos, stop)
        link = known[pos]
        if link is None:
            return False
        alive += data[pos:stop] == _KEEP_ALIVE
        proven = follows(link, sequence) or proven or alive >= CHAIN
        links += 1
        empty = False
        pos = stop
        if links >= CHAIN and proven:
            return True
    return (proven and links > 1) or ((proven or likely) and links > 0 and pos == len(data))


def _read(data: bytes, framing: Framing, start: int, stop: int) -> BatchEvidence | None:
    """What a batch proves if it decodes to its end and holds a message; None otherwise."""
    decoded = decode(data, framing, start=start, stop=stop)
    tape = decoded.content
    if not sound(decoded.tape) or not sound(tape):
        return None
    if any(code == "version" and tape.data[at] not in VERSIONS for code, at, *_ in tape.remarks):
        return None
    return read(tape) if any(span[0].kind == "message" for span in tape.spans) else None


def read(tape: Tape) -> BatchEvidence:
    """What a batch proves."""
    name = None
    sn = channel = -1
    priority = DATA
    for field, _, _, _, value in tape.spans:
        if field.kind == "message":
            if field.node in _TELLING:
                return BatchEvidence(True)
            name = value
        elif name == "FRAGMENT":
            if field.path == "zenoh.fragment.header":
                channel = value & _CHANNEL
            elif field.path == "zenoh.fragment.sn":
                sn = value
            elif field.path == "zenoh.fragment.ext_qos.value":
                priority = TRANSPORT_PRIORITY.of(value)
    return BatchEvidence(False, (channel, priority), sn) if sn >= 0 else BatchEvidence(False)


def follows(link: BatchEvidence, sequence: Sequence) -> bool:
    """Whether this batch is unlikely by chance: it holds a network message, INIT or JOIN, or its sequence number
    follows the last one. Updates `sequence`."""
    if link.telling or link.sn < 0:
        return link.telling
    last = sequence.get(link.space)
    sequence[link.space] = link.sn
    return link.sn > 0 and last == link.sn - 1


def _starts(data: bytes, pos: int, framing: Framing) -> bool:
    """Whether a batch may start here, judged by its length and first bytes, as far as they are in hand: rules out most
    places quickly."""
    start = pos + framing.prefix
    if start >= len(data):
        return True
    size = int.from_bytes(data[pos:start], "little")
    return not size or (size <= LARGEST and _plausible(data[start : start + 3], framing))


def _plausible(head: bytes, framing: Framing) -> bool:
    """Whether a batch can start with these bytes."""
    if not head:
        return True
    first = head[0]
    if framing.compression:
        return first == _COMPRESSED or (first == 0 and _plausible(head[1:], framing._replace(compression=False)))
    ident = first & ID_BITS
    if framing.low_latency:
        return ident in _LOW_LATENCY
    if ident in _VERSIONED:
        return len(head) < 2 or head[1] in VERSIONS
    return first in _STARTS
