"""The content of messages, requests and responses: CDR to values as JSON has them, by rosbags."""

import math
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from zdissect.ros2.interface_types import EMPTY
from zdissect.ros2.type_finder import FoundType, TypeFinder

FEW_ELEMENTS = 64
"""Octets of an array that are shown one by one; of a longer one, its length and the first of them."""

_SHOWN_OCTETS = 32
_UUID_BYTES = 16
_HEX = frozenset("0123456789abcdef")
_OCTETS = ("uint8", "byte", "char", "octet")
_BASE, _NAME, _ARRAY, _SEQUENCE = 1, 2, 3, 4
"""Kinds of fields in rosbags (`Nodetype`)."""

_FLOAT32 = struct.Struct("<f")

Convert = Callable[[Any], Any]


class Content(NamedTuple):
    """What a payload says."""

    value: dict[str, Any] | None
    """Fields by name: numbers, texts, lists, and the like inside. Octets of a long array are an object with `len` and
    `head`, numbers that JSON doesn't have are texts: `NaN`. None if it isn't known."""
    why: str = ""
    """Why it isn't known."""


class Contents:
    """Decodes payloads.

    Args:
        types: Which definitions there are.
    """

    def __init__(self, types: TypeFinder | None = None) -> None:
        self.types = types or TypeFinder()
        self.converters: dict[tuple[int, str], Convert] = {}

    def decode(self, payload: bytes | None, name: str, digest: str, part: str = "") -> Content:
        """What a payload says.

        Args:
            payload: CDR, with its header.
            name: The type in the key.
            digest: The type hash in the key.
            part: `_Request` or `_Response` of a service.
        """
        if payload is None:
            return Content(None, "the payload isn't in the capture")
        if not name:
            return Content(None, "the key doesn't tell its type")
        found = self.types.find(name, digest)
        if isinstance(found, str):
            return Content(None, found)
        return self.decoded(payload, found, name + part)

    def decoded(self, payload: bytes, found: FoundType, name: str) -> Content:
        """What a payload of a known type says."""
        from rosbags.serde import SerdeError

        store = found.store
        store.max_sequence_length = max(len(payload), 1)
        try:
            message = store.deserialize_cdr(payload, name)
            return Content(self.converter(store, name)(message))
        except (SerdeError, struct.error, ValueError, LookupError, TypeError, RecursionError, MemoryError) as problem:
            return Content(None, f"bad CDR: {' '.join(str(problem).split())}")

    def converter(self, store: Any, name: str) -> Convert:
        """What makes values of a decoded message of a type."""
        known = self.converters.get((id(store), name))
        if known is None:
            known = self.converters[id(store), name] = self._message(store, name)
        return known

    def _message(self, store: Any, name: str) -> Convert:
        from rosbags.typesys.base import normalize_fieldname

        fields = [
            (field, normalize_fieldname(field), self._field(store, desc))
            for field, desc in store.fielddefs[name][1]
            if field != EMPTY
        ]
        return lambda message: {field: convert(getattr(message, name)) for field, name, convert in fields}

    def _field(self, store: Any, desc: Any) -> Convert:
        """What makes the value of a field."""
        kind, rest = desc
        if kind == _BASE:
            return _SCALARS.get(rest[0], _same)
        if kind == _NAME:
            return self.converter(store, rest)
        inner_kind, inner = rest[0]
        if inner_kind == _BASE and inner[0] in _OCTETS:
            return _octets
        one = self._field(store, rest[0])
        if one is _same:
            return lambda values: values.tolist() if hasattr(values, "tolist") else list(values)
        return lambda values: [one(value) for value in values]


def _same(value: Any) -> Any:
    return value


def _double(value: float) -> float | str:
    """A number, or the word for what JSON has no number for."""
    number = float(value)
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _single(value: Any) -> float | str:
    """The shortest number that is this float32."""
    number = float(value)
    if not math.isfinite(number):
        return _double(number)
    packed = _FLOAT32.pack(number)
    near = (float(f"{number:.{digits}g}") for digits in (6, 7, 8))
    return next((one for one in near if _FLOAT32.pack(one) == packed), number)


def _octets(values: Any) -> Any:
    """Octets one by one if they are few, else their number and how they begin."""
    if len(values) <= FEW_ELEMENTS:
        return [int(value) for value in values]
    return {"len": len(values), "head": bytes(values[:_SHOWN_OCTETS]).hex()}


_SCALARS: dict[str, Convert] = {"float32": _single, "float64": _double, "bool": bool}


def summary(value: Any, most: int = 120) -> str:
    """A value in a line: `"Hello World: 0"`, `linear.x=0.2 angular.z=0.1`.

    Args:
        value: As `Content.value`.
        most: Characters after which it is cut.
    """
    if isinstance(value, dict) and len(value) == 1:
        return summary(next(iter(value.values())), most)
    text = " ".join(f"{name}={leaf_text(leaf)}" if name else leaf_text(leaf) for name, leaf in leaves(value))
    return text if len(text) <= most else text[: most - 1] + "…"


def leaves(value: Any, name: str = "") -> list[tuple[str, Any]]:
    """The values inside a value, with the names that lead to them: `header.frame_id`."""
    if isinstance(value, dict) and value.keys() != {"len", "head"}:
        return [leaf for key, inner in value.items() for leaf in leaves(inner, f"{name}.{key}" if name else key)]
    if name.endswith("uuid") and isinstance(value, list) and len(value) == _UUID_BYTES:
        return [(name.removesuffix("uuid").rstrip("."), bytes(value).hex())]
    return [(name, value)]


def leaf_text(value: Any) -> str:
    """A value without fields."""
    if isinstance(value, str):
        return value if len(value) == 2 * _UUID_BYTES and set(value) <= _HEX else f'"{value}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return f"<{value['len']} B>"
    if isinstance(value, list):
        few = ", ".join(summary(one, 40) if isinstance(one, dict) else leaf_text(one) for one in value[:8])
        return f"[{few}, … {len(value)}]" if len(value) > 8 else f"[{few}]"
    return format(value, "g") if isinstance(value, float) else str(value)
