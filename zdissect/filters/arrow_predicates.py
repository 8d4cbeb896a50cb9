"""Predicates over columns of Arrow."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from zdissect.filters.checkers import checker
from zdissect.filters.predicates import Among, Between, Either, Holds, Matches, Nonzero, Predicate, Unless

_BITS = 64


def fulfils(values: pa.Array, predicate: Predicate, binary: bool, unsigned: bool) -> pa.Array:
    """Which values fulfil a predicate: never null. `unsigned`: they are bits of numbers without a sign."""
    if unsigned and pa.types.is_int64(values.type):
        values = values.view(pa.uint64())
    match predicate:
        case Among(wanted):
            fitting = pa.array([one for one in wanted if _fits(one, values.type)], values.type)
            return pc.and_(pc.is_valid(values), pc.is_in(values, value_set=fitting))
        case Between():
            return _between(values, predicate)
        case Holds(part):
            return pc.fill_null(pc.match_substring(values, pattern=part), False)
        case Matches(pattern) if not binary:
            return pc.fill_null(pc.match_substring_regex(values, pattern=pattern, ignore_case=True), False)
        case Nonzero():
            return pc.fill_null(pc.not_equal(values, pa.scalar(0, values.type)), False)
        case Either(parts):
            return reduce(pc.or_, (fulfils(values, part, binary, unsigned) for part in parts))
        case Unless(inner):
            return pc.and_(pc.is_valid(values), pc.invert(fulfils(values, inner, binary, unsigned)))
    return pc.fill_null(mapped(values, checker(predicate, binary), pa.bool_()), False)


def mapped(values: pa.Array, function: Callable[[Any], Any], kind: pa.DataType) -> pa.Array:
    """A function of each value, called once for each distinct one; null stays null."""
    encoded = values.dictionary_encode()
    found = pa.array([function(one) for one in encoded.dictionary.to_pylist()], kind)
    return found.take(encoded.indices)


def _ends(kind: pa.DataType) -> tuple[int, int]:
    """The smallest and the largest number of a type."""
    if kind == pa.uint64():
        return 0, (1 << _BITS) - 1
    half = 1 << kind.bit_width - 1
    return -half, half - 1


def _fits(value: Any, kind: pa.DataType) -> bool:
    if not pa.types.is_integer(kind):
        return True
    low, high = _ends(kind)
    return bool(low <= value <= high)


def _between(values: pa.Array, predicate: Between) -> pa.Array:
    low, high = predicate.low, predicate.high
    if pa.types.is_integer(values.type):
        least, most = _ends(values.type)
        if (low is not None and low > most) or (high is not None and high < least):
            return pa.repeat(False, len(values))
        low = low if low is None or low > least else None
        high = high if high is None or high < most else None
    found = pc.is_valid(values)
    if low is not None:
        compare = pc.greater if predicate.above else pc.greater_equal
        found = pc.and_(found, pc.fill_null(compare(values, pa.scalar(low, values.type)), False))
    if high is not None:
        compare = pc.less if predicate.below else pc.less_equal
        found = pc.and_(found, pc.fill_null(compare(values, pa.scalar(high, values.type)), False))
    return found
