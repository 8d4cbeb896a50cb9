"""Stencils: the lines of all messages with one template, with holes for offsets and for what changes.

A stencil is made from the spans of the first message with its template. What is constant in it is text; of any other
message only the fields that change are read, to find out where the others are.
"""

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any, NamedTuple

from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import DecodedMessage
from zdissect.engine.tape import Span
from zdissect.engine.templates import MOST_TEMPLATES, OFFSET, Template
from zdissect.engine.vle import read
from zdissect.grammar.batch import BATCH
from zdissect.grammar.columns import changes
from zdissect.grammar.field import EXT_LENGTH
from zdissect.grammar.primitives import encoding_text
from zdissect.output.brackets import brackets
from zdissect.output.field_lines import FieldLines
from zdissect.output.leaf_lines import LeafLines


class Hole(NamedTuple):
    """A field that changes."""

    place: int
    """Its index in the parts of the stencil."""
    lines: LeafLines
    encoding: str


class Stretch(NamedTuple):
    """Fields that don't change, and the one behind them that does."""

    start: int
    stop: int
    """Which parts of the stencil are their offsets: every second one from `start` on."""
    pick: Callable[[list[str]], Any]
    """Takes their offsets from those of their bytes."""
    size: int
    """How many bytes they have."""
    hole: Hole | None


class Stencil(NamedTuple):
    """The lines of a message; its parts are the text in between, with None for each hole."""

    parts: list[str]
    stretches: tuple[Stretch, ...]


class Stencils:
    """Makes stencils and fills them."""

    def __init__(self, fields: FieldLines) -> None:
        self.fields = fields
        self.known: dict[Template, Stencil] = {}
        self.prefixes: dict[bytes, str] = {}
        self.offsets: list[str] = []
        """The text of each offset."""

    def prefix(self, data: bytes) -> str:
        """The line of the length prefix of a batch."""
        line = self.prefixes.get(data)
        if line is None:
            if len(self.prefixes) >= MOST_TEMPLATES:
                self.prefixes.clear()
            spans = interpret(BATCH, data, cut=True, prefix=len(data)).spans
            ((place, lines),) = self.fields.span(spans, 1, data)
            line = self.prefixes[data] = f"{self.fields.offset}{place:04x}{lines}"
        return line

    def filled(self, message: DecodedMessage) -> str:
        """The lines of a message that has a template."""
        data, pos = message.tape.data, message.cell[OFFSET]
        parts, stretches = self.known.get(message.template) or self.made(message)
        parts = parts.copy()
        offsets = self.offsets
        if len(data) >= len(offsets):
            offsets += [f"{at:04x}" for at in range(len(offsets), 2 * len(data))]
        for start, stop, pick, size, hole in stretches:
            if start < stop:
                parts[start:stop:2] = pick(offsets[pos : pos + size + 1])
            pos += size
            if hole is not None:
                parts[hole.place], pos = self.field(hole, data, pos)
        return "".join(parts)

    def field(self, hole: Hole, data: bytes, pos: int) -> tuple[str, int]:
        """The lines of a field that changes, an integer or bytes with a length, and the position after it."""
        _, lines, encoding = hole
        offset, offsets = self.fields.offset, self.offsets
        value, stop = data[pos], pos + 1
        if value > 127:
            value, stop = read(data, pos, len(data))
        raw, text = data[pos:stop], f"{offset}{offsets[pos]}"
        if not lines.measured:
            return f"{text}{lines.content(raw, value, encoding)}", stop
        content = data[stop : stop + value]
        below = f"\n{offset}{offsets[stop]}{lines.content(content, content, encoding)}"
        return f"{text}{lines.length(raw, value)}{below}", stop + value

    def made(self, message: DecodedMessage) -> Stencil:
        """Makes the stencil of messages with the template of this one."""
        if len(self.known) >= MOST_TEMPLATES:
            self.known.clear()
        stencil = self.known[message.template] = _Maker(self.fields).stencil(message)
        return stencil


class _Maker:
    """Makes one stencil, from the spans of a message."""

    def __init__(self, fields: FieldLines) -> None:
        self.fields = fields
        self.parts = [""]
        self.stretches: list[Stretch] = []
        self.start = 1
        """Where the offsets of the stretch begin in the parts."""
        self.base = 0
        """Where its bytes begin."""
        self.places: list[int] = []
        """Its offsets, from there."""

    def stencil(self, message: DecodedMessage) -> Stencil:
        """The stencil of messages with the template of this one, which is the first of them."""
        fields, tape, first = self.fields, message.tape, message.first
        spans, data = tape.spans, tape.data
        self.base = pos = spans[first][2]
        encoding, varies = "", False
        for index in range(first, message.stop):
            field, depth, at, stop, value = spans[index]
            if field.leaf:
                pos = stop
            elif field.kind == "message":
                encoding = ""
            elif field.kind == "extension":
                varies = any(changes(inner[0]) for inner in inside(spans, index))
            if field.render == "encoding":
                encoding = encoding_text(value >> 1, None)
            if field.leaf and (changes(field) or (varies and field is EXT_LENGTH)):
                self.hole(fields.leaf(field, depth), encoding, at, stop)
                continue
            for place, lines in fields.span(spans, index, data, encoding):
                self.line(at + place, lines)
            if index == first:
                self.below([fields.bracket(text, depth) for text in brackets(message.template.row)])
        self.stretch(pos, None)
        return Stencil(self.parts, tuple(self.stretches))

    def line(self, at: int, text: str) -> None:
        """Adds lines with an offset."""
        self.next()
        self.parts[-1] += self.fields.offset
        self.parts += ["", text]
        self.places.append(at - self.base)

    def below(self, lines: list[str]) -> None:
        """Adds lines without one."""
        self.parts[-1] = "\n".join([self.parts[-1], *lines])

    def next(self) -> None:
        """Begins another line."""
        if len(self.parts) > 1:
            self.parts[-1] += "\n"

    def hole(self, lines: LeafLines, encoding: str, start: int, stop: int) -> None:
        """Leaves room for a field, which is at start..stop here."""
        self.next()
        self.stretch(start, Hole(len(self.parts), lines, encoding))
        self.parts += ["", ""]
        self.start, self.base = len(self.parts), stop

    def stretch(self, stop: int, hole: Hole | None) -> None:
        """Ends a stretch, at `stop` here."""
        first, *others = self.places or (0,)
        pick = itemgetter(first, *others) if others else itemgetter(slice(first, first + 1))
        self.stretches.append(Stretch(self.start, self.start + 2 * len(self.places), pick, stop - self.base, hole))
        self.places = []


def inside(spans: list[Span], index: int) -> Iterator[Span]:
    """The spans inside the one at a place."""
    depth = spans[index][1]
    for span in spans[index + 1 :]:
        if span[1] <= depth:
            return
        yield span
