"""Stencils: the text of all messages with one template, with holes for places and for what changes.

A stencil is made from the spans of the first message with its template. For all others of a block, only what changes is
read, in columns; their texts are joined from what is known of the template, and what is in the holes.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from zdissect.engine.messages import Row
from zdissect.engine.tape import Span
from zdissect.engine.templates import MOST_TEMPLATES, Template
from zdissect.grammar.columns import changes
from zdissect.grammar.field import EXT_LENGTH

if TYPE_CHECKING:
    from zdissect.vector.arrays import Bools
    from zdissect.vector.changing_fields import GroupFields
    from zdissect.vector.usual_batches import UsualBatches

AT_ONCE = 1 << 12
"""Messages of usual batches whose texts are made together."""
MOST_KEPT = 1 << 15
"""Texts that are kept because of where they are."""

Part = Callable[["GroupFields"], Iterable[str]]
"""A part of the text of several messages."""
Tell = Callable[[Row], object]
"""Adds to the row of a message what isn't the same for all messages of its kind, and is known of it."""


class Hole(NamedTuple):
    """A field that changes: an integer, or bytes with their length in front."""

    gap: int
    """Bytes between the hole before, or the start of the message, and this one."""
    measured: bool
    """Whether its integer is the length of what follows."""


class Stencil(NamedTuple):
    """The text of messages of one kind."""

    holes: tuple[Hole, ...]
    parts: tuple[Part, ...]


class Placed(dict[int, str]):
    """The text of a part that depends on a place, by that; kept as long as there is room.

    Args:
        room: Where it is kept.
        form: The text, as a format of numbers.
        numbers: What these are for a place of 0.
        shift: By how many bits a place is shifted, before it is added to them.
    """

    def __init__(self, room: "Room", form: str, numbers: tuple[int, ...], shift: int) -> None:
        super().__init__()
        self.room, self.form, self.numbers, self.shift = room, form, numbers, shift

    def __missing__(self, place: int) -> str:
        self.room.take()
        at = place << self.shift
        text = self[place] = self.form % tuple([at + number for number in self.numbers])
        return text


class Room:
    """Texts that are kept because of where they are: when there is no room for more, all are forgotten."""

    def __init__(self) -> None:
        self.left = MOST_KEPT
        self.known: dict[tuple[str, tuple[int, ...]], Placed] = {}

    def take(self) -> None:
        """Takes room for one more."""
        self.left -= 1
        if self.left < 0:
            self.left = MOST_KEPT - 1
            for texts in self.known.values():
                texts.clear()

    def placed(self, anchor: int, form: str, numbers: Iterable[int], shift: int = 0) -> Part:
        """A part that depends on where one anchor is, see `GroupFields`; the rest as for `Placed`."""
        key = form, tuple(numbers)
        if key not in self.known:
            self.known[key] = Placed(self, *key, shift)
        at = self.known[key].__getitem__
        return lambda found: map(at, found.places(anchor))


class Model(NamedTuple):
    """The first message of a kind, which its stencil is made from."""

    template: Template
    chosen: bool
    """Whether messages like it are shown in full."""
    spans: list[Span]
    data: bytes
    """The bytes that spans count in."""


class Stencils:
    """Makes stencils, keeps them and fills them.

    Args:
        make: Makes a stencil.
    """

    def __init__(self, make: Callable[[Model, Room], Stencil]) -> None:
        self.make = make
        self.known: dict[tuple[Template, bool], Stencil] = {}
        self.room = Room()

    def texts(self, usual: "UsualBatches", chosen: "Bools") -> Iterator[tuple[str, ...]]:
        """The text of each message of usual batches, in parts.

        Args:
            usual: They, with all messages that are to be in it.
            chosen: Which of these are shown in full.
        """
        groups, group = usual.kind_groups(chosen)
        stencils = [self.known.get((one, shown)) or self.made(usual, one, shown, at) for one, shown, at in groups]
        found = usual.changing(group, [one.holes for one in stencils])
        parts = [
            zip(*[list(part(fields)) for part in one.parts], strict=True)
            for one, fields in zip(stencils, found, strict=True)
        ]
        return map(next, map(parts.__getitem__, group.tolist()))

    def made(self, usual: "UsualBatches", template: Template, chosen: bool, message: int) -> Stencil:
        """Makes the stencil of messages with a template, from the spans of one."""
        if len(self.known) >= MOST_TEMPLATES:
            self.known.clear()
            self.room = Room()
        model = Model(template, chosen, usual.spans(message), usual.data)
        stencil = self.known[template, chosen] = self.make(model, self.room)
        return stencil


def changing(spans: list[Span]) -> list[int]:
    """The indices of the fields that change; with them, the length of an extension that holds such a field does."""
    out: list[int] = []
    varies = False
    for index, (field, *_) in enumerate(spans):
        if field.kind == "extension":
            varies = any(changes(inner[0]) for inner in inside(spans, index))
        elif field.leaf and (changes(field) or (varies and field is EXT_LENGTH)):
            out.append(index)
    return out


def layout(spans: list[Span], holes: list[int]) -> tuple[Hole, ...]:
    """Where the fields that change are, of which these are the indices."""
    ends = [spans[0][2], *(spans[index][3] for index in holes)]
    return tuple(
        Hole(spans[index][2] - end, spans[index][0].kind != "vle") for index, end in zip(holes, ends, strict=False)
    )


def inside(spans: list[Span], index: int) -> Iterator[Span]:
    """The spans inside the one at a place."""
    depth = spans[index][1]
    for span in spans[index + 1 :]:
        if span[1] <= depth:
            return
        yield span
