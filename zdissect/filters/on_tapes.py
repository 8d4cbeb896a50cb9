"""Filters over dissections: rows, and where these don't tell, the spans of the tape and the frame of the capture.

In the scope of a message are its own spans, those of the FRAME around it, and those of the unit that both are in.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from zdissect.dissection import Dissection, Item
from zdissect.engine.messages import DecodedMessage
from zdissect.engine.tape import Span
from zdissect.filters.on_rows import Row, RowCompiler, Values
from zdissect.filters.packet_values import PARTS
from zdissect.filters.ros_names import values
from zdissect.filters.typed_tree import (
    AheadValues,
    ColumnValues,
    PacketValues,
    RosValues,
    Source,
    SpanValues,
    Tree,
    sources,
)
from zdissect.filters.value_types import MILLISECOND, SECOND
from zdissect.grammar.field import Field
from zdissect.grammar.primitives import ntp64_ns, zid_text
from zdissect.grammar.transport import FRAME
from zdissect.grammar.types import Bit
from zdissect.ros2.naming import RosWords

LABELS = "labels"
"""Under which a scope holds the names of the messages in it."""


class Scope(dict[str, Any]):
    """A row with what is around it: its item, and the values of the fields that are wanted."""

    __slots__ = ("around", "item", "place")

    def __init__(self, row: Row, item: Item, around: "Surroundings", place: int) -> None:
        super().__init__(row)
        self.item = item
        self.around = around
        self.place = place

    @property
    def found(self) -> dict[str, Any]:
        """Values by the names of fields, and under LABELS the set of labels."""
        return self.around.found(self.place)


class Surroundings:
    """What is around the rows of an item; spans are read when they are asked for, as most have to be made first."""

    __slots__ = ("_made", "began_ns", "item", "wanted")

    def __init__(self, item: Item, wanted: "Wanted", began_ns: int) -> None:
        self.item = item
        self.wanted = wanted
        self.began_ns = began_ns
        self._made: list[dict[str, Any]] | None = None

    def found(self, place: int) -> dict[str, Any]:
        """The values in the scope of the message at a place; nothing for what is no message."""
        if self._made is None:
            self._made = list(self.wanted.scopes(self.item)) if isinstance(self.item, Dissection) else [{}]
        return self._made[place]


class TapeCompiler(RowCompiler):
    """Makes closures that take scopes. With `spans`, fields are read from spans even where columns say the same."""

    def __init__(self, spans: bool, ros: RosWords | None = None) -> None:
        self.spans = spans
        self.ros = ros or RosWords()

    def instead(self, operand: SpanValues) -> ColumnValues | None:
        return None if self.spans else operand.instead

    def ordered(self, parts: tuple[Tree, ...]) -> list[Tree]:
        """What needs no spans is asked first."""
        return sorted(parts, key=self.reads_spans)

    def reads_spans(self, tree: Tree) -> bool:
        """Whether it reads spans."""
        return any(isinstance(one, SpanValues) and self.instead(one) is None for one in sources(tree))

    def source(self, operand: Source) -> Values:
        match operand:
            case PacketValues(_, part):
                make = PARTS[part]
                return lambda scope: make(scope.item, scope.around.began_ns)  # type: ignore[attr-defined]
            case AheadValues(_, part):
                return lambda scope: [found] if (found := scope.get(part)) is not None else ()
            case RosValues():
                return values(operand, self.ros)
            case SpanValues(_, paths, labels) if self.instead(operand) is None:
                return _spans(paths, labels)
        return super().source(operand)


def _spans(paths: tuple[str, ...], labels: frozenset[str]) -> Values:
    """The values of fields, where messages with these labels are in scope."""

    def values(scope: Row) -> Iterable[Any]:
        found: dict[str, Any] = scope.found  # type: ignore[attr-defined]
        if labels and not labels <= found.get(LABELS, frozenset()):
            return ()
        return [value for path in paths for value in found.get(path, ())]

    return values


Take = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The fields that a filter reads: what to take from the spans of which field."""

    paths: frozenset[str]

    def scopes(self, item: Dissection) -> Iterator[dict[str, Any]]:
        """What each message of an item has in its scope; if there is none, what the tape has."""
        spans = item.tape.spans
        messages = item.messages or [DecodedMessage(item.tape, 0, {})]
        unit = spans[: messages[0].first]
        frame: list[Span] = []
        frame_stop = -1
        for message in messages:
            own = spans[message.first : message.stop]
            is_frame = bool(own) and own[0][0].node is FRAME
            around = frame if own and not is_frame and own[0][2] < frame_stop else []
            yield self.gather([*unit, *around, *own])
            if is_frame:
                frame, frame_stop = own, own[0][3]

    def gather(self, spans: Iterable[Span]) -> dict[str, Any]:
        """The wanted values among some spans, and the labels of their messages."""
        out: dict[str, Any] = {}
        labels = set()
        for field, _, _, _, value in spans:
            if field.kind == "message":
                labels.add(value)
            for path, take in _takes(field):
                if path in self.paths:
                    out.setdefault(path, []).append(take(value))
        out[LABELS] = labels
        return out


@cache
def _takes(field: Field) -> tuple[tuple[str, Take], ...]:
    """The names for which a span of this field has a value, and how that is found in its own."""
    own = [(field.path, _take(field))]
    return tuple(own + [(bit.path, _take_bits(bit)) for bit in field.bits])


def _take(field: Field) -> Take:
    """How the value of a span becomes that of its field's type."""
    if not field.leaf:
        return lambda value: field.path
    if field.render == "zid":
        return zid_text
    if field.render == "ntp64":
        return ntp64_ns
    if field.render in ("seconds", "milliseconds"):
        unit = SECOND if field.render == "seconds" else MILLISECOND
        return lambda value: value * unit
    return lambda value: value


def _take_bits(bit: Field) -> Take:
    node = bit.node
    assert isinstance(node, Bit)
    if node.width == 1 and node.enum is None:
        return lambda value: bool(node.of(value))
    return node.of
