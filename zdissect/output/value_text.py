"""Values as text for programs that read lines: one text for each, which a filter takes for the same value."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

from zdissect.filters import FilterName
from zdissect.filters.typed_tree import Operand, SpanValues
from zdissect.filters.value_types import SECOND, ValueType
from zdissect.grammar.registry import fields
from zdissect.output.jsonl import time_text
from zdissect.output.printable import dumps
from zdissect.output.text import prose
from zdissect.output.time_formats import formatter

ValueText = Callable[[Any], str]


def _octets(data: bytes) -> str:
    return data.hex()


def _base64(data: bytes) -> str:
    return b64encode(data).decode()


def _as_text(data: bytes) -> str:
    return prose(data.decode("utf-8", "surrogateescape"))


PAYLOADS: dict[str, Callable[[bytes], str]] = {"hex": _octets, "text": _as_text, "base64": _base64}
"""How payloads may be written."""


def value_text(name: FilterName, payload: str) -> ValueText:
    """How the values of a name are written.

    Numbers are decimal, booleans 1 and 0, bytes hex, addresses and ZenohIDs as they are usually spelt. Times are RFC
    3339 in UTC, or seconds since 1970 where the name says `epoch`; durations are in the unit that a number without one
    has in a filter. What has no value of its own is 1.

    Args:
        payload: A key of `PAYLOADS`, for payloads.
    """
    kind = name.type
    if kind.kind == "none":
        return _present
    if kind.binary:
        return (lambda data: data.hex(":")) if kind.kind == "mac" else PAYLOADS[payload if is_payload(name) else "hex"]
    if kind.kind == "bool":
        return lambda value: "1" if value else "0"
    if kind.kind == "time" and (kind.unit, kind.bare) != (1, 1):
        return _time(kind, name.name)
    if kind.kind in ("time", "duration"):
        return _in_unit(kind)
    return prose if kind.textual else str


def is_payload(name: FilterName) -> bool:
    """Whether a name's values are payloads, of which only applications know what they are."""
    operand: Operand = name.operand
    if isinstance(operand, SpanValues):
        return all(fields()[path].render == "payload" for path in operand.paths)
    return name.name == "payload"


def _present(value: Any) -> str:
    return dumps(value) if isinstance(value, dict) else "1"


def _time(kind: ValueType, name: str) -> ValueText:
    unit = kind.unit
    if name.endswith("epoch"):
        return lambda value: decimal(value * unit, SECOND)
    if unit > 1:
        return lambda value: time_text(value) or ""
    moment = formatter("ud")
    return lambda value: f"{moment(value).replace(' ', 'T')}Z"


def _in_unit(kind: ValueType) -> ValueText:
    unit, bare = kind.unit, kind.bare
    return str if unit == bare else lambda value: decimal(value * unit, bare)


def decimal(value: int, unit: int) -> str:
    """A number of nanoseconds in a unit, with all its digits: those after the point only of seconds, or if needed."""
    whole, rest = divmod(abs(value), unit)
    digits = f".{rest:0{len(str(unit)) - 1}d}" if rest or unit == SECOND else ""
    return f"{'-' if value < 0 else ''}{whole}{digits}"
