"""All names that filters know, each with its type and where its values come from.

There is no list of fields here: names are those of the grammar's registry, of the columns of the message table, of
derived fields and of the aliases for other tools' names. Only what frames hold besides Zenoh is listed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from zdissect.filters import field_types
from zdissect.filters.field_types import as_guard, column_type, field_type, same_column
from zdissect.filters.packet_names import packet_names
from zdissect.filters.ros_names import field_inside, ros_names
from zdissect.filters.typed_tree import AheadValues, ColumnValues, Operand, SpanValues
from zdissect.filters.value_types import BOOL, NONE, NUMBER, SECOND, ValueType
from zdissect.grammar.aliases import Alias, aliases, current
from zdissect.grammar.columns import COLUMNS, Column
from zdissect.grammar.derived import DERIVED
from zdissect.grammar.registry import fields


@dataclass(frozen=True, slots=True)
class FilterName:
    """A name that filters know."""

    name: str
    doc: str
    operand: Operand
    """Where its values come from."""

    @property
    def type(self) -> ValueType:
        """The type of its values."""
        return self.operand.type


def name(text: str) -> FilterName | None:
    """The meaning of a name; None if there is no such name."""
    found = _own().get(text)
    if found is None and (alias := aliases().get(current(text))) is not None:
        found = _alias(text, alias)
    if found is None and (inside := field_inside(text)) is not None:
        found = FilterName(text, "A field in messages of ROS 2, as their definition names it.", inside)
    return found


def names() -> Iterator[FilterName]:
    """All names: columns, what frames hold, derived fields, fields of the wire, other tools' names."""
    own = _own()
    yield from own.values()
    yield from (_alias(text, alias) for text, alias in aliases().items() if text not in own)


def spellings() -> Iterable[str]:
    """All names as text."""
    return dict.fromkeys((*_own(), *aliases()))


@cache
def _own() -> dict[str, FilterName]:
    """All names but the aliases."""
    known = [*_columns(), *packet_names(FilterName), *ros_names(FilterName), *_derived(), *_fields()]
    return {one.name: one for one in reversed(known)}


def _columns() -> Iterator[FilterName]:
    for column in COLUMNS:
        yield FilterName(column.name, column.doc, column_operand(column))
    for short, list_, members in (
        ("finding", "findings", field_types.FINDING),
        ("ext", "extensions", field_types.EXTENSION),
    ):
        for member, kind in members.items():
            operand = ColumnValues(kind, (list_,), member=member, listed=True)
            yield FilterName(f"{short}.{member}", f"Of each of its {list_}: {member}.", operand)
    for name_, member in (("finding", "code"), ("severity", "severity")):
        operand = ColumnValues(field_types.FINDING[member], ("findings",), member=member, listed=True)
        yield FilterName(name_, f"Of each of its findings: {member}.", operand)


def column_operand(column: Column) -> ColumnValues:
    """The values of a column."""
    return ColumnValues(column_type(column), (column.name,), listed=column.type.startswith("list"))


_BY_NAME = {column.name: column for column in COLUMNS}


def _derived() -> Iterator[FilterName]:
    """Derived fields are columns, or known by looking ahead; durations without a unit are seconds, as in Wireshark."""
    for one in DERIVED:
        if one.column:
            yield FilterName(one.path, one.doc, _dotted(one.column))
        elif one.ahead:
            part = one.path.rpartition(".")[2]
            yield FilterName(one.path, one.doc, AheadValues(_AHEAD[part], part))
            yield FilterName(one.path.removeprefix("zenoh."), one.doc, AheadValues(_AHEAD[part], part))


_AHEAD = {
    "response_in": NUMBER,
    "final_in": NUMBER,
    "answered": BOOL,
    "answer_time": ValueType("duration", bare=SECOND),
}


def _dotted(column: str) -> ColumnValues:
    own = column_operand(_BY_NAME[column])
    kind = own.type
    if kind.kind == "duration":
        kind = ValueType("duration", unit=kind.unit, bare=SECOND, unsigned=kind.unsigned)
    return ColumnValues(kind, own.columns, listed=own.listed)


def _fields() -> Iterator[FilterName]:
    for path, field in fields().items():
        if field.kind == "derived":
            continue
        yield FilterName(path, field.doc, SpanValues(field_type(path), (path,), instead=same_column(path)))


def _alias(text: str, alias: Alias) -> FilterName:
    """What another tool's name means: a field in some messages, or a column of them."""
    base = _own()[alias.path]
    labels = frozenset(alias.when.split())
    doc = f"{base.doc} ({alias.path}{f' in {alias.when}' if alias.when else ''})"
    operand = base.operand
    if isinstance(operand, ColumnValues):
        return FilterName(text, doc, _within(operand, labels))
    if not isinstance(operand, SpanValues):
        return FilterName(text, doc, operand)
    same = operand.instead if not alias.also and not labels & {"FRAME"} else None
    kind = operand.type if all(field_type(path) == operand.type for path in alias.also) else NONE
    instead = _within(same, labels) if same is not None else None
    return FilterName(text, doc, SpanValues(kind, (alias.path, *alias.also), labels, instead))


def _within(operand: ColumnValues, labels: frozenset[str]) -> ColumnValues:
    """Columns of messages with some labels only."""
    guards = tuple(as_guard((label,)) for label in sorted(labels))
    stricter = {guard.columns for guard in guards if len(guard.columns) == 1}
    own = tuple(guard for guard in operand.guards if guard.columns not in stricter)
    return ColumnValues(operand.type, operand.columns, operand.member, operand.listed, own + guards)
