"""Composites, which hold other fields: choices, messages, extension chains, repeats. Regions are in lengths.py.

The base of the interpreter's run; `steps` (interpreter.py) reads the fields and comes back here for what holds more.
"""

from zdissect.engine.lengths import Around, Values
from zdissect.engine.malformed import Malformed, named, short_of
from zdissect.engine.program import ExtensionPrograms, Program, ProgramTable, RepeatProgram, unknown_body
from zdissect.engine.weighing import Doubtful, Weighing
from zdissect.grammar.field import EXT_HEADER, EXT_UNKNOWN
from zdissect.grammar.structures import DEFAULT_BATCH_SIZE
from zdissect.grammar.types import ENC_NAMES, ZBUF

MOST_SPANS = 2 * DEFAULT_BATCH_SIZE + 1000
"""Spans of a unit after which the rest of it isn't decoded: up to 70 MB, with the messages and remarks made of them. A
byte makes two at most, so no batch of the usual size has more; but WebSocket messages and reassembled messages may be
far longer."""


class Composites(Weighing):
    """Choices, messages, extension chains and repeats."""

    __slots__ = ()

    def too_many(self, pos: int) -> Malformed:
        """The end of a unit that holds more than anybody needs."""
        return Malformed(pos, "limit", f"more than {MOST_SPANS:,} fields in one unit: its rest isn't decoded")

    def choice(self, table: ProgramTable, many: str, pos: int, stop: int, cut: bool, depth: int, name: str) -> int:
        """One message of a table, or as many as follow."""
        data = self.data
        known = table.messages
        if many == "all":
            self.outer = table
        while pos < stop:
            ident = data[pos] & 31
            if ident not in known:
                if many == "while":
                    return pos
                what = f"id 0x{ident:02x} isn't a message that may appear here ({name})"
                raise Malformed(pos, "unknown-message", what)
            if len(self.spans) > MOST_SPANS:
                raise self.too_many(pos)
            if ident in table.refused:
                what = f"a {known[ident].name} here: the Rust implementation refuses it"
                self.remarks.append(("request-body", pos, pos + 1, what))
            if table.inner:
                return self.message(table[ident], pos, stop, cut, depth)
            mark, problem = (len(self.spans), len(self.remarks)), None
            try:
                end = self.message(table[ident], pos, stop, cut, depth)
            except Malformed as raised:
                if not self.doubts or self.trial:
                    raise
                problem, end = raised, stop
            if self.doubts and not self.trial:
                end = self.weighed(Doubtful(table, many, pos, stop, cut, depth), mark, end, problem)
            pos = end
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
        self, known: ExtensionPrograms, pos: int, stop: int, cut: bool, depth: int, header: int, values: Values
    ) -> int:
        """A chain of extensions."""
        if known.optional and pos == stop and not cut:
            return pos
        data, spans = self.data, self.spans
        while True:
            if pos >= stop:
                raise short_of(EXT_HEADER, pos, stop)
            if len(spans) > MOST_SPANS:
                raise self.too_many(pos)
            head = data[pos]
            start = pos
            pos += 1
            program = known.get(head & 127)
            if program is None:
                pos = self.unknown(known, head, start, stop, cut, depth)
            else:
                field, steps, structured, keep, before, _, _ = program
                index = len(spans)
                spans.append((field, depth, start, -1, None))
                spans.append((EXT_HEADER, depth + 1, start, pos, head))
                if structured and head & 64:
                    pos = self.extension(program, pos, (stop, cut, depth + 1, header, values))
                elif head & 96:
                    pos = self.steps(steps, pos, stop, cut, depth + 1, header, values)
                spans[index] = (field, depth, start, pos, None)
                if keep:
                    values[keep] = 1
                if before and (head < 128 or (pos < stop and data[pos] & 127 != before)):
                    text = f"{named(field)} isn't directly followed by {known[before].field.name}"
                    self.remarks.append(("body-shm-alone", start, pos, text))
            if head < 128:
                return pos

    def unknown(self, known: ExtensionPrograms, head: int, start: int, stop: int, cut: bool, depth: int) -> int:
        """An extension that the message doesn't know, by the encoding in its header."""
        enc, ident = head >> 5 & 3, head & 15
        index = len(self.spans)
        self.spans.append((EXT_UNKNOWN, depth, start, -1, None))
        pos = start + 1
        self.spans.append((EXT_HEADER, depth + 1, start, pos, head))
        what = f"extension 0x{ident:x} ({ENC_NAMES[enc]}, M={head >> 4 & 1})"
        if head & 16 and not known.tolerant:
            self.remarks.append(("unknown-mandatory-extension", start, pos, f"unknown mandatory {what}"))
        elif any(key & 15 == ident for key in known):
            self.remarks.append(("extension-form", start, pos, f"{what} is known only in another form"))
        else:
            self.remarks.append(("unknown-extension", start, pos, f"unknown {what}"))
        if enc > ZBUF:
            raise Malformed(pos, "reserved-encoding", f"{what} has a reserved encoding")
        pos = self.steps(unknown_body(enc), pos, stop, cut, depth + 1, 0, {})
        self.spans[index] = (EXT_UNKNOWN, depth, start, pos, None)
        return pos

    def repeat(self, program: RepeatProgram, pos: int, around: Around) -> int:
        """The same steps several times; each takes at least a byte, so a huge count ends with the bytes."""
        field, steps, item, count, counter = program
        stop, cut, depth, header, values = around
        if counter is not None:
            pos = self.steps((counter,), pos, stop, cut, depth, header, values)
            times = self.spans[-1][4]
        else:
            assert count is not None
            times = count(values)
        single = len(steps) == 1
        index = len(self.spans)
        start = pos
        if times:
            self.spans.append((field, depth, pos, -1, None))
        for number in range(times):
            if len(self.spans) > MOST_SPANS:
                raise self.too_many(pos)
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
