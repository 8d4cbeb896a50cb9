"""One batch to tapes: the batch itself and, if it is compressed, what it holds (notes 3.2)."""

from typing import NamedTuple

from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Buffer, Tape
from zdissect.flow.framing import DATAGRAM, Framing
from zdissect.grammar.batch import BATCH
from zdissect.grammar.field import UNDECODED
from zdissect.grammar.rule import MALFORMED
from zdissect.grammar.rules import RULES
from zdissect.grammar.structures import DEFAULT_BATCH_SIZE
from zdissect.grammar.transport import CLOSE

LARGEST = DEFAULT_BATCH_SIZE
"""Most bytes of a decompressed batch where nothing smaller was agreed on."""
CLOSE_SIZE = 2
"""Bytes of a CLOSE: its header and its reason."""
_CLOSE_FLAG = CLOSE.flag("S").mask


class Decoded(NamedTuple):
    """A batch, decoded."""

    tape: Tape
    plain: Buffer | None
    """The decompressed bytes, if it was compressed."""
    inner: Tape | None
    """Their tape."""

    @property
    def content(self) -> Tape:
        """The tape that holds the messages."""
        return self.inner or self.tape


def decode(
    data: bytes, framing: Framing, *, cut: bool = False, limit: int = LARGEST, start: int = 0, stop: int | None = None
) -> Decoded:
    """Decodes one batch.

    Args:
        cut: Its end isn't in the capture.
        limit: Largest size of the decompressed bytes; more is a finding, and nothing larger is allocated.
    """
    end = len(data) if stop is None else stop
    if framing.big:
        content = start + framing.prefix
        inner = decode(data, framing._replace(prefix=0, big=False), cut=cut, limit=limit, start=content, stop=end)
        return inner._replace(tape=preceded(inner.tape, start))
    if framing.compression and is_plain_close(data, start + framing.prefix, end):
        framing = framing._replace(compression=False)
    tape = interpret(BATCH, data, start, end, cut=cut, **framing.inputs)
    block = None
    if framing.compression:
        block = next((span for span in tape.spans if span[0].path == "zenoh.batch.compressed_data"), None)
    if block is None:
        return Decoded(tape, None, None)
    from zdissect.flow.lz4block import CompressionError, decompress  # only where something is compressed

    try:
        plain = decompress(block[4], limit)
    except CompressionError as problem:
        tape.remarks.append(("compression", block[2], block[3], str(problem)))
        return Decoded(tape, None, None)
    return Decoded(tape, Buffer("decompressed", plain), interpret(BATCH, plain, **DATAGRAM.inputs))


def preceded(tape: Tape, start: int) -> Tape:
    """A tape that also covers the bytes from `start` up to its beginning, as undecoded."""
    (field, depth, _, stop, name), *rest = tape.spans
    front = (UNDECODED, depth + 1, start, tape.start, tape.data[start : tape.start])
    return Tape(tape.data, start, tape.stop, [(field, depth, start, stop, name), front, *rest], tape.remarks)


def is_plain_close(data: bytes, start: int, stop: int) -> bool:
    """A CLOSE without the compression header: a side that gives up during the handshake may send that (notes 4.4)."""
    return stop - start == CLOSE_SIZE and data[start] & ~_CLOSE_FLAG == CLOSE.id


_IMPROBABLE = frozenset({"reserved-bits", "invalid-value", "zero-zid", "zid-length", "unknown-mandatory-extension",
                         "extension-form", "extension-length", "unknown-close-reason", "compression"})  # fmt: skip


def sound(tape: Tape) -> bool:
    """Whether a tape is that of a well-formed unit: nothing undecoded, nothing malformed, known values only."""
    return not any(RULES[code].group == MALFORMED or code in _IMPROBABLE for code, *_ in tape.remarks)


def is_batch(data: bytes, framing: Framing, start: int = 0, stop: int | None = None, *, cut: bool = False) -> bool:
    """Whether these bytes, with their prefix, decode to their end as a batch of at least one message."""
    tape, _, inner = decode(data, framing, cut=cut, start=start, stop=stop)
    if inner is not None:
        return len(inner.spans) > 2 and sound(tape) and sound(inner)
    return any(span[0].kind == "message" for span in tape.spans) and sound(tape)
