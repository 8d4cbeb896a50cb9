"""Bytes read as batches with length prefixes, in each framing; and what compressed batches hold (notes 3.1 to 3.4)."""

from collections.abc import Iterator
from itertools import pairwise
from math import log2

from zdissect.engine.tape import Buffer
from zdissect.flow.batch_decoding import decode
from zdissect.flow.framing import STREAM, Framing
from zdissect.grammar.batch import BATCH, LOW_LATENCY_PREFIX
from zdissect.readings.attempt import GIVEN, Attempt, DecodedUnit, decoded_unit

LOW_LATENCY = Framing(LOW_LATENCY_PREFIX, low_latency=True)
COMPRESSED = STREAM._replace(compression=True)
COMPRESSED_DATAGRAM = Framing(0, compression=True)

_EMPTY_RUN = 16
"""Empty batches in a row after which zeros are just zeros."""
_PREFIX, _MORE, _EMPTY, _BLOCK = 5.0, 2.0, -6.0, 12.0
"""Evidence in bits: of each byte of a prefix that fits; of each further batch; of an empty batch; of an LZ4 block."""
_LEAST = 12
"""Bytes that LZ4 never compresses."""
_RARE = -6.0
"""Compression must be switched on at both ends."""


def cut(data: bytes, prefix: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """(start, stop) of the batches of a stream; the last may be cut short, or not be a batch."""
    pos, empty = start, 0
    while pos < stop:
        size = int.from_bytes(data[pos : pos + prefix], "little")
        empty = 0 if size else empty + 1
        after = stop if empty > _EMPTY_RUN else min(stop, pos + prefix + size)
        yield pos, after
        pos = after


def stream(data: bytes, framing: Framing = STREAM, start: int = 0, stop: int | None = None) -> Attempt:
    """Batches with their length prefixes, up to the end."""
    prefix = framing.prefix
    ranges = list(cut(data, prefix, start, len(data) if stop is None else stop))
    units = [unit for begin, end in ranges for unit in _batch(data, framing, begin, end)]
    fits = _fit(data, prefix, *ranges[-1]) if ranges else 0.0
    empty = sum(end - begin == prefix for begin, end in ranges)
    number = len(ranges)
    evidence = fits + _MORE * (number - 1 - empty) + _EMPTY * empty
    title = f"{number} batches with their length prefixes" if number > 1 else "a batch with its length prefix"
    fit = ("the length prefix fits" if number == 1 else "the length prefixes lead to the end") if fits > 0 else ""
    return Attempt(title, units, fit, evidence)


def first_batch(data: bytes) -> Attempt:
    """The first batch of a stream; what comes after it is left over."""
    stop = min(len(data), STREAM.prefix + int.from_bytes(data[: STREAM.prefix], "little"))
    evidence = _fit(data, STREAM.prefix, 0, stop) if stop > STREAM.prefix else _EMPTY
    fit = "the length prefix fits" if evidence > 0 and stop == len(data) else ""
    return Attempt("a batch with its length prefix", [decoded_unit(BATCH, data, **STREAM.inputs)], fit, evidence)


def _fit(data: bytes, prefix: int, start: int, stop: int) -> float:
    """Evidence of the last prefix: whether the batch ends where it says; the farther it points, the worse."""
    there = stop - start - prefix
    wanted = int.from_bytes(data[start : start + prefix], "little")
    if there == wanted:
        return _PREFIX * prefix
    return -log2(wanted / max(there, 1)) if wanted > max(there, 1) else 0.0


def low_latency(data: bytes) -> Attempt:
    """A low-latency stream. At its end one CLOSE with the prefix of a normal stream may stand (notes 3.4)."""
    attempt = stream(data, LOW_LATENCY)
    last = attempt.units[-1].tape if attempt.units else None
    if last is not None and last.start and last.remarks:
        normal = stream(data, STREAM, last.start)
        if not any(unit.tape.remarks for unit in normal.units):
            before = stream(data, LOW_LATENCY, 0, last.start)
            attempt = Attempt("", [*before.units, *normal.units], before.fit, before.evidence + normal.evidence)
    number = len(attempt.units)
    title = f"{number} low-latency units with their length prefixes" if number > 1 else "a low-latency unit"
    return attempt._replace(title=title)


def compressed(data: bytes) -> Attempt:
    """Batches that each begin, after their length prefix, with the header byte of compression."""
    attempt = stream(data, COMPRESSED)
    title = attempt.title.replace("prefix", "prefix and compression header", 1)
    return attempt._replace(title=title, evidence=attempt.evidence + _saved(attempt.units))


def compressed_datagram(data: bytes) -> Attempt:
    """One batch without a length prefix that begins with the header byte of compression."""
    units = _batch(data, COMPRESSED_DATAGRAM, 0, len(data))
    return Attempt("a batch with compression header, without a length prefix", units, evidence=_saved(units))


def _batch(data: bytes, framing: Framing, start: int, stop: int) -> list[DecodedUnit]:
    """One batch and, if it is compressed, what it holds."""
    tape, buffer, inner = decode(data, framing, start=start, stop=stop)
    units = [DecodedUnit(Buffer(GIVEN, data), tape, start)]
    return [*units, DecodedUnit(buffer, inner)] if buffer is not None and inner is not None else units


def _saved(units: list[DecodedUnit]) -> float:
    """Evidence of compression: senders compress only if it saves bytes, and LZ4 can't on the shortest inputs."""
    pairs = [(batch.tape, plain.tape.stop) for batch, plain in pairwise(units) if not plain.given]
    return _RARE + sum(_BLOCK if size > max(_LEAST, tape.stop - tape.start) else -_BLOCK for tape, size in pairs)
