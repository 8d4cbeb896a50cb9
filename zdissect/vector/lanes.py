"""Lanes: messages that are read at once, on arrays with an entry for each; and the codes by which they part.

A code is what a header byte decides: bytes that decide the same have the same code.
"""

from functools import cache
from typing import Any

import numpy as np

from zdissect.engine import program as ops
from zdissect.engine.program import Step, message_program
from zdissect.grammar.types import Message
from zdissect.vector.arrays import Bools, Bytes, Ints

NONE = 255
"""The code of lanes that can't go on; never one that can: the header of an extension with a reserved encoding."""


class Lanes:
    """Messages that have taken the same way through the program so far. Arrays have an entry for each."""

    __slots__ = ("at", "bodies", "bound", "chunks", "found", "gaps", "lane", "mark", "path", "stop", "value")

    def __init__(self, lane: Ints, at: Ints, stop: Ints) -> None:
        self.lane = lane
        """Which message of those that are read together."""
        self.at = at
        self.mark = at
        """Where the bytes of the key begin that come next."""
        self.stop = stop
        self.bound: Ints | None = None
        """Where the extension ends that is being read, if it has a declared length."""
        self.value: Any = None
        """The integer read last, or the length of bytes."""
        self.path: tuple[int, ...] = ()
        """The decisions that led here: lanes with the same path have the same chunks, values and bodies."""
        self.chunks: list[tuple[str, Ints, Ints]] = []
        """(column, starts, stops) of the bytes that tell messages apart: all but the changing values with their
        lengths. They say themselves how long they are. The column is that which is substituted, or empty."""
        self.gaps: tuple[int, ...] = ()
        """The chunks, by their index, that something lies in front of that tells nothing apart."""
        self.found: dict[str, Any] = {}
        """Values by column; of bytes, where they begin, and in `COLUMN size` how many there are."""
        self.bodies: list[tuple[Ints, Ints]] = []
        """(starts, sizes) of the bodies of extensions with changing values."""

    @property
    def end(self) -> Ints:
        """The end of the innermost region."""
        return self.stop if self.bound is None else self.bound

    def pick(self, index: Ints) -> "Lanes":
        """Some of the lanes."""
        out = Lanes(self.lane[index], self.at[index], self.stop[index])
        out.mark = self.mark[index]
        out.bound = None if self.bound is None else self.bound[index]
        out.value = None if self.value is None else self.value[index]
        out.path, out.gaps = self.path, self.gaps
        out.chunks = [(name, start[index], stop[index]) for name, start, stop in self.chunks]
        out.found = {name: values[index] for name, values in self.found.items()}
        out.bodies = [(start[index], size[index]) for start, size in self.bodies]
        return out

    def only(self, good: Bools) -> "Lanes":
        """Those of the lanes that are good."""
        return self if good.all() else self.pick(np.flatnonzero(good))

    def cut(self, column: str = "") -> None:
        """Ends a chunk here."""
        self.chunks.append((column, self.mark, self.at))
        self.mark = self.at

    def skip(self) -> None:
        """Leaves out what came since the last chunk."""
        self.mark = self.at
        self.gaps += (len(self.chunks),)

    def split(self, codes: Bytes) -> "list[tuple[int, Lanes]]":
        """(code, lanes with it), for a code of each lane, which becomes part of the path; without those with `NONE`."""
        same = bytes(codes)
        if same == same[:1] * len(same):
            self.path += (same[0],)
            return [(same[0], self)] if same[0] != NONE else []
        out = []
        for code in np.bincount(codes).nonzero()[0].tolist():
            if code != NONE:
                part = self.pick((codes == code).nonzero()[0])
                part.path += (code,)
                out.append((code, part))
        return out


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
