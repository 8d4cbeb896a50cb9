"""Finds the next batch in a stream whose place is lost: a boundary is where length prefixes and headers chain.

An offset is accepted if a prefix there leads to bytes that decode to their end as a batch, and so does the next prefix
behind them, and so on for a few batches or to the end of what is in hand.
"""

from zdissect.flow.decode import is_batch
from zdissect.flow.framing import Framing

CHAIN = 3
"""Batches in a row that prove a boundary: one alone may be chance."""
_WEIGHT = 4
"""A smaller batch (KEEP_ALIVE, CLOSE, an empty one) proves nothing."""


def boundary(data: bytes, framing: Framing, final: bool) -> tuple[int, bool]:
    """(offset, found): bytes before the offset start no batch; whether one starts there, or more bytes are needed."""
    for offset in range(len(data) - framing.prefix):
        verdict = chain(data, framing, offset, final)
        if verdict is None:
            return offset, False
        if verdict:
            return offset, True
    return (len(data) if final else max(0, len(data) - framing.prefix)), False


def chain(data: bytes, framing: Framing, offset: int, final: bool) -> bool | None:
    """Whether batches chain from `offset` on; None if that depends on bytes to come (never so when `final`)."""
    prefix = framing.prefix
    links = weight = 0
    pos = offset
    while pos + prefix <= len(data):
        size = int.from_bytes(data[pos : pos + prefix], "little")
        stop = pos + prefix + size
        if size and pos + prefix < len(data) and not _plausible(data[pos + prefix], framing):
            return False
        if stop > len(data):
            return bool(weight) if final else None
        if size and not is_batch(data, framing, pos, stop):
            return False
        links += 1
        weight += size >= _WEIGHT
        pos = stop
        if links >= CHAIN and weight:
            return True
    return bool(weight) and (pos == len(data) or links > 1)


def _plausible(first: int, framing: Framing) -> bool:
    """Whether a byte can start the content of a batch: a quick no for most offsets."""
    if framing.compression:
        return first < 2
    ident = first & 31
    if framing.low_latency:
        return ident >= 0x19 or ident in (3, 4)
    return ident < 8 and (ident not in (3, 4) or not first & 0x40)
