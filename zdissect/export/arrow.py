"""Rows to Arrow, column by column.

Rows are dicts with the columns that have a value. They become lists of values a few hundred at a time, while they are
still in the processor's cache: of a whole batch that takes three times as long. Lists of structs are flattened into
one list per field, so no object is made but the values themselves.
"""

from collections.abc import Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from zdissect.export.schema import schema

Row = dict[str, Any]

CHUNK = 256
"""Rows that are turned at a time."""

_FIRST_US, _LAST_US = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The years 1 to 9999: what the readers of these tables can show."""


class Batches:
    """Gathers the rows of a table until they make a batch: so many rows, or so many bytes of messages."""

    def __init__(self, table: str, limit: int = 8192, most: int = 32 << 20) -> None:
        self.schema = schema(table)
        self.limit = limit
        self.most = most
        self.total = 0
        """Rows of all batches so far, and of the one to come."""
        self._rows: list[Row] = []
        self._shared: list[Row] = []
        self._runs: list[int] = []
        self._columns: dict[str, list[Any]] = {}
        self._size = self._bytes = 0

    def add(self, rows: Sequence[Row], size: int = 0, shared: Row | None = None) -> bool:
        """Takes rows, which hold about so many bytes; returns whether it is time for a batch. Rows are not kept.

        `shared` are the columns that all these rows have in common: all rows of a batch come with it, or none.
        """
        self._rows += rows
        if shared is not None:
            self._shared.append(shared)
            self._runs.append(len(rows))
        self._bytes += size
        self.total += len(rows)
        if len(self._rows) >= CHUNK:
            self._turn()
        return self._size >= self.limit or self._bytes >= self.most

    def _turn(self) -> None:
        """Moves the rows to the columns."""
        rows, columns = self._rows, self._columns
        present = set().union(*rows)
        for name in present - columns.keys():
            columns[name] = [None] * self._size
        blank = dict.fromkeys(columns)
        for column, values in zip(columns.values(), zip(*[(blank | row).values() for row in rows], strict=True),
                                  strict=True):  # fmt: skip
            column.extend(values)
        self._size += len(rows)
        rows.clear()

    def take(self) -> pa.RecordBatch | None:
        """The batch; None if there are no rows."""
        if self._rows:
            self._turn()
        if not self._size:
            return None
        shared = {name: [row[name] for row in self._shared] for name in self._shared[0]} if self._shared else {}
        out = record_batch(self.schema, self._columns, self._size, shared, self._runs)
        self._columns = {}
        self._shared, self._runs = [], []
        self._size = self._bytes = 0
        return out


def record_batch(
    kinds: pa.Schema, columns: dict[str, list[Any]], size: int, shared: dict[str, list[Any]], runs: list[int]
) -> pa.RecordBatch:
    """A batch of so many rows; columns that aren't given are null. Values of `shared` are for runs of rows each.

    A number that doesn't fit its column, or a time outside the years 1 to 9999, is null; text that isn't UTF-8 has the
    bytes at fault escaped.
    """
    places = pa.array([place for place, run in enumerate(runs) for _ in range(run)], pa.int32())
    arrays = []
    for name, kind in zip(kinds.names, kinds.types, strict=True):
        if name in shared:
            arrays.append(_array(shared[name], kind).take(places))
        elif name in columns:
            arrays.append(_array(columns[name], kind))
        else:
            arrays.append(pa.nulls(size, kind))
    return pa.RecordBatch.from_arrays(arrays, schema=kinds)


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """A column of values."""
    if pa.types.is_list(kind):
        return _lists(values, kind)
    try:
        array = pa.array(values, kind)
    except (OverflowError, pa.ArrowInvalid, UnicodeEncodeError):
        array = pa.array([_fit(value, kind) for value in values], kind)
    return _shown(array) if pa.types.is_timestamp(kind) else array


def _lists(values: list[Any], kind: pa.DataType) -> pa.Array:
    """A column of lists, those of structs by their fields."""
    full = [value or () for value in values]
    offsets = pa.array(list(accumulate(map(len, full), initial=0)), pa.int32())
    flat = [one for value in full for one in value]
    inner = kind.value_type
    if not pa.types.is_struct(inner):
        items = _array(flat, inner)
    elif flat:
        fields = list(inner)
        columns = zip(*map(itemgetter(*[field.name for field in fields]), flat), strict=True)
        arrays = [_array(list(column), field.type) for column, field in zip(columns, fields, strict=True)]
        items = pa.StructArray.from_arrays(arrays, fields=fields)
    else:
        items = pa.nulls(0, inner)
    absent = pa.array([value is None for value in values], pa.bool_())
    return pa.ListArray.from_arrays(offsets, items, type=kind, mask=absent)


def _fit(value: Any, kind: pa.DataType) -> Any:
    """The value as its column can hold it."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(value, int) and not isinstance(value, bool):
        half = 1 << kind.bit_width - 1
        return value if -half <= value < half else None
    return value


def _shown(array: pa.Array) -> pa.Array:
    """Times without those that nobody can show."""
    numbers = array.cast(pa.int64())
    ends = pc.min_max(numbers).as_py()
    if ends["min"] is None or (ends["min"] >= _FIRST_US and ends["max"] <= _LAST_US):
        return array
    good = pc.and_(pc.greater_equal(numbers, _FIRST_US), pc.less_equal(numbers, _LAST_US))
    return pc.if_else(good, array, pa.scalar(None, array.type))
