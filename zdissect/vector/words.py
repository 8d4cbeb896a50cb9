"""Bytes of an arena at many places at once: single bytes, words of eight bytes, variable-length integers."""

from typing import Any

import numpy as np
import numpy.typing as npt

from zdissect.vector.arrays import Bools, Bytes, Ints

Words = npt.NDArray[np.uint64]

MASKS: Words = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)
"""What is left of a word of which only the first n bytes count."""


def _word(value: int) -> Any:
    return np.uint64(value)


_HIGH = _word(0x8080808080808080)
_LOW = _word(0x7F7F7F7F7F7F7F7F)
_ONE = _word(1)
_PAIRS = (
    (_word(0x007F007F007F007F), _word(0x7F007F007F007F00), _word(1)),
    (_word(0x00003FFF00003FFF), _word(0x3FFF00003FFF0000), _word(2)),
    (_word(0x000000000FFFFFFF), _word(0x0FFFFFFF00000000), _word(4)),
)


def words_of(arena: Bytes) -> Words:
    """The eight bytes from each byte of an arena on, as an integer; a view, shape (len(arena) - 7,)."""
    return np.ndarray((len(arena) - 7,), "<u8", arena, strides=(1,))


def integers(arena: Bytes, words: Words, at: Ints) -> tuple[Words, Ints]:
    """Value and size of the variable-length integers at some places (engine/vle.py).

    An integer may end anywhere in the nine bytes from its place on, which must be in the arena.
    """
    word = words[at]
    ends = ~word & _HIGH
    ends &= np.negative(ends)  # the lowest bit: that of the last byte; none if there are nine
    ends -= _ONE
    word &= ends
    size = ((np.bitwise_count(ends) + np.uint8(1)) >> 3).astype(np.int64)
    word &= _LOW
    for low, high, shift in _PAIRS:
        word = (word & low) | ((word & high) >> shift)
    long = np.flatnonzero(ends == MASKS[8])
    if len(long):
        word[long] |= arena[at[long] + 8].astype(np.uint64) << _word(56)
        size[long] = 9
    return word, size


def shortest(value: Words, size: Ints) -> Bools:
    """Whether integers are in their shortest form: their last byte isn't 0."""
    out: Bools = (value >> (7 * (size - 1)).astype(np.uint64) != 0) | (size == 1)
    return out
