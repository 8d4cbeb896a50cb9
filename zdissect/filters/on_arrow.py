"""Filters over batches of the message table: masks by Arrow's own functions, and by Python's over distinct values.

What only few filters ask (two lists that compare) is asked of the rows that a batch stands for.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from zdissect.filters.arrow_predicates import fulfils, mapped
from zdissect.filters.functions import sliced
from zdissect.filters.on_rows import RowCompiler, columns_of
from zdissect.filters.typed_tree import (
    AllOf,
    AnyOf,
    Called,
    ColumnValues,
    Guard,
    Inverse,
    Masked,
    Operand,
    Pair,
    Present,
    Sliced,
    Tree,
    ValueTest,
    sources,
)
from zdissect.filters.value_types import ValueType

_WIDE = pa.decimal128(38, 0)
_COMPARED = {
    "==": pc.equal, "!=": pc.not_equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal,
}  # fmt: skip


def mask(tree: Tree) -> Callable[[Any], Any]:
    """A function that says of each row of a RecordBatch, or of a Table, whether it is selected; never null."""

    def apply(data: Any) -> Any:
        if isinstance(data, pa.Table):
            return pa.chunked_array([_Batches(batch).test(tree) for batch in data.to_batches()], pa.bool_())
        return _Batches(data).test(tree)

    return apply


@dataclass(frozen=True, slots=True, eq=False)
class ArrowPart:
    """Values of an operand: one for each row, or those of lists with the row of each."""

    values: pa.Array
    rows: pa.Array | None = None


class _Batches:
    """Answers for one batch."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.batch = batch
        self.size = batch.num_rows

    def test(self, tree: Tree) -> pa.Array:
        match tree:
            case AllOf(parts):
                return reduce(pc.and_, map(self.test, parts))
            case AnyOf(parts):
                return reduce(pc.or_, map(self.test, parts))
            case Inverse(inner):
                return pc.invert(self.test(inner))
            case Present(operand):
                hits = [(part, pc.is_valid(part.values)) for part in self.parts(operand)]
                return self.guarded(operand, self.some(hits))
            case ValueTest(operand, predicate, every):
                binary, unsigned = operand.type.binary, operand.type.unsigned
                hits = [(part, fulfils(part.values, predicate, binary, unsigned)) for part in self.parts(operand)]
                return self.guarded(operand, self.every(hits) if every else self.some(hits))
            case Pair():
                return self.pair(tree)

    def some(self, hits: list[tuple[ArrowPart, pa.Array]]) -> pa.Array:
        """Where one of the values is a hit."""
        return reduce(pc.or_, (self.by_row(part, hit) for part, hit in hits))

    def every(self, hits: list[tuple[ArrowPart, pa.Array]]) -> pa.Array:
        """Where there are values, and all of them are hits."""
        valid = [(part, pc.is_valid(part.values)) for part, _ in hits]
        missed = [(part, pc.and_(there, pc.invert(hit))) for (part, there), (_, hit) in zip(valid, hits, strict=True)]
        return pc.and_(self.some(valid), pc.invert(self.some(missed)))

    def by_row(self, part: ArrowPart, hit: pa.Array) -> pa.Array:
        if part.rows is None:
            return hit
        return pc.is_in(pa.array(range(self.size), pa.int64()), value_set=part.rows.filter(hit))

    def guarded(self, operand: Operand, found: pa.Array) -> pa.Array:
        """What was found, where the guards of an operand's columns hold."""
        for known in map(columns_of, sources(operand)):
            for guard in known.guards:
                found = pc.and_(found, self.guard(guard))
        return found

    def guard(self, guard: Guard) -> pa.Array:
        columns = (self.batch.column(name) for name in guard.columns)
        return reduce(pc.or_, (fulfils(column, guard.predicate, False, False) for column in columns))

    # --- operands

    def parts(self, operand: Operand) -> list[ArrowPart]:
        match operand:
            case Called(_, "count", inner):
                return [ArrowPart(self.counted(self.parts(inner)))]
            case Called(_, function, inner):
                return [replace(part, values=_call(function, part.values, inner.type)) for part in self.parts(inner)]
            case Sliced(_, inner, pieces):
                cut = sliced(pieces)
                return [
                    replace(part, values=mapped(part.values, lambda one: cut(one) or None, part.values.type))
                    for part in self.parts(inner)
                ]  # fmt: skip
            case Masked(_, inner, mask):
                low = pa.scalar(mask, pa.int64())
                return [
                    replace(part, values=pc.bit_wise_and(part.values.cast(pa.int64()), low))
                    for part in self.parts(inner)
                ]  # fmt: skip
            case _:
                return list(self.columns(columns_of(operand)))

    def columns(self, known: ColumnValues) -> Iterator[ArrowPart]:
        for name in known.columns:
            column = self.batch.column(name)
            if pa.types.is_timestamp(column.type):
                column = column.cast(pa.int64())
            if not known.listed:
                yield ArrowPart(column)
                continue
            values = pc.list_flatten(column)
            rows = pc.list_parent_indices(column).cast(pa.int64())
            yield ArrowPart(pc.struct_field(values, known.member) if known.member else values, rows)

    def counted(self, parts: list[ArrowPart]) -> pa.Array:
        """How many values each row has; null where none."""
        numbers = [0] * self.size
        for part in parts:
            rows = part.rows if part.rows is not None else pa.array(range(self.size), pa.int64())
            for row in rows.filter(pc.is_valid(part.values)).to_pylist():
                numbers[row] += 1
        return pa.array([number or None for number in numbers], pa.int64())

    # --- two operands

    def pair(self, tree: Pair) -> pa.Array:
        lefts, rights = self.parts(tree.left), self.parts(tree.right)
        if tree.word not in _COMPARED or any(part.rows is not None for part in lefts + rights):
            return self.by_rows(tree)
        compare = _COMPARED[tree.word]
        hits = [
            ArrowPart(pc.fill_null(compare(one.values, other.values), False)) for one in lefts for other in rights
        ]  # fmt: skip
        if not tree.every:
            found = self.some([(part, part.values) for part in hits])
        elif len(hits) == 1:
            found = hits[0].values
        else:
            return self.by_rows(tree)
        return self.guarded(tree.right, self.guarded(tree.left, found))

    def by_rows(self, tree: Pair) -> pa.Array:
        """The answer of the rows that the batch stands for."""
        test = RowCompiler().test(tree)
        wide = {name for one in sources(tree) if (known := columns_of(one)).type.unsigned for name in known.columns}
        names = {name for one in sources(tree) for name in _all_columns(columns_of(one))}
        columns = {}
        for name in names:
            column = self.batch.column(name)
            if name in wide:
                column = column.cast(pa.int64()).view(pa.uint64())
            columns[name] = (column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column).to_pylist()
        rows = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
        return pa.array(map(test, rows), pa.bool_())


def _all_columns(known: ColumnValues) -> Iterator[str]:
    yield from known.columns
    for guard in known.guards:
        yield from guard.columns


def _call(function: str, values: pa.Array, kind: ValueType) -> pa.Array:
    """A function of each value."""
    if function == "len":
        return pc.binary_length(values).cast(pa.int64())
    if function in ("lower", "upper"):
        return pc.ascii_lower(values) if function == "lower" else pc.ascii_upper(values)
    if function == "number":
        return mapped(values, lambda digits: int(digits) if digits.isdecimal() else None, pa.int64())
    whole = values.view(pa.uint64()) if kind.unsigned else values
    if function == "string":
        return whole.cast(pa.string())
    assert function == "widened"
    return pc.multiply(whole.cast(pa.decimal128(20, 0)), pa.scalar(kind.unit, pa.decimal128(16, 0))).cast(_WIDE)
