"""Finds the next batch of a stream when its place is lost: a boundary is where length prefixes and headers chain.

An offset is accepted if a prefix there is followed by bytes that decode to their end as a batch, and so is the prefix
after them, and so on for a few batches or to the end of the bytes in hand. At least one batch must prove something:
hold a network message, or a sequence number that follows another's. A FRAGMENT alone proves nothing, as it can hold
any bytes; nor do zeros and small numbers, which payloads are full of.

The time is linear in the bytes: places are found by their header byte, a batch is read once for all chains that it is
in, and what is read for guesses has a budget that grows with the bytes that come.
"""

import re
from functools import cache
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
_HEAD = 3
"""First bytes of a batch by which it is judged."""
_COMPRESSED = COMPRESSED.mask
"""Header byte of a compressed batch."""
_CHANNEL = FRAGMENT.flag("R").mask
_FIRST_CREDIT, _CREDIT = 4096, 2
"""Fields that may be read for guesses, at first and for each byte that comes..."""
_COST = 16
"""... and how many count for each batch besides its own."""

Sequence = dict[tuple[int, int], int]
"""Sequence number of the last fragment of each channel and priority."""


class BatchEvidence(NamedTuple):
    """How much a batch proves in a chain."""

    telling: bool
    """Whether it holds a message that proves something."""
    space: tuple[int, int] = (-1, -1)
    """Channel and priority, if it is a fragment."""
    sn: int = -1


class BoundarySearch:
    """Looks for a boundary in bytes of which more and more come.

    Args:
        likely: The first byte is as good as any place to be a boundary: gaps often end where a batch begins.
    """

    def __init__(self, likely: bool = False) -> None:
        self.likely = likely
        self.scanned = 0
        """Bytes at the beginning that start no batch."""
        self.need = 0
        """How many bytes it takes to go on."""
        self.seen = 0
        """How many bytes there were at the last look."""
        self.credit = _FIRST_CREDIT
        """Fields that may still be read for guesses."""
        self.known: dict[int, BatchEvidence | None] = {}
        """What was read, by offset..."""
        self.framing = STREAM
        """... and with which framing."""

    def find(self, data: bytes | bytearray, framing: Framing, final: bool) -> bool:
        """Whether a batch starts at `scanned`, which moves on to the next place where one may start.

        Args:
            data: The bytes so far.
            final: No more will come.
        """
        size, prefix = len(data), framing.prefix
        if framing != self.framing:  # a handshake has agreed on it meanwhile
            self.framing, self.need = framing, 0
            self.known.clear()
        if size < self.need and not final:
            return False
        self.credit += _CREDIT * (size - self.seen)
        self.seen = size
        starts, possible, none = *_header_bytes(framing), bytes(prefix)
        at = self.scanned
        while hit := starts.search(data, at + prefix):
            start = hit.start()
            at = self.scanned = start - prefix
            stop = start + int.from_bytes(data[at:start], "little")
            if stop + prefix < size and not possible[data[stop + prefix]] and data[stop : stop + prefix] != none:
                at += 1
                continue
            verdict = self.chain(data, framing, at, final, self.likely and not at)
            if verdict is None:
                return False
            if verdict:
                return True
            at += 1
        self.scanned = size if final else max(self.scanned, size - prefix)
        self.need = size + 1
        return False

    def passed(self) -> None:
        """Handles that the bytes up to `scanned` are gone."""
        self.need = max(0, self.need - self.scanned)
        self.seen -= self.scanned
        self.known = {at - self.scanned: read for at, read in self.known.items() if at >= self.scanned}
        self.scanned, self.likely = 0, False

    def chain(self, data: bytes | bytearray, framing: Framing, offset: int, final: bool, likely: bool) -> bool | None:
        """Whether batches chain from an offset on; None if that depends on bytes to come (never so when `final`)."""
        prefix = framing.prefix
        links = alive = 0
        proven = empty = False
        sequence: Sequence = {}
        pos = offset
        while pos + prefix <= len(data):
            size = int.from_bytes(data[pos : pos + prefix], "little")
            if not size:
                if not links or empty:
                    return False  # an empty batch stands for a message that was given up: never first or repeated
                empty = True
                pos += prefix
                continue
            stop = pos + prefix + size
            if not _starts(data, pos, framing) or links > _UNPROVEN:
                return False
            if stop > len(data):
                self.need = stop if pos + prefix + _HEAD <= len(data) else len(data) + 1
                return proven if final else None
            if not _starts(data, stop, framing):
                return False
            link = self.evidence(data, framing, pos, stop)
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

    def evidence(self, data: bytes | bytearray, framing: Framing, start: int, stop: int) -> BatchEvidence | None:
        """What a batch proves if it decodes to its end and holds a message; None otherwise."""
        if start not in self.known:
            self.known[start] = self.read(bytes(data[start:stop]), framing) if self.credit > 0 else None
        return self.known[start]

    def read(self, data: bytes, framing: Framing) -> BatchEvidence | None:
        """The same for the bytes of one batch."""
        decoded = decode(data, framing)
        tape = decoded.content
        self.credit -= _COST + len(tape.spans) + (len(data) // 8 if framing.compression else 0)
        if not sound(decoded.tape) or not sound(tape):
            return None
        if any(code == "version" and tape.data[at] not in VERSIONS for code, at, *_ in tape.remarks):
            return None
        return read(tape) if any(span[0].kind == "message" for span in tape.spans) else None


def fits(data: bytes, framing: Framing, final: bool) -> bool | None:
    """Whether batches begin here with this framing; None if that depends on bytes to come."""
    return BoundarySearch().chain(data, framing, 0, final, likely=True)


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


def _starts(data: bytes | bytearray, pos: int, framing: Framing) -> bool:
    """Whether a batch may start here, judged by its length and first bytes, as far as they are in hand: rules out most
    places quickly."""
    start = pos + framing.prefix
    if start >= len(data):
        return True
    size = int.from_bytes(data[pos:start], "little")
    return not size or (size <= LARGEST and _plausible(data[start : start + _HEAD], framing))


def _plausible(head: bytes | bytearray, framing: Framing) -> bool:
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


@cache
def _header_bytes(framing: Framing) -> tuple[re.Pattern[bytes], bytes]:
    """The bytes that a batch can start with, after its length: what finds them, and 1 or 0 for each value."""
    possible = bytes(_plausible(bytes([value]), framing) for value in range(256))
    values = bytes(value for value in range(256) if possible[value])
    return re.compile(b"[" + re.escape(values) + b"]"), possible
