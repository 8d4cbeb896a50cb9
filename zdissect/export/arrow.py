"""Rows to Arrow, column by column.

Rows are dicts with the columns that have a value. They become lists of values a few hundred at a time, while they are
still in the processor's cache: a whole batch at once takes three times as long. Lists of structs are flattened into one
list per field, so that no objects are made besides the values themselves.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from zdissect.export.schema import schema

Row = dict[str, Any]

CHUNK = 256
"""Rows that are turned into lists at a time."""

_U64 = (1 << 64) - 1
_FIRST_US, _LAST_US = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The years 1 to 9999, which readers of these tables can show."""


class Batches:
    """Gathers the rows of a table until there are enough for a batch."""

    def __init__(self, table: str, limit: int = 8192) -> None:
        self.schema = schema(table)
        self.limit = limit
        self.total = 0
        """Rows of all batches so far, including the next one."""
        self._rows: list[Row] = []
        self._columns: dict[str, list[Any]] = {}
        self._size = 0

    def add(self, rows: Sequence[Row]) -> bool:
        """Takes rows; returns whether it is time for a batch. Rows are not kept."""
        self._rows += rows
        self.total += len(rows)
        if len(self._rows) >= CHUNK:
            self._turn()
        return self._size + len(self._rows) >= self.limit

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
        out = self.batch(self._columns, self._size)
        self._columns = {}
        self._size = 0
        return out

    def batch(self, columns: dict[str, list[Any]], size: int) -> pa.RecordBatch:
        """A batch of rows."""
        return record_batch(self.schema, columns, size)


def record_batch(kinds: pa.Schema, columns: dict[str, list[Any]], size: int) -> pa.RecordBatch:
    """A batch of `size` rows; columns that aren't given are null.

    A time that doesn't fit its column, or is outside the years 1 to 9999, is null; 64-bit numbers keep their bits,
    larger ones (a lease in seconds may be larger) have all bits set; in text that isn't UTF-8, invalid bytes are
    escaped.
    """
    arrays = [
        array(columns[name], kind, is_time(name)) if name in columns else nulls(size, kind)
        for name, kind in zip(kinds.names, kinds.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=kinds)


def nulls(size: int, kind: pa.DataType) -> pa.Array:
    """A column of nulls. All such columns of a type share one array, as many tables have dozens of them."""
    return _nulls(1 << size.bit_length(), kind).slice(0, size)


@lru_cache(maxsize=64)
def _nulls(size: int, kind: pa.DataType) -> pa.Array:
    return pa.nulls(size, kind)


def is_time(name: str) -> bool:
    """Whether a column holds nanoseconds: one that doesn't fit would be a wrong time, not merely a negative number."""
    return name.endswith("_ns")


def array(values: list[Any], kind: pa.DataType, time: bool = False) -> pa.Array:
    """A column of values; `time` if they are nanoseconds (see `record_batch`)."""
    if pa.types.is_list(kind):
        return _lists(values, kind)
    try:
        out = pa.array(values, kind)
    except (OverflowError, pa.ArrowInvalid, UnicodeEncodeError):
        out = pa.array([_fit(value, kind, time) for value in values], kind)
    return shown(out) if pa.types.is_timestamp(kind) else out


def _lists(values: list[Any], kind: pa.DataType) -> pa.Array:
    """A column of lists, those of structs by their fields."""
    full = [value or () for value in values]
    offsets = pa.array(list(accumulate(map(len, full), initial=0)), pa.int32())
    flat = [item for value in full for item in value]
    inner = kind.value_type
    if not pa.types.is_struct(inner):
        items = array(flat, inner)
    elif flat:
        fields = list(inner)
        columns = zip(*map(itemgetter(*[field.name for field in fields]), flat), strict=True)
        arrays = [array(list(column), field.type) for column, field in zip(columns, fields, strict=True)]
        items = pa.StructArray.from_arrays(arrays, fields=fields)
    else:
        items = pa.nulls(0, inner)
    absent = pa.array([value is None for value in values], pa.bool_())
    return pa.ListArray.from_arrays(offsets, items, type=kind, mask=absent)


def _fit(value: Any, kind: pa.DataType, time: bool) -> Any:
    """The value, made to fit its column."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(value, int) and not isinstance(value, bool):
        half = 1 << kind.bit_width - 1
        if -half <= value < half:
            return value
        unsigned = pa.types.is_int64(kind) and value > 0 and not time
        return min(value, _U64) - (1 << 64) if unsigned else None
    return value


def shown(times: pa.Array) -> pa.Array:
    """Times, with null for those that readers can't show."""
    numbers = times.cast(pa.int64())
    ends = pc.min_max(numbers).as_py()
    if ends["min"] is None or (ends["min"] >= _FIRST_US and ends["max"] <= _LAST_US):
        return times
    good = pc.and_(pc.greater_equal(numbers, _FIRST_US), pc.less_equal(numbers, _LAST_US))
    return pc.if_else(good, times, pa.scalar(None, times.type))


def timestamps(ntp64: pa.Array) -> pa.Array:
    """The column `timestamp_ntp64` as timestamps, as `columns.timestamp_us` computes them."""
    bits = ntp64.view(pa.uint64())
    billion, thousand, half = (pa.scalar(number, pa.uint64()) for number in (10**9, 1000, 32))
    seconds = pc.shift_right(bits, half)
    fraction = pc.shift_right(pc.multiply(pc.bit_wise_and(bits, pa.scalar((1 << 32) - 1, pa.uint64())), billion), half)
    micros = pc.add(pc.multiply(seconds, pa.scalar(10**6, pa.uint64())), pc.divide(fraction, thousand))
    return shown(micros.cast(pa.int64()).cast(pa.timestamp("us", "UTC")))
