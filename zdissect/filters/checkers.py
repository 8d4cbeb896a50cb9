"""Predicates as functions of one value: equality, ranges, `contains`, `matches`, `intersects` and all others."""

import socket
from collections.abc import Callable
from typing import Any

from zdissect.filters.patterns import searcher
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
from zdissect.session.keyexprs import includes, intersects

Check = Callable[[Any], bool]

MOST_REMEMBERED = 4096
"""Values whose answers are remembered: keys and addresses come again and again."""


def checker(predicate: Predicate, binary: bool) -> Check:
    """A function that says whether a value fulfils a predicate; `binary`: the values are bytes."""
    match predicate:
        case Among(values):
            return values.__contains__
        case Between():
            return _between(predicate)
        case AddressRange(low, high):
            return remembering(lambda text: len(packed := _packed(text)) == len(low) and low <= packed <= high)
        case Holds(part):
            return lambda value: part in value
        case Begins(text):
            return lambda value: value.startswith(text)
        case Matches(pattern):
            return searcher(pattern, binary)
        case Relates(word, key):
            return remembering(_relation(word, key))
        case Nonzero():
            return bool
        case Either(parts):
            checks = [checker(part, binary) for part in parts]
            return lambda value: any(check(value) for check in checks)
        case Unless(inner):
            check = checker(inner, binary)
            return lambda value: not check(value)


def _between(predicate: Between) -> Check:
    low, high, above, below = predicate.low, predicate.high, predicate.above, predicate.below

    def check(value: Any) -> bool:
        if low is not None and (value < low or (above and value == low)):
            return False
        return high is None or not (value > high or (below and value == high))

    return check


def _packed(text: str) -> bytes:
    try:
        return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)
    except OSError:
        return b""


def _relation(word: str, key: str) -> Check:
    if word == "intersects":
        return lambda value: intersects(key, value)
    if word == "includes":
        return lambda value: includes(value, key)
    return lambda value: includes(key, value)


def remembering(check: Check) -> Check:
    """The same, asked once for each of the last values."""
    known: dict[Any, bool] = {}

    def ask(value: Any) -> bool:
        found = known.get(value)
        if found is None:
            if len(known) >= MOST_REMEMBERED:
                known.clear()
            found = known[value] = check(value)
        return found

    return ask
