"""Filters as expressions of pyarrow's datasets, which read fewer files and row groups by them."""

from functools import reduce
from operator import and_, or_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads

from zdissect.filters.on_rows import columns_of
from zdissect.filters.predicates import Among, Between, Either, Predicate, Unless
from zdissect.filters.typed_tree import (
    AllOf,
    AnyOf,
    ColumnValues,
    Guard,
    Inverse,
    Present,
    SpanValues,
    Tree,
    ValueTest,
)

_LARGEST = (1 << 63) - 1


class _Beyond(Exception):
    """It can't be expressed."""


def expression(tree: Tree) -> pads.Expression | None:
    """The expression of a filter; None if some part of it has none. It is never null."""
    try:
        return _test(tree)
    except _Beyond:
        return None


def _test(tree: Tree) -> pads.Expression:
    match tree:
        case AllOf(parts):
            return reduce(and_, map(_test, parts))
        case AnyOf(parts):
            return reduce(or_, map(_test, parts))
        case Inverse(inner):
            return ~_test(inner)
        case Present(ColumnValues() | SpanValues() as operand):
            known = columns_of(operand)
            there = reduce(or_, (pc.field(name).is_valid() for name in known.columns))
            return _guarded(known, there) if not known.listed else _beyond()
        case ValueTest(ColumnValues() | SpanValues() as operand, predicate, every):
            known = columns_of(operand)
            if known.listed or known.type.kind == "time" or (every and len(known.columns) > 1):
                return _beyond()
            fields = (pc.field(name) for name in known.columns)
            return _guarded(known, reduce(or_, (_ask(field, predicate, known.type.unsigned) for field in fields)))
    return _beyond()


def _beyond() -> pads.Expression:
    raise _Beyond


def _guarded(known: ColumnValues, found: pads.Expression) -> pads.Expression:
    return reduce(and_, map(_guard, known.guards), found)


def _guard(guard: Guard) -> pads.Expression:
    return reduce(or_, (_ask(pc.field(name), guard.predicate, False) for name in guard.columns))


def _ask(field: pads.Expression, predicate: Predicate, unsigned: bool) -> pads.Expression:
    match predicate:
        case Among(values) if values and all(map(_plain, values)):
            return field.is_valid() & field.isin(pa.array(sorted(values)))
        case Between(low, high, above, below) if not unsigned and _plain(low) and _plain(high):
            found = field.is_valid()
            if low is not None:
                found &= field > low if above else field >= low
            if high is not None:
                found &= field < high if below else field <= high
            return found
        case Either(parts):
            return reduce(or_, (_ask(field, part, unsigned) for part in parts))
        case Unless(inner):
            return field.is_valid() & ~_ask(field, inner, unsigned)
    return _beyond()


def _plain(value: Any) -> bool:
    return not isinstance(value, int) or abs(value) <= _LARGEST
