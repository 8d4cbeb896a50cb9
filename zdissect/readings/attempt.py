"""What every kind of reading yields."""

from typing import Any, NamedTuple

from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Buffer, Tape
from zdissect.grammar.types import Message, Unit

GIVEN = "bytes"
"""Name of the buffer with the pasted bytes."""


class DecodedUnit(NamedTuple):
    """One batch, datagram, frame or message, dissected."""

    buffer: Buffer
    """The bytes that positions refer to: the pasted ones, or bytes made from them (decompressed, COBS removed)."""
    tape: Tape
    base: int = 0
    """Where the tape begins in the pasted bytes; 0 in any others."""

    @property
    def given(self) -> bool:
        """Whether these are the pasted bytes, or a part of them."""
        return self.buffer.name == GIVEN


class Attempt(NamedTuple):
    """The bytes decoded in one way."""

    title: str
    """What the bytes are, for people."""
    units: list[DecodedUnit]
    fit: str = ""
    """What fits, for people."""
    evidence: float = 0.0
    """What speaks for it besides the tapes, in bits."""


def decoded_unit(
    entry: Unit | Message, data: bytes, start: int = 0, stop: int | None = None, **inputs: Any
) -> DecodedUnit:
    """Some of the given bytes as one unit or message."""
    return DecodedUnit(Buffer(GIVEN, data), interpret(entry, data, start, stop, **inputs), start)


def alone(title: str, entry: Unit | Message, data: bytes, evidence: float = 0.0, **inputs: Any) -> Attempt:
    """All bytes as one unit or message."""
    return Attempt(title, [decoded_unit(entry, data, **inputs)], evidence=evidence)
