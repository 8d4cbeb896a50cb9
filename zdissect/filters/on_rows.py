"""Filters over rows: closures that take a row (a dict of columns) and say whether it is selected.

How one value is compared with what stands in the filter is in `checkers`; here are names compared with names.

What is asked most, one column and one value, is one closure; all else is built of general parts.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from zdissect.filters.checkers import checker
from zdissect.filters.column_values import as_text, conversion, reader
from zdissect.filters.functions import FUNCTIONS, sliced
from zdissect.filters.predicates import Among, Between
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
    Source,
    SpanValues,
    Tree,
    ValueTest,
    sources,
)
from zdissect.session.keyexprs import includes, intersects

Row = dict[str, Any]
RowTest = Callable[[Row], bool]
Values = Callable[[Row], Iterable[Any]]

RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge, "contains": lambda one, other: other in one,
    "intersects": intersects, "includes": includes, "within": lambda one, other: includes(other, one),
}  # fmt: skip
"""What compares two values."""


class RowCompiler:
    """Makes closures of trees. Where values come from that no column has, subclasses know."""

    def test(self, tree: Tree) -> RowTest:
        """The closure of a tree."""
        match tree:
            case AllOf(parts):
                return _all([self.test(part) for part in self.ordered(parts)])
            case AnyOf(parts):
                return _any([self.test(part) for part in self.ordered(parts)])
            case Inverse(inner):
                test = self.test(inner)
                return lambda row: not test(row)
            case Present(operand):
                return self.present(operand)
            case ValueTest():
                return self.value_test(tree)
            case Pair():
                return self.pair(tree)

    def ordered(self, parts: tuple[Tree, ...]) -> Sequence[Tree]:
        """The order in which parts are asked: any gives the same."""
        return parts

    def present(self, operand: Operand) -> RowTest:
        known = self.plain(operand)
        if known is not None and len(known.columns) == 1 and not known.listed:
            (column,) = known.columns
            if conversion(known.type, column) in (None, as_text):
                return self.guarded(lambda row: row.get(column) is not None, known.guards)
        values = self.values(operand)
        return lambda row: next(iter(values(row)), None) is not None

    def plain(self, operand: Operand) -> ColumnValues | None:
        """The columns of an operand that is nothing but columns."""
        if isinstance(operand, SpanValues):
            return self.instead(operand)
        return operand if isinstance(operand, ColumnValues) else None

    def instead(self, operand: SpanValues) -> ColumnValues | None:
        """The columns to take for a field of the wire."""
        return operand.instead

    def value_test(self, tree: ValueTest) -> RowTest:
        known = self.plain(tree.operand)
        if known is not None and not known.listed and (len(known.columns) == 1 or not tree.every):
            return self.guarded(_any([_direct(known, column, tree) for column in known.columns]), known.guards)
        values, check = self.values(tree.operand), checker(tree.predicate, tree.operand.type.binary)
        if not tree.every:
            return lambda row: any(map(check, values(row)))

        def every(row: Row) -> bool:
            found = list(values(row))
            return bool(found) and all(map(check, found))

        return every

    def pair(self, tree: Pair) -> RowTest:
        left, right, holds = self.values(tree.left), self.values(tree.right), RELATIONS[tree.word]
        some = all if tree.every else any

        def test(row: Row) -> bool:
            ones, others = list(left(row)), list(right(row))
            return bool(ones and others) and some(holds(one, other) for one in ones for other in others)

        return test

    def values(self, operand: Operand) -> Values:
        """A function that gives the values of an operand."""
        match operand:
            case Sliced(_, inner, pieces):
                values = self.values(inner)
                cut = sliced(pieces)
                return lambda row: [part for one in values(row) if (part := cut(one))]
            case Called(_, "count", inner):
                values = self.values(inner)
                return lambda row: [found] if (found := sum(1 for _ in values(row))) else ()
            case Called(_, function, inner):
                values = self.values(inner)
                make = FUNCTIONS[function](inner.type)
                return lambda row: map(make, values(row))
            case Masked(_, inner, mask):
                values = self.values(inner)
                return lambda row: [one & mask for one in values(row)]
            case _:
                return self.source(operand)

    def source(self, operand: Source) -> Values:
        """A function that gives the values of a name."""
        known = self.plain(operand)
        if known is None:
            raise TypeError(f"rows don't hold {operand}")
        values = reader(known)
        if not known.guards:
            return values
        guard = self.guarded(lambda row: True, known.guards)
        return lambda row: values(row) if guard(row) else ()

    def guarded(self, test: RowTest, guards: tuple[Guard, ...]) -> RowTest:
        """A test that holds only where the guards do."""
        return _all([*map(_guard, guards), test])


def columns_read(tree: Tree | Operand) -> frozenset[str]:
    """The columns that a tree or an operand reads, as far as columns hold what it asks for."""
    out: set[str] = set()
    for one in sources(tree):
        known = one.instead if isinstance(one, SpanValues) else one
        if isinstance(known, ColumnValues):
            out.update(known.columns, *(guard.columns for guard in known.guards))
    return frozenset(out)


def columns_of(operand: Operand) -> ColumnValues:
    """The columns of a name that has some."""
    known = operand.instead if isinstance(operand, SpanValues) else operand
    if not isinstance(known, ColumnValues):
        raise TypeError(f"rows don't hold {operand}")
    return known


def _guard(guard: Guard) -> RowTest:
    check = checker(guard.predicate, binary=False)

    def of(column: str) -> RowTest:
        return lambda row: (value := row.get(column)) is not None and check(value)

    return _any(list(map(of, guard.columns)))


def _all(tests: list[RowTest]) -> RowTest:
    if len(tests) == 1:
        return tests[0]
    if len(tests) == 2:
        first, second = tests
        return lambda row: first(row) and second(row)
    return lambda row: all(test(row) for test in tests)


def _any(tests: list[RowTest]) -> RowTest:
    if len(tests) == 1:
        return tests[0]
    if len(tests) == 2:
        first, second = tests
        return lambda row: first(row) or second(row)
    return lambda row: any(test(row) for test in tests)


def _direct(known: ColumnValues, column: str, tree: ValueTest) -> RowTest:
    """The closure for one column."""
    predicate = tree.predicate
    convert = conversion(known.type, column)
    if convert is as_text and isinstance(predicate, Among) and not any("\\" in value for value in predicate.values):
        convert = None  # only text with backslashes in it can be spelt otherwise in a table
    if convert is None:
        match predicate:
            case Among(values) if len(values) == 1:
                (wanted,) = values
                return lambda row: row.get(column) == wanted
            case Among(values):
                return lambda row: row.get(column) in values
            case Between(low, None, False):
                return lambda row: (value := row.get(column)) is not None and value >= low
            case Between(None, high, _, False):
                return lambda row: (value := row.get(column)) is not None and value <= high
    check = checker(predicate, known.type.binary)
    if convert is None:
        return lambda row: (value := row.get(column)) is not None and check(value)
    change = convert
    return lambda row: (value := row.get(column)) is not None and (known := change(value)) is not None and check(known)
