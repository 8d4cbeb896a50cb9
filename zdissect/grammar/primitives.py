"""Values as text for people: named renderings of the primitives (notes 1). Pure functions of a value."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from zdissect.grammar.enums import ENCODING

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ENDLESS_MS = (1 << 64) - 1
"""A time in milliseconds that stands for ever: the largest possible timeout or lease."""


@lru_cache(maxsize=4096)  # few ids and encodings come again and again
def zid_text(wire: bytes) -> str:
    """A ZenohID as Zenoh's logs write it: the hex of the little-endian integer, without leading zeros (notes 1.3)."""
    return f"{int.from_bytes(wire, 'little'):x}"


def ntp64_ns(value: int) -> int:
    """NTP64 (32 bits of seconds since 1970, 32 bits of fraction) to nanoseconds since 1970 UTC (notes 1.4)."""
    return (value >> 32) * 1_000_000_000 + ((value & 0xFFFFFFFF) * 1_000_000_000 >> 32)


def utc_text(ns: int) -> str:
    """Nanoseconds since 1970 as RFC 3339 in UTC, with all nine digits."""
    return f"{_second_text(ns // 1_000_000_000)}.{ns % 1_000_000_000:09d}Z"


@lru_cache(maxsize=64)  # times come in order, nearly
def _second_text(second: int) -> str:
    return f"{_EPOCH + timedelta(seconds=second):%Y-%m-%dT%H:%M:%S}"


def encoding_text(encoding_id: int, schema: str | None) -> str:
    """An encoding as the API prints it: the name, then the schema after a semicolon (notes 1.5)."""
    if encoding_id == 65535:
        return schema or ""
    name = ENCODING.names.get(encoding_id, f"unknown({encoding_id})")
    return f"{name};{schema}" if schema else name


def congestion_text(dont_drop: int, block_first: int) -> str:
    """Congestion control from the bits D and F of the network QoS (notes 2.3)."""
    return "Block" if dont_drop else "BlockFirst" if block_first else "Drop"


def _endless(value: int) -> str:
    return ", without end" if value >= ENDLESS_MS else ""


def encoding_value(value: int) -> str:
    """The encoding field: bit 0 says that a schema follows, the rest is the id."""
    name = encoding_text(value >> 1, None) or "(custom)"
    return f"{name}, {'schema follows' if value & 1 else 'no schema'}"


RENDERINGS: dict[str, Callable[..., str]] = {
    "zid": zid_text,
    "ntp64": lambda value: utc_text(ntp64_ns(value)),
    "seconds": lambda value: f"{value} s{_endless(value)}",
    "milliseconds": lambda value: f"{value} ms{_endless(value)}",
    "encoding": encoding_value,
    "bytes": lambda value: "1 byte" if value == 1 else f"{value} bytes",
    "hex": lambda value: f"0x{value:02x}",
}
"""Renderings by name. `payload` and `opaque` aren't here: how bytes are shown is the output's business."""
