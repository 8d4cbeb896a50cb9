"""Values of columns, as tables hold them: a row may hold numbers and text that no column can."""

from collections.abc import Callable, Iterable
from typing import Any

from zdissect.filters.typed_tree import ColumnValues
from zdissect.filters.value_types import ValueType

Change = Callable[[Any], Any]

U64 = (1 << 64) - 1
_I64 = 1 << 63
_FIRST_US, _LAST_US = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The years 1 to 9999, microseconds since 1970."""


def conversion(kind: ValueType, column: str) -> Change | None:
    """How a value of a row becomes what the table holds; None if it is that already."""
    if kind.kind in ("text", "key"):
        return as_text
    if column.endswith("_ns"):
        return _signed
    if kind.kind == "time":
        return _shown
    return _widest if column == "lease_ms" else None


def as_text(text: str) -> str:
    """Text whose bytes may be no UTF-8: these are escaped with backslashes."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _signed(value: int) -> int | None:
    return value if -_I64 <= value < _I64 else None


def _shown(value: int) -> int | None:
    return value if _FIRST_US <= value <= _LAST_US else None


def _widest(value: int) -> int:
    return min(value, U64)


def reader(known: ColumnValues) -> Callable[[dict[str, Any]], Iterable[Any]]:
    """A function that gives the values of columns."""
    if known.member:
        return _members(known)
    change = conversion(known.type, known.columns[0])
    if known.listed:
        (column,) = known.columns
        return lambda row: row.get(column) or () if change is None else map(change, row.get(column) or ())
    columns = known.columns
    if change is None:
        return lambda row: [value for column in columns if (value := row.get(column)) is not None]
    convert = change

    def changed(row: dict[str, Any]) -> list[Any]:
        found = [convert(value) for column in columns if (value := row.get(column)) is not None]
        return [value for value in found if value is not None]

    return changed


def _members(known: ColumnValues) -> Callable[[dict[str, Any]], Iterable[Any]]:
    """The values of a member of structs in a list."""
    (column,), member = known.columns, known.member
    change = conversion(known.type, member)
    if change is None:
        return lambda row: [value for one in row.get(column) or () if (value := one[member]) is not None]
    convert = change
    return lambda row: [convert(value) for one in row.get(column) or () if (value := one[member]) is not None]
