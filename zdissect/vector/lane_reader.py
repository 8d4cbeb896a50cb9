"""Many messages read at once: the programs of engine/program.py on arrays of positions.

Each message is a lane. What decides control (flags, headers of extensions, kept values) splits the lanes into parts, so
that within a part control is scalar and the programs' conditions hold for all lanes. Lanes that run past their end, or
hold an integer in doubt, are dropped.
"""

from typing import Any

import numpy as np

from zdissect.engine import program as ops
from zdissect.engine.lengths import Values
from zdissect.engine.program import ExtensionPrograms, Keep, ProgramTable, Step
from zdissect.engine.templates import changing_extension
from zdissect.grammar.columns import changes
from zdissect.grammar.types import UNIT, ZBUF
from zdissect.vector.arrays import Bytes
from zdissect.vector.lanes import NONE, Lanes, extension_codes, message_codes
from zdissect.vector.words import Words, integers, shortest

SUBSTITUTED = frozenset({"key_scope", "key_suffix", "parameters"})
"""Columns whose values are put into the row of a template, because they often never come again."""

_PARTS, _FEW = 100, 4
"""Once there are so many parts, those that hold fewer lanes are dropped: each costs as much as a few messages cost the
interpreter, and what is made to differ must not take much longer."""

_LARGEST = (1 << 64) - 1

TURN, LEAVE = range(13, 15)
"""Operations besides those of programs: the next extension of a chain, the end of one with a structure."""

Level = tuple[tuple[Any, ...], int, int, Values, Any, bool]
"""Where lanes are in a program: (steps, index of the next one, header, values, level around it, whether the values are
its own and not those of the level around it)."""

Work = list[tuple[Lanes, Level | None]]


class LaneReader:
    """Reads messages of one arena."""

    def __init__(self, arena: Bytes, words: Words) -> None:
        self.arena = arena
        self.words = words

    def read(self, table: ProgramTable, lanes: Lanes) -> list[Lanes]:
        """The messages of a table that begin at the lanes' places; `at` is where they end. Others are dropped."""
        work = self.choice(lanes, table, None)
        out: list[Lanes] = []
        while work:
            part, level = work.pop()
            if len(part.lane) < (1 if len(out) < _PARTS else _FEW):
                continue
            if level is None:
                part.cut()
                out.append(part.only(part.at <= part.stop))
            else:
                work += self.step(part, level)
        return out

    def step(self, lanes: Lanes, level: Level) -> Work:
        """Reads up to the next step after which lanes may go different ways."""
        steps, number, header, values, outer, own = level
        while number < len(steps):
            op, mask, want, test, _, first, second, keep, _ = steps[number]
            number += 1
            if header & mask != want or (test is not None and not test(values)):
                continue
            rest = (steps, number, header, values, outer, own)
            if op == ops.EXTENSIONS:
                return [] if first.optional else self.turn(lanes, first, (), rest)
            if op == TURN:
                return self.turn(lanes, first, second, _with(outer, values))
            if op == ops.CHOICE:
                return [(lanes, None)] if second else self.choice(lanes, first, rest)
            if op in (ops.GROUP, ops.INLINE):
                return [(lanes, (first, 0, header, values, rest, False))]
            lanes = self.leave(lanes, first) if op == LEAVE else self.leaf(lanes, steps[number - 1], values)
            if not len(lanes.lane):
                return []
            if keep is not None:
                return [] if op not in (ops.VLE, ops.BITS) else _kept(lanes, keep, rest)
        return [(lanes, outer if own or outer is None else _with(outer, values))]

    def choice(self, lanes: Lanes, table: ProgramTable, rest: Level | None) -> Work:
        """One message of a table."""
        lanes = lanes.only(lanes.at < lanes.end)
        if not len(lanes.lane):
            return []
        out: Work = []
        readable = tuple(one for one in table.messages.values() if one.id not in table.refused)
        for code, part in lanes.split(message_codes(readable)[self.arena[lanes.at]]):
            program = table[code & 31]
            part.at = part.at + 1
            values = {name: code >> shift & mask for name, shift, mask in program.keep}
            out.append((part, (program.steps, 0, code, values, rest, True)))
        return out

    def turn(self, lanes: Lanes, known: ExtensionPrograms, before: tuple[int, ...], rest: Level) -> Work:
        """The next extension of a chain, behind others. One without changing values is part of the key, whatever is in
        it; one that isn't known would be a finding."""
        lanes = lanes.only(lanes.at < lanes.end)
        if not len(lanes.lane):
            return []
        out: Work = []
        _, _, header, values, _, _ = rest
        for head, part in lanes.split(extension_codes(tuple(known))[self.arena[lanes.at]]):
            part.at = part.at + 1
            key, enc = head & 127, head >> 5 & 3
            program = known[key]
            if program.keep or key in before:
                continue  # what is in shared memory, or there twice, is for the interpreter
            chain = _pseudo(TURN, known, (*before, key))
            after: Level = ((chain,), 0, header, values, rest, False) if head > 127 else rest
            if not changing_extension(program):
                if enc != UNIT:
                    part = self.number(part, 0)
                if enc == ZBUF:
                    part = self.sized(part)
                    part.at = part.at + part.value
            elif enc == ZBUF:
                column = ""
                if program.structured:
                    part = self.enter(part)
                else:
                    column = program.steps[0][4].column
                after = ((*program.steps, _pseudo(LEAVE, column)), 0, header, values, after, False)
            else:
                continue
            out.append((part, after))
        return out

    def enter(self, lanes: Lanes) -> Lanes:
        """The length of an extension with changing values and a structure: not part of the key, as it may change."""
        lanes.cut()
        lanes = self.sized(self.number(lanes, (1 << 32) - 1))
        lanes.skip()
        lanes.bound = lanes.at + lanes.value
        lanes.bodies.append((lanes.at, lanes.value))
        return lanes

    def leave(self, lanes: Lanes, column: str) -> Lanes:
        """The end of an extension with changing values. If it has no structure, its body is this column."""
        if column:
            lanes.bodies.append((lanes.found[column], lanes.found[f"{column} size"]))
            return lanes
        lanes = lanes.only(lanes.at == lanes.bound)
        lanes.cut()
        lanes.bound = None
        return lanes

    def leaf(self, lanes: Lanes, step: Step, values: Values) -> Lanes:
        """One field: its value if that isn't part of the key, otherwise only where it ends."""
        op, _, _, _, field, first, second, _, _ = step
        column = field.column
        carried, limit = changes(field), 0
        if carried or column in SUBSTITUTED:
            if column in lanes.found:
                return lanes.pick(_EMPTY)
            lanes.cut()
            limit = first
        if op == ops.VLE:
            lanes = self.number(lanes, limit)
            if carried and column:
                lanes.found[column] = lanes.value
        elif op in (ops.TEXT, ops.BLOB, ops.REST):
            if op == ops.REST:
                lanes.value = lanes.end - lanes.at
            else:
                lanes = self.sized(self.number(lanes, limit))
            if carried:
                lanes.found[column], lanes.found[f"{column} size"] = lanes.at, lanes.value
            lanes.at = lanes.at + lanes.value
        elif op in (ops.RAW, ops.BITS) or (op == ops.UINT and first == 1):
            lanes.value = self.arena[lanes.at]
            lanes.at = lanes.at + (1 if op != ops.RAW else first(values) if second else first)
        else:
            return lanes.pick(_EMPTY)
        if carried:
            lanes.skip()
        elif limit:
            lanes.cut(column)
        return lanes

    def number(self, lanes: Lanes, limit: int) -> Lanes:
        """An integer; with a limit, only one that isn't larger, and in its shortest form."""
        first = self.arena[lanes.at]
        if bytes(first).isascii():
            lanes.value, lanes.at = first, lanes.at + 1
            return lanes
        second = self.arena[lanes.at + 1]
        if bytes(first & second).isascii():
            more = first >> 7
            lanes.value = (first & 127) + (second * more).astype(np.uint64) * np.uint64(128)
            lanes.at = lanes.at + 1 + more
            good = (second != 0) | (more == 0) if limit else None
        else:
            lanes.value, size = integers(self.arena, self.words, lanes.at)
            lanes.at = lanes.at + size
            good = shortest(lanes.value, size) if limit else None
        if good is None:
            return lanes
        if limit < _LARGEST:
            good &= lanes.value <= np.uint64(limit)
        return lanes.only(good)

    def sized(self, lanes: Lanes) -> Lanes:
        """Lanes in which as many bytes are left as the length says that was read last."""
        room = lanes.end - lanes.at
        if lanes.value.dtype == np.uint8:
            lanes.value = lanes.value.astype(np.int64)
            return lanes.only(lanes.value <= room)
        lanes = lanes.only((room >= 0) & (lanes.value <= room.astype(np.uint64)))
        lanes.value = lanes.value.astype(np.int64)
        return lanes


_EMPTY = np.zeros(0, dtype=np.int64)


def _pseudo(op: int, first: Any, second: Any = None) -> tuple[Any, ...]:
    return (op, 0, 0, None, None, first, second, None, None)


def _with(level: Level, values: Values) -> Level:
    """A level with the values of the one in it."""
    return (*level[:3], values, *level[4:])


def _kept(lanes: Lanes, keep: Keep, rest: Level) -> Work:
    """Splits lanes by those bits of the integer read last that conditions need."""
    parts = [(lanes, rest[3])]
    if any(not 0 <= mask < NONE for _, _, mask in keep):
        return []
    for name, shift, mask in keep:
        parts = [
            (one, values | {name: code})
            for part, values in parts
            for code, one in part.split((part.value.astype(np.int64) >> shift & mask).astype(np.uint8))
        ]
    return [(part, _with(rest, values)) for part, values in parts]
