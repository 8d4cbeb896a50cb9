"""Bytes to tape: the reference meaning of the grammar.

`interpret` is total: any bytes yield a tape whose leaves cover them exactly, never an exception, in linear time. An
error ends the innermost length-delimited region (extension body, batch, datagram): the fields read so far stay, the
rest of the region becomes an `undecoded` leaf, and reading goes on after it.

A region that was cut (by a snap length, or because a length runs past the end) differs from one that ended: nothing in
it may depend on where it was cut, so that a prefix of the bytes gives a prefix of the leaves.
"""

from typing import Any

from zdissect.engine import program as programs
from zdissect.engine.composites import Composites
from zdissect.engine.lengths import Values
from zdissect.engine.malformed import Malformed, called, count, short_of
from zdissect.engine.program import (
    BITS,
    BLOB,
    CHOICE,
    EXTENSIONS,
    GROUP,
    RAW,
    REGION,
    REPEAT,
    REST,
    TEXT,
    UINT,
    VLE,
    Step,
)
from zdissect.engine.tape import Tape
from zdissect.engine.vle import Short, read
from zdissect.grammar.field import Field
from zdissect.grammar.types import Message, Unit


def interpret(
    entry: Message | Unit, data: bytes, start: int = 0, stop: int | None = None, *, cut: bool = False, **inputs: int
) -> Tape:
    """The tape of bytes start..stop as one unit or message.

    Args:
        entry: What the bytes are; a `Unit`, or a `Message` for a single message.
        cut: More bytes followed, but the capture doesn't hold them.
        inputs: Values that the framing of a unit sets (`prefix`, `compression`, `low_latency`).
    """
    end = len(data) if stop is None else stop
    run = _Run(data)
    if isinstance(entry, Unit):
        field, steps = programs.unit_program(entry)
        index = run.open()
        run.region(lambda: run.steps(steps, start, end, cut, 1, 0, inputs), field, start, end, cut, 1)
        run.spans[index] = (field, 0, start, end, entry.name)
    else:
        table = programs.single(entry)
        run.region(lambda: run.choice(table, "", start, end, cut, 0, entry.layer), None, start, end, cut, 0)
    return Tape(data, start, end, run.spans, run.remarks)


class _Run(Composites):
    """Reads the fields of a program."""

    __slots__ = ()

    def steps(
        self, steps: tuple[Step, ...], pos: int, stop: int, cut: bool, depth: int, header: int, values: Values
    ) -> int:
        """Runs the steps of a program from `pos`; returns the position after them.

        Decoding spends most of its time in this loop. It is one function because a call for each field would cost more
        than most fields do, and it takes its context as arguments, which are faster than attributes.
        """
        data = self.data
        spans = self.spans
        for op, mask, want, test, field, first, second, keep, check in steps:
            if mask:
                if header & mask != want:
                    continue
            elif test is not None and not test(values):
                continue
            start = pos
            value: Any
            if op == VLE:
                if pos >= stop:
                    raise short_of(field, pos, stop)
                value = data[pos]
                pos += 1
                if value > 127:
                    value, pos = self.long_vle(field, start, stop, first)
                if keep is not None:
                    for name, shift, bits in keep:
                        values[name] = value >> shift & bits
                if second and value & second:
                    self.remarks.append(("reserved-bits", start, pos, f"reserved bits of {field.name} are set"))
            elif op == TEXT or op == BLOB:
                if pos >= stop:
                    raise short_of(field, pos, stop)
                value = data[pos]
                pos += 1
                if value > 127:
                    value, pos = self.long_vle(field, start, stop, first)
                begin = pos
                pos += value
                if pos > stop:
                    raise Malformed(
                        start, "truncated", f"{field.name} needs {count(value)}, {stop - begin} left", short=True
                    )
                value = data[begin:pos]
                if op == TEXT:
                    try:
                        value = value.decode()
                    except UnicodeDecodeError as problem:
                        value = self.not_text(field, begin, pos, value, problem)
            elif op == EXTENSIONS:
                pos = self.extensions(first, pos, stop, cut, depth, header, values)
                continue
            elif op == CHOICE:
                pos = self.choice(first, second, pos, stop, cut, depth, check)
                continue
            elif op == BITS:
                if pos >= stop:
                    raise short_of(field, pos, stop)
                value = data[pos]
                pos += 1
                if keep is not None:
                    for name, shift, bits in keep:
                        values[name] = value >> shift & bits
                if first & value:
                    self.remarks.append(("reserved-bits", start, pos, f"reserved bits of {field.name} are set"))
            elif op == GROUP:
                index = len(spans)
                spans.append((field, depth, pos, -1, None))
                pos = self.steps(first, pos, stop, cut, depth + 1, header, values)
                spans[index] = (field, depth, start, pos, None)
                continue
            elif op == UINT or op == RAW:
                size = first if not second else first(values)
                pos += size
                if pos > stop:
                    raise short_of(field, start, stop, size)
                value = data[start:pos]
                if op == UINT:
                    value = int.from_bytes(value, "little")
                    if keep:
                        values[keep] = value
            elif op == REST:
                if cut:
                    raise Malformed(pos, short=True)
                value = data[pos:stop]
                pos = stop
                if first:
                    try:
                        value = value.decode()
                    except UnicodeDecodeError as problem:
                        value = self.not_text(field, start, stop, value, problem)
            elif op == REPEAT:
                pos = self.repeat(first, pos, (stop, cut, depth, header, values))
                continue
            elif op == REGION:
                pos = self.sized((field, first, second, keep), pos, (stop, cut, depth, header, values))
                continue
            else:
                pos = self.steps(first, pos, stop, cut, depth, header, values)
                continue
            spans.append((field, depth, start, pos, value))
            if check is not None:
                verdict = check(value)
                if verdict is not None:
                    self.remarks.append((verdict[0], start, pos, verdict[1]))
        return pos

    def long_vle(self, field: Field, start: int, stop: int, limit: int) -> tuple[int, int]:
        """An integer of two bytes or more, with the remarks on its form."""
        try:
            value, pos = read(self.data, start, stop)
        except Short:
            raise Malformed(start, "truncated", f"{called(field)} has no end", short=True) from None
        if self.data[pos - 1] == 0:
            text = f"{called(field)} takes {pos - start} bytes for {value}"
            self.remarks.append(("vle-overlong", start, pos, text))
        if value > limit:
            text = f"{called(field)} is {value}, more than {limit.bit_length()} bits"
            if field.keeps and (field.keeps == field.width or not value >> field.width):
                self.remarks.append(("vle-wraps", start, pos, f"{text}: the Rust codec keeps {value & limit}"))
            else:
                self.remarks.append(("vle-overflow", start, pos, text))
        return value, pos

    def not_text(self, field: Field, start: int, stop: int, value: bytes, problem: UnicodeDecodeError) -> str:
        """Bytes that should be UTF-8 but aren't: kept as surrogates, with a remark."""
        code = "binary-text" if field.any_bytes else "invalid-utf8"
        self.remarks.append((code, start, stop, f"{field.name} isn't UTF-8 from byte {problem.start} on"))
        return value.decode(errors="surrogateescape")
