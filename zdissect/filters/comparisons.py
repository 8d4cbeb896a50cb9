"""From an operator and the text of a value to a predicate, by the type of what is compared."""

from fractions import Fraction
from math import ceil, floor
from typing import Any

from zdissect.filters import literals
from zdissect.filters.filter_error import Fault
from zdissect.filters.patterns import check_pattern
from zdissect.filters.predicates import (
    NEVER,
    AddressRange,
    Among,
    Between,
    Either,
    Holds,
    Matches,
    Predicate,
    Relates,
    Unless,
)
from zdissect.filters.ros_names import real
from zdissect.filters.syntax_tree import Value
from zdissect.filters.value_types import ClosedSet, ValueType
from zdissect.session.keyexprs import KeyExprError, canonical

MOST_NUMBERS = 256
"""Numbers of a closed set with which one may compare by order."""


def about(kind: ValueType, word: str, value: Value) -> Predicate:
    """What `word value` asks of values of a type.

    Raises:
        Fault: There is no such value.
    """
    if word == "matches":
        return Matches(check_pattern(literals.text_of(value)))
    if word == "contains":
        return Holds(literals.octets(value) if kind.binary else literals.text_of(value))
    if word in ("intersects", "includes", "within"):
        return Relates(word, _key(value))
    if word == "==":
        return _equal(kind, value)
    if word == "!=":
        return Unless(_equal(kind, value))
    return _ordered(kind, word, value)


def member(kind: ValueType, low: Value, high: Value | None) -> Predicate:
    """What a value, or a range of values, of a set asks."""
    if high is None:
        return _equal(kind, low)
    if kind.kind in ("bool", "zid") or (kind.names is not None and not kind.names.ordered):
        raise Fault(f"{kind.words} has no order, and no ranges")
    if kind.kind == "ip":
        first, last = literals.network(low)[0], literals.network(high)[1]
        if len(first) != len(last):
            raise Fault("the ends of a range are addresses of the same version")
        return AddressRange(first, last)
    if kind.kind == "label":
        return _labels(kind, ">=", low, "<=", high)
    first, last = _bound(kind, low), _bound(kind, high)
    if kind.numeric:
        return Between(ceil(first), floor(last))
    return Between(first, last)


def either(parts: list[Predicate]) -> Predicate:
    """What one of several asks: single values become one set."""
    values = frozenset(one for part in parts if isinstance(part, Among) for one in part.values)
    others = tuple(part for part in parts if not isinstance(part, Among))
    found = (Among(values), *others) if values or not others else others
    return found[0] if len(found) == 1 else Either(found)


def _key(value: Value) -> str:
    try:
        return canonical(literals.text_of(value))
    except KeyExprError as problem:
        raise Fault(f"this is no key expression: {problem}") from None


def _equal(kind: ValueType, value: Value) -> Predicate:
    if kind.kind == "ip":
        first, last = literals.network(value)
        return Among(frozenset([literals.address_text(first)])) if first == last else AddressRange(first, last)
    if kind.kind == "label":
        return Among(frozenset(_label(kind, value)))
    found = _bound(kind, value)
    if isinstance(found, Fraction):
        return Among(frozenset([int(found)])) if found.denominator == 1 else NEVER
    if kind.begins and not found.startswith(kind.begins):
        raise Fault(f"{found!r} never is: all begin with {kind.begins}", f'did you mean "{kind.begins}{found}"?')
    return Among(frozenset([found]))


def _label(kind: ValueType, value: Value) -> set[str]:
    """The labels that a word, or a number, stands for."""
    assert kind.names is not None
    word = literals.text_of(value)
    label = kind.names.label(word)
    if label is not None:
        return {label}
    if not word.isdecimal() or not kind.names.ordered:
        raise kind.names.unknown(word)
    return kind.names.labels_of(literals.bounded(int(word), word))


def _bound(kind: ValueType, value: Value) -> Any:
    """A value of a type."""
    match kind.kind:
        case "number":
            return literals.number(value, kind)
        case "duration":
            return literals.duration(value, kind)
        case "time":
            return literals.moment(value, kind)
        case "bool":
            return literals.boolean(value)
        case "bytes":
            return literals.octets(value)
        case "mac":
            return literals.station(value)
        case "zid":
            return literals.zid(value)
        case "real":
            return real(literals.text_of(value))
        case _:
            return literals.text_of(value)


def _ordered(kind: ValueType, word: str, value: Value) -> Predicate:
    if kind.kind == "ip":
        first, last = literals.network(value)
        size = 8 * len(first)
        low, high = int.from_bytes(first), int.from_bytes(last)
        ends = {"<": (0, low - 1), "<=": (0, high), ">": (high + 1, (1 << size) - 1), ">=": (low, (1 << size) - 1)}
        low, high = ends[word]
        return NEVER if low > high else AddressRange(low.to_bytes(len(first)), high.to_bytes(len(first)))
    if kind.kind == "label":
        return _labels(kind, word, value)
    bound = _bound(kind, value)
    if kind.numeric:
        # whole numbers are compared, so a fraction is as good as the whole number beside it
        whole = {"<": ceil(bound), "<=": floor(bound), ">": floor(bound), ">=": ceil(bound)}[word]
        return Between(high=whole - (word == "<")) if word[0] == "<" else Between(low=whole + (word == ">"))
    if word[0] == "<":
        return Between(high=bound, below=word == "<")
    return Between(low=bound, above=word == ">")


def _labels(kind: ValueType, word: str, value: Value, until: str = "", last: Value | None = None) -> Predicate:
    """The labels that come before or after one, or between two: a list of them, or of those that don't."""
    names = kind.names
    assert names is not None
    low, high = 0, None
    for order, one in ((word, value), (until, last)):
        if one is None:
            continue
        number = _rank(names, one)
        if order[0] == "<":
            high = number if order == "<=" else number - 1
        else:
            low = number if order == ">=" else number + 1
    before = _all_labels(names, 0, low - 1)
    if high is None:
        return Unless(Among(before))
    return Among(_all_labels(names, 0, high) - before)


def _rank(names: ClosedSet, value: Value) -> int:
    word = literals.text_of(value)
    label = names.label(word)
    if label is not None:
        rank = names.numbers[label]
        assert rank is not None
        return rank
    if not word.isdecimal() or int(word) >= MOST_NUMBERS:
        raise names.unknown(word)
    return int(word)


def _all_labels(names: ClosedSet, first: int, last: int) -> frozenset[str]:
    """The labels of these numbers; numbers that no label has are as the table spells them."""
    return frozenset(label for number in range(first, last + 1) for label in names.labels_of(number))
