"""Structures: what holds other fields. Regions, messages, extension chains, repeats.

The base of the interpreter's run; `steps` (interpreter.py) reads the fields and comes back here for what holds more.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from zdissect.engine import program as programs
from zdissect.engine.malformed import Malformed, count, named, short_of
from zdissect.engine.program import ExtensionProgram, Program, Step
from zdissect.engine.tape import Remark, Span
from zdissect.grammar.registry import EXT_HEADER, EXT_LENGTH, EXT_UNKNOWN, UNDECODED, Field
from zdissect.grammar.types import ENC_NAMES, ZBUF

Values = dict[str, int]

_U32 = (1 << 32) - 1
_OPEN: Span = (UNDECODED, 0, 0, -1, None)


class Structures:
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

    @abstractmethod
    def steps(
        self, steps: tuple[Step, ...], pos: int, stop: int, cut: bool, depth: int, header: int, values: Values
    ) -> int:
        """Runs the steps of a program from `pos`; the position behind them."""

    @abstractmethod
    def long_vle(self, field: Field, start: int, stop: int, limit: int) -> tuple[int, int]:
        """An integer of two bytes or more, with the remarks on its form."""

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
            text = f"{count(stop - at)} left over" + (f" in {field.path.removeprefix('zenoh.')}" if field else "")
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
                raise short_of(EXT_HEADER, pos, stop)
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
                raise short_of(length, pos, stop)
            size, end = self.long_vle(length, pos, stop, limit) if self.data[pos] > 127 else (self.data[pos], pos + 1)
            self.spans.append((length, depth, pos, end, size))
            pos = end
        else:
            size = limit(values)
        if loose:
            end = self.steps(steps, pos, stop, cut, depth, header, values)
            if end != pos + size:
                text = f"declares {count(size)}, its structure takes {end - pos}"
                self.remarks.append(("query-body-length", start, end, text))
            return end
        end = pos + size
        short = end > stop
        if short and not cut:
            text = f"{named(field)} needs {count(size)}, {stop - pos} left"
            self.remarks.append(("truncated", start, stop, text))
        end = min(end, stop)
        self.region(lambda: self.steps(steps, pos, end, short, depth, header, values), field, pos, end, short, depth)
        if own:
            self.spans[index] = (field, depth - 1, start, end, None)
        if short:
            raise Malformed(stop, short=True)
        return end
