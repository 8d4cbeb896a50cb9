"""Stencils of `-T json`: the objects of all messages with one template, with holes for places and for what changes.

A stencil is made from the spans of the first message with its template. Which of its numbers depend on what is found
out by moving the message, and the ends of its fields that change, each by another power of two.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from zdissect.engine.interpreter import interpret
from zdissect.engine.lazy_messages import LazyTape, own_spans
from zdissect.engine.messages import DecodedMessage
from zdissect.engine.tape import Span, Tape
from zdissect.engine.templates import LENGTH, MOST_TEMPLATES, OFFSET, Template
from zdissect.engine.vle import read
from zdissect.grammar.batch import BATCH
from zdissect.grammar.columns import changes
from zdissect.grammar.field import EXT_LENGTH
from zdissect.output.named_members import MemberWriter, saying, unit_text
from zdissect.output.stencils import inside

_SIZE = 2
"""What a message says of itself in third place: how long it is, with the messages in it."""
_HOLE = "\0"
"""What no JSON holds."""


class MemberHole(NamedTuple):
    """A field that changes: an integer, or bytes with their length."""

    gap: int
    """Bytes between the hole before, or the start of the message, and this one."""
    measured: bool
    """Whether its integer is the length of what follows."""
    says: Callable[[Any], str]
    """What its value says."""
    place: int
    """Its index among all that is filled in."""


class MemberStencil(NamedTuple):
    """The object of a message, without its last brace."""

    format: str
    holes: tuple[MemberHole, ...]
    stretches: tuple[tuple[int, int], ...]
    """From which anchor to which other one there are stretches that have holes in them."""
    numbers: tuple[tuple[int, int], ...]
    """Anchor, and bits after it. Anchors are the start of the message, the ends of its holes, its size, stretches."""


class MemberStencils:
    """Writes batches that were read without a tape."""

    def __init__(self) -> None:
        self.known: dict[Template, MemberStencil] = {}

    def unit_text(self, tape: LazyTape, messages: Sequence[DecodedMessage]) -> str:
        """The batch as JSON, as `named_members.unit_text` has it."""
        size = len(tape.data)
        carriers: list[tuple[str, list[str]]] = []
        """Transport messages, and those in them."""
        within: list[str] = []
        stop = -1
        following = [*(message.offset for message in messages[1:]), size]
        for message, after in zip(messages, following, strict=bool(messages)):
            text = self.filled(message, after) if message.template is not None else _written(message, after)
            if message.offset < stop:
                within.append(f"{text}}}")
                continue
            within, stop = [], message.offset + message.length
            carriers.append((text, within))
        objects = [f'{text},"messages":[{",".join(within)}]}}' if within else f"{text}}}" for text, within in carriers]
        held = f',"messages":[{",".join(objects)}]' if objects else ""
        return f"{_opening(tape.data[: tape.prefix], size)}{held}}}"

    def filled(self, message: DecodedMessage, after: int) -> str:
        """The object of a message that has a template, without its last brace."""
        data, pos = message.tape.data, message.cell[OFFSET]
        text, holes, stretches, numbers = self.known.get(message.template) or self.made(message, after)
        anchors = [pos << 3]
        values: list[str] = []
        for gap, measured, says, _ in holes:
            start = pos + gap
            value, pos = data[start], start + 1
            if value > 127:
                value, pos = read(data, start, len(data))
            if measured:
                start, pos = pos, pos + value
                values.append(says(data[start:pos]))
            else:
                values.append(says(value))
            anchors.append(pos << 3)
        anchors.append(message.cell[LENGTH] << 3)
        anchors += [anchors[stop] - anchors[start] for start, stop in stretches]
        filling: list[int | str] = [anchors[anchor] + more for anchor, more in numbers]
        for hole, said in zip(holes, values, strict=True):
            filling.insert(hole.place, said)
        return text % tuple(filling)

    def made(self, message: DecodedMessage, after: int) -> MemberStencil:
        """Makes the stencil of messages with the template of this one."""
        if len(self.known) >= MOST_TEMPLATES:
            self.known.clear()
        made = self.known[message.template] = _stencil(message, after)
        return made


def _written(message: DecodedMessage, after: int) -> str:
    """The object of any message, without its last brace; `after` is where the next one begins."""
    writer = _writer(own_spans(message, after), message)
    return "".join(writer.pieces) % tuple(writer.args)


def _writer(spans: list[Span], message: DecodedMessage) -> MemberWriter:
    """What has written the object of a message, without its last brace."""
    writer = MemberWriter(spans, 0, {0: message})
    writer.put("{")
    writer.head(0)
    writer.members(1, 0, many=False)
    return writer


@lru_cache(MOST_TEMPLATES)
def _opening(prefix: bytes, size: int) -> str:
    """The object of a batch up to its messages."""
    (unit, *rest) = interpret(BATCH, prefix, cut=True, prefix=len(prefix)).spans
    return unit_text(Tape(prefix, 0, size, [(*unit[:3], size, unit[4]), *rest], [])).removesuffix("}")


def _stencil(message: DecodedMessage, after: int) -> MemberStencil:
    """The stencil of messages with the template of this one, which is the first of them."""
    spans = own_spans(message, after)
    changing = _changing(spans)
    ends = [spans[index][3] for index in changing]
    anchors = [message.offset << 3, *[end << 3 for end in ends]]
    here, moved = _writer(spans, message), _writer(_moved(spans, changing), message)
    texts: list[str] = []
    numbers: list[tuple[int, int]] = []
    stretches: list[tuple[int, int]] = []
    places: list[int] = []
    for index, (value, other) in enumerate(zip(here.args, moved.args, strict=True)):
        if value == other:
            texts.append(str(value))
            continue
        texts.append(_HOLE)
        if isinstance(value, str) or isinstance(other, str):
            places.append(len(numbers) + len(places))
            continue
        depends = other - value >> 3
        last = depends.bit_length() - 1
        if index == _SIZE:
            numbers.append((len(anchors), 0))
        elif depends % 2:
            numbers.append((last, value - anchors[last]))
        else:
            first = (depends & -depends).bit_length() - 2
            numbers.append((len(anchors) + 1 + len(stretches), value - (anchors[last] - anchors[first])))
            stretches.append((first, last))
    parts = ("".join(here.pieces) % tuple(texts)).split(_HOLE)
    starts = [spans[index][2] for index in changing]
    gaps = [start - end for start, end in zip(starts, [message.offset, *ends], strict=False)]
    fields = [spans[index][0] for index in changing]
    holes = [
        MemberHole(gap, field.kind != "vle", saying(field), place)
        for gap, field, place in zip(gaps, fields, places, strict=True)
    ]
    return MemberStencil(
        "%s".join(part.replace("%", "%%") for part in parts), tuple(holes), tuple(stretches), tuple(numbers)
    )


def _changing(spans: list[Span]) -> list[int]:
    """The indices of the fields that change; with them, the length of an extension that holds such a field does."""
    out: list[int] = []
    varies = False
    for index, (field, *_) in enumerate(spans):
        if field.kind == "extension":
            varies = any(changes(inner[0]) for inner in inside(spans, index))
        elif field.leaf and (changes(field) or (varies and field is EXT_LENGTH)):
            out.append(index)
    return out


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
