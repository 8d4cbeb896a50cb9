"""Bytes to tape: the reference meaning of the grammar.

`interpret` is total: any bytes give a tape whose leaves cover them exactly, never an exception, in linear time. An
error ends the innermost length-delimited region (extension body, batch, datagram): what was read stays, the rest of the
region becomes an `undecoded` leaf, and reading goes on behind it.

A region that was cut (by a snap length, or because a length runs past the end) differs from one that ended: nothing in
it may depend on where it was cut, so that a prefix of the bytes gives a prefix of the leaves.
"""

from collections.abc import Callable
from typing import Any

from zdissect.engine import program as programs
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
    ExtensionProgram,
    Program,
    Step,
)
from zdissect.engine.tape import Remark, Span, Tape
from zdissect.engine.vle import Short, read
from zdissect.grammar.registry import EXT_HEADER, EXT_LENGTH, EXT_UNKNOWN, UNDECODED, Field
from zdissect.grammar.types import ENC_NAMES, ZBUF, Message, Unit

Values = dict[str, int]


class Malformed(Exception):
    """Reading can't go on in this region. `at` is where the bytes begin that nobody owns."""

    def __init__(self, at: int, code: str = "", text: str = "", short: bool = False) -> None:
        super().__init__(text)
        self.at = at
        self.code = code
        self.text = text
        self.short = short
        """Bytes were missing: no error of its own where the region was cut."""


def interpret(
    entry: Message | Unit, data: bytes, start: int = 0, stop: int | None = None, *, cut: bool = False, **inputs: int
) -> Tape:
    """The tape of bytes start..stop as one unit or message.

    Args:
        entry: What the bytes are; a `Unit`, or a `Message` for a single message.
        cut: More bytes followed, but the capture doesn't hold them.
        inputs: Values that the framing gives to a unit (`prefix`, `compression`, `low_latency`).
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


class _Run:
    """One interpretation: the bytes, and what was found so far."""

    __slots__ = ("data", "remarks", "spans")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.spans: list[Span] = []
        self.remarks: list[Remark] = []

    def open(self) -> int:
        """Keeps a place for the span of a group, which is written when its end is known."""
        self.spans.append(_OPEN)
        return len(self.spans) - 1

    def region(
        self, body: Callable[[], int], field: Field | None, start: int, stop: int, cut: bool, depth: int
    ) -> None:
        """Runs `body` on a region start..stop, and owns up for the bytes that it leaves."""
        mark = len(self.spans)
        try:
            at = body()
            if at == stop:
                return
            code = "" if cut else "trailing-bytes"
            text = f"{_count(stop - at)} left over" + (f" in {field.path.removeprefix('zenoh.')}" if field else "")
        except Malformed as problem:
            at, text = problem.at, problem.text
            code = "" if cut and problem.short else problem.code
            self.close(mark, at)
        if code:
            self.remarks.append((code, at, stop, text))
        if at < stop:
            self.spans.append((UNDECODED, depth, at, stop, self.data[at:stop]))

    def close(self, mark: int, at: int) -> None:
        """Ends the groups that an error left open; one that holds nothing disappears."""
        spans = self.spans
        for index in range(len(spans) - 1, mark - 1, -1):
            if spans[index][3] == -1:
                field, depth, start, _, value = spans[index]
                if index == len(spans) - 1:
                    spans.pop()
                else:
                    spans[index] = (field, depth, start, at, value)

    def steps(
        self, steps: tuple[Step, ...], pos: int, stop: int, cut: bool, depth: int, header: int, values: Values
    ) -> int:
        """Runs the steps of a program from `pos`; the position behind them."""
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
                    raise _short(field, pos, stop)
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
                    raise _short(field, pos, stop)
                value = data[pos]
                pos += 1
                if value > 127:
                    value, pos = self.long_vle(field, start, stop, first)
                begin = pos
                pos += value
                if pos > stop:
                    raise Malformed(
                        start, "truncated", f"{field.name} needs {_count(value)}, {stop - begin} left", short=True
                    )
                value = data[begin:pos]
                if op == TEXT:
                    try:
                        value = value.decode()
                    except UnicodeDecodeError as problem:
                        value = self.not_text(field, begin, pos, value, problem)
            elif op == EXTENSIONS:
                pos = self.extensions(first, second, keep is not None, pos, stop, cut, depth, header, values)
                continue
            elif op == CHOICE:
                pos = self.choice(first, second, pos, stop, cut, depth, check)
                continue
            elif op == BITS:
                if pos >= stop:
                    raise _short(field, pos, stop)
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
                    raise _short(field, start, stop, size)
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
                pos = self.repeat(first, second, keep, field, pos, stop, cut, depth, header, values)
                continue
            elif op == REGION:
                pos = self.sized(field, first, second, pos, stop, cut, depth, header, values, keep)
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
            raise Malformed(start, "truncated", f"{field.name} has no end", short=True) from None
        if self.data[pos - 1] == 0:
            text = f"{field.name} takes {pos - start} bytes for {value}"
            self.remarks.append(("vle-overlong", start, pos, text))
        if value > limit:
            text = f"{field.name} is {value}, more than {limit.bit_length()} bits"
            self.remarks.append(("vle-overflow", start, pos, text))
        return value, pos

    def not_text(self, field: Field, start: int, stop: int, value: bytes, problem: UnicodeDecodeError) -> str:
        """Bytes that should be UTF-8 and aren't: kept as surrogates, with a remark."""
        self.remarks.append(("invalid-utf8", start, stop, f"{field.name} isn't UTF-8 from byte {problem.start} on"))
        return value.decode(errors="surrogateescape")

    def choice(self, table: programs.Table, many: str, pos: int, stop: int, cut: bool, depth: int, name: str) -> int:
        """One message of a table, or as many as there are."""
        data = self.data
        known = table.messages
        while pos < stop:
            ident = data[pos] & 31
            if ident not in known:
                if many == "while":
                    return pos
                what = f"id 0x{ident:02x} is no message here ({name})"
                raise Malformed(pos, "unknown-message", what)
            pos = self.message(table[ident], pos, stop, cut, depth)
            if not many:
                return pos
        if not many:
            raise Malformed(pos, "truncated", f"the {name} is missing", short=True)
        return pos

    def message(self, program: Program, pos: int, stop: int, cut: bool, depth: int) -> int:
        """A message from its header byte on."""
        spans = self.spans
        header = self.data[pos]
        label = program.label_if if header & program.label_mask else program.label
        index = len(spans)
        spans.append((program.field, depth, pos, -1, label))
        start = pos
        pos += 1
        spans.append((program.header, depth + 1, start, pos, header))
        if header & program.reserved:
            self.remarks.append(("reserved-bits", start, pos, f"reserved flags of {label} are set"))
        values: Values = {}
        for name, shift, mask in program.keep:
            values[name] = header >> shift & mask
        if program.check is not None:
            verdict = program.check(header)
            if verdict is not None:
                raise Malformed(pos, verdict[0], verdict[1])
        pos = self.steps(program.steps, pos, stop, cut, depth + 1, header, values)
        spans[index] = (program.field, depth, start, pos, label)
        return pos

    def extensions(
        self, known: dict[int, ExtensionProgram], nested: bool, tolerant: bool, pos: int, stop: int, cut: bool,
        depth: int, header: int, values: Values,
    ) -> int:  # fmt: skip
        """A chain of extensions. With `tolerant`, one that isn't known may be skipped even with M=1."""
        if nested and pos == stop and not cut:
            return pos
        data, spans = self.data, self.spans
        while True:
            if pos >= stop:
                raise _short(EXT_HEADER, pos, stop)
            head = data[pos]
            start = pos
            pos += 1
            program = known.get(head & 127)
            if program is None:
                pos = self.unknown(known, tolerant, head, start, stop, cut, depth)
            else:
                field, steps, loose, structured, keep = program
                index = len(spans)
                spans.append((field, depth, start, -1, None))
                spans.append((EXT_HEADER, depth + 1, start, pos, head))
                if structured and head & 64:
                    free = loose is not None and bool(loose(values))
                    pos = self.sized(field, steps, _U32, pos, stop, cut, depth + 1, header, values, EXT_LENGTH, free)
                elif head & 96:
                    pos = self.steps(steps, pos, stop, cut, depth + 1, header, values)
                spans[index] = (field, depth, start, pos, None)
                if keep:
                    values[keep] = 1
            if head < 128:
                return pos

    def unknown(
        self,
        known: dict[int, ExtensionProgram],
        tolerant: bool,
        head: int,
        start: int,
        stop: int,
        cut: bool,
        depth: int,
    ) -> int:
        """An extension that the message doesn't know, by the encoding in its header."""
        enc, ident = head >> 5 & 3, head & 15
        index = len(self.spans)
        self.spans.append((EXT_UNKNOWN, depth, start, -1, None))
        pos = start + 1
        self.spans.append((EXT_HEADER, depth + 1, start, pos, head))
        what = f"extension 0x{ident:x} ({ENC_NAMES[enc]}, M={head >> 4 & 1})"
        if head & 16 and not tolerant:
            self.remarks.append(("unknown-mandatory-extension", start, pos, f"unknown mandatory {what}"))
        elif any(key & 15 == ident for key in known):
            self.remarks.append(("extension-form", start, pos, f"{what} is known in another form only"))
        else:
            self.remarks.append(("unknown-extension", start, pos, f"unknown {what}"))
        if enc > ZBUF:
            raise Malformed(pos, "reserved-encoding", f"{what} has a reserved encoding")
        pos = self.steps(programs.unknown_body(enc), pos, stop, cut, depth + 1, 0, {})
        self.spans[index] = (EXT_UNKNOWN, depth, start, pos, None)
        return pos

    def repeat(
        self, body: tuple[tuple[Step, ...], Field], count: Callable[[Values], int] | None, counter: Step | None,
        field: Field, pos: int, stop: int, cut: bool, depth: int, header: int, values: Values,
    ) -> int:  # fmt: skip
        """The same steps several times; each takes a byte at least, so a huge count ends with the bytes."""
        if counter is not None:
            pos = self.steps((counter,), pos, stop, cut, depth, header, values)
            times = self.spans[-1][4]
        else:
            assert count is not None
            times = count(values)
        steps, item = body
        single = len(steps) == 1
        index = len(self.spans)
        start = pos
        if times:
            self.spans.append((field, depth, pos, -1, None))
        for number in range(times):
            if single:
                pos = self.steps(steps, pos, stop, cut, depth + 1, header, values)
                continue
            here = len(self.spans)
            first = pos
            self.spans.append((item, depth + 1, pos, -1, number))
            pos = self.steps(steps, pos, stop, cut, depth + 2, header, values)
            self.spans[here] = (item, depth + 1, first, pos, number)
        if times:
            self.spans[index] = (field, depth, start, pos, None)
        return pos

    def sized(
        self, field: Field, steps: tuple[Step, ...], limit: Any, pos: int, stop: int, cut: bool, depth: int,
        header: int, values: Values, length: Field | None = None, loose: bool = False,
    ) -> int:  # fmt: skip
        """A region with a length in front (of which `limit` is the largest value), or of a size that is known.

        An extension has its own node already, and a region of known size has none; any other opens one. With `loose`
        the structure decides where the region ends, and the declared length is only compared.
        """
        own = length is not None and length is not EXT_LENGTH
        index = len(self.spans)
        start = pos
        if own:
            self.spans.append((field, depth, pos, -1, None))
            depth += 1
        if length is not None:
            if pos >= stop:
                raise _short(length, pos, stop)
            size, end = self.long_vle(length, pos, stop, limit) if self.data[pos] > 127 else (self.data[pos], pos + 1)
            self.spans.append((length, depth, pos, end, size))
            pos = end
        else:
            size = limit(values)
        if loose:
            end = self.steps(steps, pos, stop, cut, depth, header, values)
            if end != pos + size:
                text = f"declares {_count(size)}, its structure takes {end - pos}"
                self.remarks.append(("query-body-length", start, end, text))
            return end
        end = pos + size
        short = end > stop
        if short and not cut:
            text = f"{_named(field)} needs {_count(size)}, {stop - pos} left"
            self.remarks.append(("truncated", start, stop, text))
        end = min(end, stop)
        self.region(lambda: self.steps(steps, pos, end, short, depth, header, values), field, pos, end, short, depth)
        if own:
            self.spans[index] = (field, depth - 1, start, end, None)
        if short:
            raise Malformed(stop, short=True)
        return end


_U32 = (1 << 32) - 1
_OPEN: Span = (UNDECODED, 0, 0, -1, None)


def _count(number: int) -> str:
    return "1 byte" if number == 1 else f"{number} bytes"


def _named(field: Field) -> str:
    return field.path.removeprefix("zenoh.")


def _short(field: Field, pos: int, stop: int, size: int = 1) -> Malformed:
    """A field of which not a byte, or not all of a fixed size, is there."""
    if size > 1 and pos < stop:
        return Malformed(pos, "truncated", f"{field.name} needs {_count(size)}, {stop - pos} left", short=True)
    return Malformed(pos, "truncated", f"{field.name} is missing", short=True)
