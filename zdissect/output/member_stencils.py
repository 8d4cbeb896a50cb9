"""Stencils of `-T json`: the objects of all messages with one template, without their last brace.

Which of the numbers in the first one depend on what is found out by moving it, and the ends of its fields that change,
each by another power of two.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from zdissect.engine.messages import Row
from zdissect.engine.tape import Span
from zdissect.output.named_members import MemberWriter, derived_text, saying
from zdissect.output.stencils import Hole, Model, Part, Room, Stencil, Tell, changing, layout

if TYPE_CHECKING:
    from zdissect.vector.changing_fields import GroupFields

_SIZE, _DERIVED = 2, 3
"""What a message says of itself in third place: how long it is, with the messages in it; then what is known of it."""
_HOLE = "\0"
"""What no JSON holds."""


class MemberStencils:
    """Makes stencils of objects.

    Args:
        telling: What tells something about each message with a template, by the row of that; None if nothing does.
    """

    def __init__(self, telling: Callable[[Row], Tell | None] | None = None) -> None:
        self.telling = telling

    def make(self, model: Model, room: Room) -> Stencil:
        """The stencil of messages like one."""
        row, spans = model.template.row, model.spans
        holes = changing(spans)
        here, moved = _written(spans, row), _written(_moved(spans, holes), row)
        own = {_DERIVED: self.telling(row)} if self.telling is not None else {}
        maker = _MemberMaker(room, [spans[0][2], *(spans[index][3] for index in holes)])
        says = iter([saying(spans[index][0]) for index in holes])
        pieces = ("".join(here.pieces) % tuple(_HOLE for _ in here.args)).split(_HOLE)
        found = layout(spans, holes)
        for index, (piece, value, other) in enumerate(zip(pieces, here.args, moved.args, strict=False)):
            maker.text(piece)
            if (tell := own.get(index)) is not None:
                maker.part(_told(tell))
            elif value == other:
                maker.text(str(value))
            elif isinstance(value, str) or isinstance(other, str):
                maker.hole(found, next(says))
            elif index == _SIZE:
                maker.part(_sizes)
            else:
                maker.number(value, other - value >> 3)
        maker.text(pieces[-1])
        maker.placed()
        return Stencil(found, tuple(maker.parts))


class _MemberMaker:
    """Gathers the parts of one stencil.

    Args:
        room: Keeps texts.
        anchors: Where the message begins, and where its fields end that change.
    """

    def __init__(self, room: Room, anchors: list[int]) -> None:
        self.room, self.anchors = room, anchors
        self.parts: list[Part] = []
        self.form = ""
        """A format of what depends on one anchor, ..."""
        self.anchor = 0
        """... that one, ..."""
        self.numbers: list[int] = []
        """... and the numbers in it, from there."""
        self.holes = 0

    def text(self, text: str) -> None:
        """Adds a text."""
        self.form += text.replace("%", "%%")

    def number(self, value: int, depends: int) -> None:
        """Adds a number of bits: a place or a size.

        Args:
            value: What it is here.
            depends: By how much more it is if everything moves: the sum of the powers of two of what it depends on.
        """
        last = depends.bit_length() - 1
        if depends % 2:
            if last != self.anchor:
                self.placed()
            self.anchor = last
            self.form += "%d"
            self.numbers.append(value - (self.anchors[last] << 3))
        else:
            first = (depends & -depends).bit_length() - 2
            more = value - (self.anchors[last] - self.anchors[first] << 3)
            self.part(_stretches(2 * first, 2 * last, more))

    def hole(self, holes: tuple[Hole, ...], says: Callable[[Any], str]) -> None:
        """Adds the value of the next field that changes."""
        self.part(_contents(self.holes, says) if holes[self.holes].measured else _values(self.holes, says))
        self.holes += 1

    def part(self, part: Part) -> None:
        """Adds a part that doesn't depend on an anchor alone."""
        self.placed()
        self.parts.append(part)

    def placed(self) -> None:
        """Ends the part that depends on one anchor."""
        if self.form:
            self.parts.append(self.room.placed(2 * self.anchor, self.form, self.numbers, 3))
        self.form, self.numbers = "", []


def _values(hole: int, says: Callable[[Any], str]) -> Part:
    return lambda found: map(says, found.values(hole))


def _contents(hole: int, says: Callable[[Any], str]) -> Part:
    return lambda found: map(says, found.contents(hole))


def _stretches(first: int, last: int, more: int) -> Part:
    def texts(found: "GroupFields") -> Iterable[str]:
        return [str((size << 3) + more) for size in found.stretches(first, last)]

    return texts


def _sizes(found: "GroupFields") -> Iterable[str]:
    return [str(size << 3) for size in found.sizes]


def _told(tell: Tell) -> Part:
    """What is known of each message."""

    def texts(found: "GroupFields") -> Iterator[str]:
        for row in found.rows():
            tell(row)
            yield derived_text(row)

    return texts


def _written(spans: list[Span], row: Row) -> MemberWriter:
    """What has written the object of a message, without its last brace."""
    writer = MemberWriter(spans, 0, {0: row})
    writer.put("{")
    writer.head(0)
    writer.members(1, 0, many=False)
    return writer


def _moved(spans: list[Span], changing: list[int]) -> list[Span]:
    """The same spans elsewhere: all moved by 1, and those behind the n-th that changes by 2 to the power of n besides.
    What changes has another value."""
    ends = [spans[index][3] for index in changing]

    def to(place: int) -> int:
        return place + 1 + sum(2 << number for number, end in enumerate(ends) if end <= place)

    return [
        (field, depth, to(start), to(stop), _other(value) if index in changing else value)
        for index, (field, depth, start, stop, value) in enumerate(spans)
    ]


def _other(value: int | bytes) -> int | bytes:
    return bytes(len(value) + 1) if isinstance(value, bytes) else value + 1
