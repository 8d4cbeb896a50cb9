"""Regions: bytes with a declared length, and extensions whose structure may have a different length.

For some extensions receivers ignore the declared length and go by the structure (`Extension.loose`); for all others it
bounds what they read. Where the two disagree, the length is in doubt: `weighing.py` decides which one counts, and says
so in `decisions`.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from zdissect.engine.malformed import Malformed, count, named, short_of
from zdissect.engine.program import ExtensionProgram, Step
from zdissect.engine.tape import Remark, Span
from zdissect.grammar.field import EXT_LENGTH, UNDECODED, Field

Values = dict[str, int]
Steps = tuple[Step, ...]

Around = tuple[int, bool, int, int, Values]
"""(stop, cut, depth, header, values) of the surrounding region: its end, whether it was cut off, its depth, and the
values for conditions. A plain tuple, because it is made and unpacked for each region and structured extension."""

Region = tuple[Field, Steps, Any, Field | None]
"""(field, steps, limit, length) of a group with a size. With a length in front, `length` is its field and `limit` its
largest value; otherwise `limit` computes the size from the values read so far."""

_U32 = (1 << 32) - 1
_OPEN: Span = (UNDECODED, 0, 0, -1, None)

DECLARED = -1
"""The `decisions` under which all declared lengths of a message count."""


class Lengths:
    """One interpretation: the bytes, and the spans and remarks so far."""

    __slots__ = ("data", "decisions", "declared", "doubts", "remarks", "spans")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.spans: list[Span] = []
        self.remarks: list[Remark] = []
        self.doubts = 0
        """Lengths in doubt of the message being read: those that differ from their structures'."""
        self.declared = True
        """Whether the declared length counts for all of them."""
        self.decisions = 0
        """Bit n is set if the n-th length in doubt is decided against what receivers do; or `DECLARED`."""

    @abstractmethod
    def steps(self, steps: Steps, pos: int, stop: int, cut: bool, depth: int, header: int, values: Values) -> int:
        """Runs the steps of a program from `pos`; returns the position after them."""

    @abstractmethod
    def long_vle(self, field: Field, start: int, stop: int, limit: int) -> tuple[int, int]:
        """An integer of two bytes or more, with the remarks on its form."""

    def open(self) -> int:
        """Reserves a place for the span of a group, which is written when its end is known."""
        self.spans.append(_OPEN)
        return len(self.spans) - 1

    def close(self, mark: int, at: int) -> None:
        """Closes the groups that an error left open; a group that holds nothing disappears."""
        spans = self.spans
        for index in range(len(spans) - 1, mark - 1, -1):
            if spans[index][3] == -1:
                field, depth, start, _, value = spans[index]
                if index == len(spans) - 1:
                    spans.pop()
                else:
                    spans[index] = (field, depth, start, at, value)

    def region(
        self, body: Callable[[], int], field: Field | None, start: int, stop: int, cut: bool, depth: int
    ) -> bool:
        """Runs `body` on a region start..stop, and reports the bytes left over; returns whether there are none."""
        mark = len(self.spans)
        try:
            at = body()
            if at == stop:
                return True
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
        return False

    def sized(self, region: Region, pos: int, around: Around) -> int:
        """A region with a length in front, or of known size.

        A region of known size has no node of its own; one with a length opens a node.
        """
        field, steps, limit, length = region
        stop, cut, depth, header, values = around
        if length is None:
            return self.bounded(field, steps, pos, pos, pos + limit(values), around)[0]
        index = len(self.spans)
        start = pos
        self.spans.append((field, depth, pos, -1, None))
        size, pos = self.length(length, limit, pos, stop, depth + 1)
        end, _ = self.bounded(field, steps, start, pos, pos + size, (stop, cut, depth + 1, header, values))
        self.spans[index] = (field, depth, start, end, None)
        return end

    def length(self, field: Field, limit: int, pos: int, stop: int, depth: int) -> tuple[int, int]:
        """A length in front of a region, and the position after it."""
        if pos >= stop:
            raise short_of(field, pos, stop)
        size, end = self.long_vle(field, pos, stop, limit) if self.data[pos] > 127 else (self.data[pos], pos + 1)
        self.spans.append((field, depth, pos, end, size))
        return size, end

    def bounded(self, field: Field, steps: Steps, start: int, pos: int, end: int, around: Around) -> tuple[int, bool]:
        """Reads a region that ends by its declared length; returns whether its structure ends there too.

        Args:
            field: The field with the declared length.
            steps: The structure.
            start: Where its length begins.
            pos: Where the region begins.
            end: Where it ends by its length.
            around: The region around it.

        Raises:
            Malformed: It runs past the region around it, so that nothing can follow.
        """
        stop, cut, depth, header, values = around
        short = end > stop
        if short and not cut:
            text = f"{named(field)} needs {count(end - pos)}, {stop - pos} left"
            self.remarks.append(("truncated", start, stop, text))
        end = min(end, stop)
        whole = self.region(
            lambda: self.steps(steps, pos, end, short, depth, header, values), field, pos, end, short, depth
        )
        if short:
            raise Malformed(stop, short=True)
        return end, whole

    def extension(self, program: ExtensionProgram, pos: int, around: Around) -> int:
        """The body of an extension with a declared length and a structure."""
        start = pos
        size, pos = self.length(EXT_LENGTH, _U32, pos, around[0], around[2])
        loose = program.loose is not None and program.loose(around[4])
        first = self.structure_first if loose else self.length_first
        return first(program, start, pos, pos + size, around)

    def structure_first(self, program: ExtensionProgram, start: int, pos: int, declared: int, around: Around) -> int:
        """The body of an extension whose declared length receivers ignore."""
        stop, cut, depth, header, values = around
        mark = len(self.spans), len(self.remarks)
        problem, end = None, stop
        try:
            end = self.steps(program.steps, pos, stop, cut, depth, header, values)
        except Malformed as raised:
            problem = raised
        if problem is None and end == declared:
            return end
        if (problem is None or declared <= stop) and self.structure_counts(True):
            if problem is not None:
                raise problem
            return self.differs(program, start, pos, declared, end)
        self.back(mark)
        return self.bounded(program.field, program.steps, start, pos, declared, around)[0]

    def length_first(self, program: ExtensionProgram, start: int, pos: int, declared: int, around: Around) -> int:
        """The body of an extension that receivers delimit by its declared length."""
        steps = program.steps
        stop, cut, depth, header, values = around
        mark = len(self.spans), len(self.remarks)
        problem, end, whole = None, stop, False
        try:
            end, whole = self.bounded(program.field, steps, start, pos, declared, around)
        except Malformed as raised:
            problem = raised
        if not (whole or (cut and problem is not None)) and self.structure_counts(False):
            spans, remarks = self.back(mark)
            try:  # as in a cut region: a field that takes all bytes of its region has no length of its own
                return self.differs(
                    program, start, pos, declared, self.steps(steps, pos, stop, True, depth, header, values)
                )
            except Malformed:
                self.back(mark)
                self.spans += spans
                self.remarks += remarks
        if problem is not None:
            raise problem
        return end

    def structure_counts(self, loose: bool) -> bool:
        """Whether, in this run, the structure decides where an extension with a length in doubt ends."""
        against = bool(self.decisions >> self.doubts & 1)
        self.doubts += 1
        counts = self.decisions != DECLARED and loose != against
        self.declared = self.declared and not counts
        return counts

    def differs(self, program: ExtensionProgram, start: int, pos: int, declared: int, end: int) -> int:
        """Ends an extension where its structure ends."""
        name = program.field.name.removeprefix("ext_")
        text = f"{name} declares {count(declared - pos)}, its structure takes {end - pos}"
        self.remarks.append((program.mismatch, start, end, text))
        return end

    def back(self, mark: tuple[int, int]) -> tuple[list[Span], list[Remark]]:
        """Removes the spans and remarks after a mark, and returns them."""
        spans, remarks = mark
        out = self.spans[spans:], self.remarks[remarks:]
        del self.spans[spans:], self.remarks[remarks:]
        return out
