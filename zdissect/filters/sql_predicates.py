"""Predicates as SQL. Bytes are compared as their hex, as both dialects and all files can; numbers of 64 bits without a
sign as the signed ones that columns hold."""

from typing import Any

from zdissect.filters.filter_error import FilterError
from zdissect.filters.predicates import (
    AddressRange,
    Among,
    Begins,
    Between,
    Either,
    Holds,
    Matches,
    Nonzero,
    Predicate,
    Relates,
    Unless,
)
from zdissect.filters.sql_text import Dialect
from zdissect.filters.value_types import ValueType

HALF = 1 << 63
NEVER_TRUE = "FALSE"


def ask(dialect: Dialect, value: str, kind: ValueType, predicate: Predicate, listed: bool) -> str:
    """The condition that a value (a term in SQL) fulfils a predicate; `listed`: it is `x`, an element of a list."""
    match predicate:
        case Among(values):
            return _among(dialect, value, kind, values)
        case Unless(Among(values)) if values:
            return _among(dialect, value, kind, values, negated=True)
        case Between():
            return _between(dialect, value, kind, predicate)
        case Nonzero():
            return f"{value} <> 0"
        case Either(parts):
            return any_of([ask(dialect, value, kind, part, listed) for part in parts])
        case Unless(inner):
            return f"({value} IS NOT NULL AND NOT ({ask(dialect, value, kind, inner, listed)}))"
        case Begins(text):
            return f"{dialect.starts}({value}, {dialect.text(text)})"
        case Holds(part):
            return _holds(dialect, value, part)
        case Matches(pattern) if dialect.name == "duckdb" and not kind.binary:
            return f"regexp_matches({value}, {dialect.text(pattern)}, 'i')"
    if listed:
        raise FilterError("", 0, f"a condition in SQL of {dialect.name} can't ask this of the elements of a list")
    return _called(dialect, value, kind, predicate)


def _called(dialect: Dialect, value: str, kind: ValueType, predicate: Predicate) -> str:
    """The predicates that take a function of ours."""
    text = dialect.text
    match predicate:
        case Matches(pattern):
            return f"zdissect_matches{'_bytes' if kind.binary else ''}({value}, {text(pattern)})"
        case AddressRange(low, high):
            return f"zdissect_address_between({value}, {text(low.hex())}, {text(high.hex())})"
        case Relates("intersects", key):
            return f"zdissect_intersects({value}, {text(key)})"
        case Relates("includes", key):
            return f"zdissect_includes({value}, {text(key)})"
        case Relates(_, key):
            return f"zdissect_includes({text(key)}, {value})"
    raise TypeError(f"no SQL for {predicate}")


def any_of(parts: list[str]) -> str:
    """Conditions of which one holds."""
    return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"


def all_of(parts: list[str]) -> str:
    """Conditions that all hold."""
    return parts[0] if len(parts) == 1 else f"({' AND '.join(parts)})"


def literal(dialect: Dialect, value: Any, kind: ValueType) -> str | None:
    """A value as SQL; None for a number that the column can't hold."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, bytes):
        return dialect.text(value.hex().upper())
    if isinstance(value, str):
        return dialect.text(value)
    if kind.unsigned:
        return str(value - 2 * HALF if value >= HALF else value) if 0 <= value < 2 * HALF else None
    return str(value) if -HALF < value < HALF else None


def _among(dialect: Dialect, value: str, kind: ValueType, values: frozenset[Any], negated: bool = False) -> str:
    found = [text for one in sorted(values) if (text := literal(dialect, one, kind)) is not None]
    if not found:
        return f"{value} IS NOT NULL" if negated else NEVER_TRUE
    if len(found) == 1:
        return f"{value} {'<>' if negated else '='} {found[0]}"
    return f"{value} {'NOT IN' if negated else 'IN'} ({', '.join(found)})"


def _between(dialect: Dialect, value: str, kind: ValueType, predicate: Between) -> str:
    low, high = predicate.low, predicate.high
    if kind.numeric and kind.unsigned:
        return _unsigned(value, 0 if low is None else low, 2 * HALF - 1 if high is None else high)
    if kind.numeric:
        return _signed(value, -HALF if low is None else low, HALF - 1 if high is None else high)
    parts = []
    if low is not None:
        parts.append(f"{value} {'>' if predicate.above else '>='} {literal(dialect, low, kind)}")
    if high is not None:
        parts.append(f"{value} {'<' if predicate.below else '<='} {literal(dialect, high, kind)}")
    return all_of(parts)


def _signed(value: str, low: int, high: int) -> str:
    if low > high or low >= HALF or high < -HALF:
        return NEVER_TRUE
    parts = [f"{value} >= {low}"] if low > -HALF else []
    parts += [f"{value} <= {high}"] if high < HALF - 1 else []
    return all_of(parts) if parts else f"{value} IS NOT NULL"


def _unsigned(value: str, low: int, high: int) -> str:
    """A range of numbers without a sign, of which the upper half is negative in the column."""
    low, high = max(low, 0), min(high, 2 * HALF - 1)
    if low > high:
        return NEVER_TRUE
    if not low and high == 2 * HALF - 1:
        return f"{value} IS NOT NULL"
    out = []
    if low < HALF:
        lower = [f"{value} >= {low}"]
        lower += [f"{value} <= {high}"] if high < HALF - 1 else []
        out.append(all_of(lower))
    if high >= HALF:
        upper = [f"{value} >= {low - 2 * HALF}"] if low > HALF else []
        upper += [f"{value} <= {high - 2 * HALF}"] if high < 2 * HALF - 1 else []
        out.append(all_of([*upper, f"{value} < 0"]))
    return any_of(out)


def _holds(dialect: Dialect, value: str, part: Any) -> str:
    if isinstance(part, str):
        return f"contains({value}, {dialect.text(part)})"
    digits = part.hex().upper()
    if dialect.name == "duckdb":  # where it begins at a whole byte
        return f"regexp_matches({value}, '^(..)*{digits}')"
    return f"contains(unhex({value}), X'{digits}')"
