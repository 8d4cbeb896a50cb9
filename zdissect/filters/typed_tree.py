"""A filter with all types known: what every back end compiles. Frozen values; a name has become where it comes from.

Operands give the values of a message: none where what they stand for is absent, several where it repeats. Tests are
true or false, never unknown: each is false where an operand of it has no value.
"""

from dataclasses import dataclass

from zdissect.filters.predicates import Predicate
from zdissect.filters.value_types import ValueType


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition for something to be there: one of these columns fulfils the predicate."""

    columns: tuple[str, ...]
    predicate: Predicate


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """Columns of a row. With `member`, they hold lists of structs, whose members of that name are the values."""

    type: ValueType
    columns: tuple[str, ...]
    member: str = ""
    listed: bool = False
    guards: tuple[Guard, ...] = ()
    """All of which must hold."""


@dataclass(frozen=True, slots=True)
class SpanValues:
    """Fields of a tape, by their names; `labels` are messages that must be in scope.

    `instead` are columns that say exactly the same.
    """

    type: ValueType
    paths: tuple[str, ...]
    labels: frozenset[str] = frozenset()
    instead: ColumnValues | None = None


@dataclass(frozen=True, slots=True)
class PacketValues:
    """What the frame of the capture tells besides Zenoh: the name of a function in `packet_values`."""

    type: ValueType
    part: str


@dataclass(frozen=True, slots=True)
class AheadValues:
    """What is known only later in the capture, by the name under which `ahead` tells it."""

    type: ValueType
    part: str


@dataclass(frozen=True, slots=True)
class RosValues:
    """What messages of ROS 2 are about, or what is in them, by its name: `ros2.topic`, `ros2.header.frame_id`."""

    type: ValueType
    part: str


@dataclass(frozen=True, slots=True)
class Sliced:
    """Pieces of text or bytes, put together. A piece is (first, after its last), both may count from the end."""

    type: ValueType
    inner: "Operand"
    pieces: tuple[tuple[int, int | None], ...]


@dataclass(frozen=True, slots=True)
class Called:
    """A function of each value, but `count`: that is one of all values. `number` makes numbers of digits."""

    type: ValueType
    function: str
    inner: "Operand"


@dataclass(frozen=True, slots=True)
class Masked:
    """The bits of a number that a mask leaves."""

    type: ValueType
    inner: "Operand"
    mask: int


Operand = ColumnValues | SpanValues | PacketValues | AheadValues | RosValues | Sliced | Called | Masked
Source = ColumnValues | SpanValues | PacketValues | AheadValues | RosValues


@dataclass(frozen=True, slots=True)
class Present:
    """The operand has a value."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class ValueTest:
    """One value, or (`every`) each, fulfils a predicate, and there is one."""

    operand: Operand
    predicate: Predicate
    every: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """Two operands compare, with `==`, `<`, `contains`, `intersects`...: some of their values, or all with all."""

    left: Operand
    word: str
    right: Operand
    every: bool = False


@dataclass(frozen=True, slots=True)
class Inverse:
    """The test is false."""

    inner: "Tree"


@dataclass(frozen=True, slots=True)
class AllOf:
    """Each test is true."""

    parts: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One test is true."""

    parts: tuple["Tree", ...]


Tree = Present | ValueTest | Pair | Inverse | AllOf | AnyOf


def sources(tree: "Tree | Operand") -> set[Source]:
    """All that a filter reads."""
    match tree:
        case AllOf(parts) | AnyOf(parts):
            return set().union(*map(sources, parts))
        case Inverse(inner) | Sliced(inner=inner) | Called(inner=inner) | Masked(inner=inner):
            return sources(inner)
        case Present(operand) | ValueTest(operand=operand):
            return sources(operand)
        case Pair(left, _, right):
            return sources(left) | sources(right)
        case _:
            return {tree}
