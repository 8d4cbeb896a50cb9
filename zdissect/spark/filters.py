"""Filters that Spark pushes down: captures without wanted rows aren't read, unwanted rows aren't sent."""

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import datasource as ds

Test = Callable[[pa.Array, Any], pa.Array]

_TESTS: dict[type[ds.Filter], Test] = {
    ds.EqualTo: pc.equal,
    ds.GreaterThan: pc.greater,
    ds.GreaterThanOrEqual: pc.greater_equal,
    ds.LessThan: pc.less,
    ds.LessThanOrEqual: pc.less_equal,
    ds.In: lambda column, values: pc.is_in(column, pa.array(list(values), column.type)),
    ds.IsNull: lambda column, _: pc.is_null(column),
    ds.IsNotNull: lambda column, _: pc.is_valid(column),
    ds.StringStartsWith: pc.starts_with,
    ds.StringEndsWith: pc.ends_with,
    ds.StringContains: pc.match_substring,
}
"""The supported tests. They may err only by keeping rows: Spark tests all rows that are kept."""


class Conditions:
    """The conditions that rows must all fulfil; unsupported ones are left to Spark."""

    def __init__(self, filters: Iterable[ds.Filter] = ()) -> None:
        self.known: list[tuple[str, type[ds.Filter], Any]] = []
        for condition in filters:
            path: tuple[str, ...] = getattr(condition, "attribute", ())
            if type(condition) in _TESTS and len(path) == 1:
                self.known.append((path[0], type(condition), getattr(condition, "value", None)))

    def allow(self, file: str) -> bool:
        """Whether rows of a file may fulfil the conditions."""
        column = pa.array([file])
        return all(_test(kind, column, value).to_pylist() == [True] for name, kind, value in self.known
                   if name == "file")  # fmt: skip

    def keep(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that fulfil the conditions."""
        for name, kind, value in self.known:
            if name in batch.schema.names and batch.num_rows:
                batch = batch.filter(_test(kind, batch.column(name), value))
        return batch


def _test(kind: type[ds.Filter], column: pa.Array, value: Any) -> pa.Array:
    """The mask of the rows to keep; all rows if Arrow can't tell."""
    if isinstance(value, str) and not pa.types.is_string(column.type):
        return pa.repeat(True, len(column))
    try:
        if kind in (ds.StringStartsWith, ds.StringEndsWith, ds.StringContains):
            return _TESTS[kind](column, pattern=value)  # type: ignore[call-arg]
        return _TESTS[kind](column, value)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, TypeError):
        return pa.repeat(True, len(column))
