"""The functions of filters, of one value each. Letters are those of ASCII, lengths are bytes, as in Wireshark."""

import string
from collections.abc import Callable
from typing import Any

from zdissect.filters.value_types import ValueType

LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)

Function = Callable[[Any], Any]


def _len(kind: ValueType) -> Function:
    return len if kind.binary else lambda text: len(text.encode(errors="surrogatepass"))


def _string(kind: ValueType) -> Function:
    return (lambda value: "true" if value else "false") if kind.kind == "bool" else str


def _widened(kind: ValueType) -> Function:
    unit = kind.unit
    return (lambda value: value) if unit == 1 else lambda value: value * unit


FUNCTIONS: dict[str, Callable[[ValueType], Function]] = {
    "len": _len,
    "lower": lambda kind: lambda text: text.translate(LOWER),
    "upper": lambda kind: lambda text: text.translate(UPPER),
    "string": _string,
    "number": lambda kind: int,
    "widened": _widened,
}
"""By name: makes the function for values of a type."""


def sliced(pieces: tuple[tuple[int, int | None], ...]) -> Function:
    """A function that gives pieces of text or bytes, put together."""
    cuts = [slice(first, stop) for first, stop in pieces]
    if len(cuts) == 1:
        (cut,) = cuts
        return lambda value: value[cut]

    def several(value: Any) -> Any:
        out = value[cuts[0]]
        for cut in cuts[1:]:
            out += value[cut]
        return out

    return several
