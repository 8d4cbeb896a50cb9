"""Codes: what a header byte decides, so that bytes that decide the same have the same code."""

from functools import cache

import numpy as np

from zdissect.engine import program as ops
from zdissect.engine.program import Step, message_program
from zdissect.grammar.types import Message
from zdissect.vector.arrays import Bytes

NONE = 255
"""The code of lanes that can't go on; never one that can: the header of an extension with a reserved encoding."""


@cache
def message_codes(messages: tuple[Message, ...]) -> Bytes:
    """For each header byte, its bits that decide what follows, with the id; `NONE` if it isn't of these messages."""
    codes = np.full(256, NONE, dtype=np.uint8)
    for message in messages:
        program = message_program(message)
        mask = 31 | _decisive(program.steps) | sum(bits << shift for _, shift, bits in program.keep)
        codes[message.id :: 32] = np.arange(message.id, 256, 32) & mask
    return codes


@cache
def extension_codes(known: tuple[int, ...]) -> Bytes:
    """For each header of an extension itself, or `NONE` if it isn't known."""
    codes = np.full(256, NONE, dtype=np.uint8)
    for key in known:
        codes[[key, key | 128]] = key, key | 128
    return codes


def _decisive(steps: tuple[Step, ...]) -> int:
    """The bits of a header that conditions ask for."""
    out = 0
    for op, mask, _, _, _, first, *_ in steps:
        out |= mask
        if op in (ops.GROUP, ops.INLINE):
            out |= _decisive(first)
        elif op == ops.EXTENSIONS:
            for program in first.values():
                out |= _decisive(program.steps)
    return out
