"""Values that are written in a filter, by the type that is expected. Numbers with a unit are exact fractions."""

import re
import socket
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from ipaddress import ip_address, ip_network

from zdissect.filters.filter_error import Fault
from zdissect.filters.syntax_tree import Value
from zdissect.filters.value_types import MICROSECOND, MILLISECOND, SECOND, ValueType

_V4 = 4
WIDEST = 64
"""Bits of the largest number."""
UNITS = {
    "ns": 1, "us": MICROSECOND, "µs": MICROSECOND, "μs": MICROSECOND, "ms": MILLISECOND, "s": SECOND,
    "min": 60 * SECOND, "h": 3600 * SECOND, "d": 86400 * SECOND,
}  # fmt: skip
"""Units of durations, in nanoseconds."""

_INTEGER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|[0-9]+)")
_DECIMAL = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(\D*)")
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?"
    r"\s*(Z|UTC|[+-]\d\d:?\d\d)?",
    re.IGNORECASE,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+|[0-9a-fA-F]{1,2}(?:[:.-][0-9a-fA-F]{1,2})+")


def number(value: Value, kind: ValueType) -> int:
    """A whole number, a name of one, or a character."""
    if value.form == "character":
        return _character(value)
    if kind.names is not None and (label := kind.names.label(text_of(value))) is not None:
        found = kind.names.numbers[label]
        assert found is not None
        return found
    text = text_of(value)
    if not _INTEGER.fullmatch(text):
        if kind.names is not None:
            raise kind.names.unknown(text)
        raise Fault(f"{text!r} is no whole number (12, 0x0c, 0b1100)")
    return bounded(int(text, 0) if re.match(r"[+-]?0[xXbBoO]", text) else int(text), text)


def bounded(found: int, text: str) -> int:
    """A number that fits into 64 bits."""
    if abs(found) >> WIDEST:
        raise Fault(f"{text} has more than {WIDEST} bits")
    return found


def _character(value: Value) -> int:
    try:
        return ord(value.data.decode())
    except (TypeError, UnicodeDecodeError):
        if len(value.data) == 1:
            return value.data[0]
        raise Fault("one character stands between ' and '; text is written in double quotes") from None


def text_of(value: Value) -> str:
    """The text of a value, which must be UTF-8."""
    try:
        return value.data.decode()
    except UnicodeDecodeError:
        raise Fault("these bytes aren't text in UTF-8") from None


def boolean(value: Value) -> bool:
    """True or false, 1 or 0."""
    word = text_of(value).lower()
    if word not in ("true", "false", "1", "0"):
        raise Fault(f"{word!r} is neither true nor false")
    return word in ("true", "1")


def octets(value: Value) -> bytes:
    """Bytes: hex with or without separators, or quoted text."""
    if value.form != "word":
        return value.data
    if not _HEX.fullmatch(value.text):
        raise Fault(f"{value.text!r} isn't hex, which bytes are written in (00:01:ff, 0001ff)", "text has quotes")
    if re.search("[:.-]", value.text):
        return bytes(int(part, 16) for part in re.split("[:.-]", value.text))
    return bytes.fromhex(value.text)


def station(value: Value) -> bytes:
    """A MAC address, or a part of one."""
    given = value if value.form == "word" else Value(text_of(value), "word", value.data, value.column)
    return octets(given)


def zid(value: Value) -> str:
    """A ZenohID as logs write it; also in wire order, with colons or after `wire:`."""
    word = text_of(value).lower()
    wire = word.removeprefix("wire:")
    if ":" in word:
        if not _HEX.fullmatch(wire):
            raise Fault(f"{word!r} isn't a ZenohID in wire order (wire:0a1b, 0a:1b)")
        data = bytes(int(part, 16) for part in wire.split(":")) if ":" in wire else bytes.fromhex(wire)
        return f"{int.from_bytes(data, 'little'):x}"
    if not re.fullmatch("[0-9a-f]{1,32}", word):
        raise Fault(f"{word!r} isn't a ZenohID: up to 32 hex digits, as logs write it, or in wire order with colons")
    return word.lstrip("0") or "0"


def duration(value: Value, kind: ValueType) -> Fraction:
    """A duration, in units of its column."""
    word = text_of(value)
    if _INTEGER.fullmatch(word):
        return _fits(Fraction(number(value, kind) * kind.bare, kind.unit), word)
    found = _DECIMAL.fullmatch(word)
    if found is None:
        raise Fault(f"{word!r} is no duration (10ms, 1.5s, 2min)")
    digits, unit = found.groups()
    if unit and unit not in UNITS:
        raise Fault(f"{unit!r} is no unit of time: {', '.join(UNITS)}")
    return _fits(Fraction(digits) * UNITS.get(unit, kind.bare) / kind.unit, word)


def moment(value: Value, kind: ValueType) -> Fraction:
    """A time, in units of its column since 1970."""
    word = text_of(value)
    if _DECIMAL.fullmatch(word) and not re.search(r"\D$", word):
        return _fits(Fraction(word) * kind.bare / kind.unit, word)
    found = _TIME.fullmatch(word)
    if found is None:
        raise Fault(f"{word!r} is no time (2026-01-31T12:00:00Z, or seconds since 1970)")
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        at = datetime(*(int(part or 0) for part in (year, month, day, hour, minute, second)), tzinfo=UTC)  # type: ignore[misc, arg-type]
        at -= _offset(zone)
    except (ValueError, OverflowError) as problem:
        raise Fault(f"{word!r} is no time: {problem}") from None
    seconds = (at - _EPOCH) // timedelta(seconds=1)
    return Fraction(seconds * SECOND + int((fraction or "0").ljust(9, "0")), kind.unit)


def _fits(found: Fraction, word: str) -> Fraction:
    bounded(int(found), word)
    return found


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone.upper() in ("Z", "UTC"):
        return timedelta()
    sign = -1 if zone[0] == "-" else 1
    return sign * timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))


def network(value: Value) -> tuple[bytes, bytes]:
    """The first and the last address of a network; of an address both are that."""
    word = text_of(value)
    try:
        if "/" in word:
            net = ip_network(word, strict=False)
            return net.network_address.packed, net.broadcast_address.packed
        packed = ip_address(word).packed
    except ValueError:
        raise Fault(f"{word!r} is no address or network (10.0.0.1, 10.0.0.0/8, fe80::1)") from None
    return packed, packed


def address_text(packed: bytes) -> str:
    """An address as the message table spells it."""
    return socket.inet_ntop(socket.AF_INET if len(packed) == _V4 else socket.AF_INET6, packed)
