"""Stencils of the tree: the lines of all messages with one template."""

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING

from zdissect.engine.messages import Row
from zdissect.grammar.primitives import encoding_text
from zdissect.output.brackets import brackets
from zdissect.output.field_lines import FieldLines
from zdissect.output.folding import Folds, folded, unfolded
from zdissect.output.leaf_lines import LeafLines
from zdissect.output.stencils import Hole, Model, Part, Room, Stencil, Tell, changing, layout

if TYPE_CHECKING:
    from zdissect.vector.changing_fields import GroupFields


class LineStencils:
    """Makes stencils of the tree.

    Args:
        fields: Makes the lines.
        opened: The fields of the messages that are shown in full if others are folded; empty: all.
        telling: What tells something about each message with a template, by the row of that; None if nothing does.
    """

    def __init__(
        self, fields: FieldLines, opened: frozenset[str], telling: Callable[[Row], Tell | None] | None
    ) -> None:
        self.fields, self.opened, self.telling = fields, opened, telling

    def make(self, model: Model, room: Room) -> Stencil:
        """The stencil of messages like one."""
        row, spans = model.template.row, model.spans
        maker = _LineMaker(self.fields, model, self.folds(model), room)
        holes = changing(spans)
        tell = self.telling(row) if self.telling is not None and 0 not in maker.folds.stops else None
        maker.walk(1 + (row["layer"] == "network"), holes, layout(spans, holes), tell)
        return Stencil(layout(spans, holes), tuple(maker.parts))

    def folds(self, model: Model) -> Folds:
        """What is left of a message."""
        opened, shown = self.opened, model.chosen
        if shown and not opened:
            return unfolded(model.spans)
        return folded(model.spans, lambda _, span: shown and (not opened or span[0].path in opened))


class _LineMaker:
    """Makes one stencil, from the spans of a message."""

    def __init__(self, fields: FieldLines, model: Model, folds: Folds, room: Room) -> None:
        self.fields, self.model, self.folds, self.room = fields, model, folds, room
        self.parts: list[Part] = []
        self.form = ""
        """The text since the last anchor, as a format..."""
        self.places: list[int] = []
        """... and the offsets in it, from there."""
        self.anchor = 0
        self.base = model.spans[0][2]
        """Where that anchor is."""

    def walk(self, above: int, holes: list[int], layout: tuple[Hole, ...], tell: Tell | None) -> None:
        """Makes all lines.

        Args:
            above: How many spans of its batch the message is inside of.
            holes: The indices of its fields that change, and...
            layout: ... where they are.
            tell: What adds to rows what the brackets of each message say; None if they are all the same.
        """
        fields, (_, _, spans, data), folds = self.fields, self.model, self.folds
        row, shown = self.model.template.row, frozenset(folds.order)
        numbers = {index: number for number, index in enumerate(holes)}
        encoding = ""
        for index, (field, depth, at, stop, value) in enumerate(spans):
            if field.kind == "message":
                encoding = ""
            elif field.render == "encoding":
                encoding = encoding_text(value >> 1, None)
            if index in numbers:
                lines = fields.leaf(field, depth + above) if index in shown else None
                self.hole(numbers[index], layout[numbers[index]].measured, lines, encoding, (at, stop))
            elif index in shown:
                lower = [(field, depth + above, at, stop, value), *spans[index + 1 : index + 2]]
                for place, text in fields.span(lower, 0, data, encoding, 0 if index in folds.stops else None):
                    self.line(at + place, text)
                if index == 0 and tell is not None:
                    self.part(_told(fields, above, tell))
                elif index == 0:
                    below = [f"\n{fields.bracket(text, above)}" for text in brackets(row, 0 in folds.stops)]
                    self.form += _escaped("".join(below))
        self.placed()

    def line(self, at: int, text: str) -> None:
        """Adds lines with an offset, below others."""
        self.form += f"\n{_escaped(self.fields.offset)}%04x{_escaped(text)}"
        self.places.append(at - self.base)

    def part(self, part: Part) -> None:
        """Adds a part that doesn't depend on an anchor alone."""
        self.placed()
        self.parts.append(part)

    def placed(self) -> None:
        """Ends the part that depends on the last anchor."""
        if self.form:
            self.parts.append(self.room.placed(self.anchor, self.form, self.places))
        self.form, self.places = "", []

    def hole(self, number: int, measured: bool, lines: LeafLines | None, encoding: str, place: tuple[int, int]) -> None:
        """Adds the lines of a field that changes, if they are shown, and goes on behind it."""
        start, stop = place
        if lines is None:
            self.placed()
        else:
            self.line(start, "")
            if measured:
                self.part(_lengths(number, lines))
                self.anchor, self.base = 2 * number + 1, start
                self.line(start, "")
                self.part(_contents(number, lines, encoding))
            else:
                self.part(_integers(number, lines, encoding))
        self.anchor, self.base = 2 * number + 2, stop


def _integers(hole: int, lines: LeafLines, encoding: str) -> Part:
    return lambda found: map(lines.content, found.raw(hole), found.values(hole), repeat(encoding))


def _lengths(hole: int, lines: LeafLines) -> Part:
    return lambda found: map(lines.length, found.raw(hole), found.values(hole))


def _contents(hole: int, lines: LeafLines, encoding: str) -> Part:
    def texts(found: "GroupFields") -> Iterable[str]:
        return (lines.content(data, data, encoding) for data in found.contents(hole))

    return texts


def _told(fields: FieldLines, depth: int, tell: Tell) -> Part:
    """The brackets of each message."""

    def texts(found: "GroupFields") -> Iterator[str]:
        for row in found.rows():
            tell(row)
            yield "".join([f"\n{fields.bracket(text, depth)}" for text in brackets(row)])

    return texts


def _escaped(text: str) -> str:
    """A text as a part of a format."""
    return text.replace("%", "%%")
