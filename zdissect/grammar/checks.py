"""Named checks of single values. Each returns (code of a rule, text) or None."""

from collections.abc import Callable
from typing import Any

VERSION = 0x09
VERSIONS = (8, VERSION)
"""Protocol versions whose messages have today's layout."""
_RELEASES = {8: "Zenoh 0.10 or 0.11", 7: "Zenoh 0.7", 6: "Zenoh 0.6"}

Verdict = tuple[str, str] | None


def version(value: int) -> Verdict:
    """Notes 9, rule 9: another protocol version than 0x09."""
    if value == VERSION:
        return None
    return "version", f"protocol version 0x{value:02x} ({_RELEASES.get(value, 'unknown release')}), not 0x09"


def zid(value: bytes) -> Verdict:
    """Notes 9, rules 7 and 8: a ZenohID has 1 to 16 bytes and isn't zero."""
    if not 1 <= len(value) <= 16:
        return "zid-length", f"a ZenohID of {len(value)} bytes"
    return None if any(value) else ("zero-zid", "the ZenohID is zero")


def region_name(value: str) -> Verdict:
    """Notes 9, rule 8: 1 to 32 bytes."""
    size = len(value.encode(errors="surrogateescape"))  # what wasn't UTF-8 is kept as surrogates
    return None if 1 <= size <= 32 else ("text-length", f"a region name of {size} bytes, not 1 to 32")


def budget(value: int) -> Verdict:
    """Notes 9, rule 39: a budget isn't 0."""
    return None if value else ("zero-budget", "a budget of 0")


def expr_id(value: int) -> Verdict:
    """Notes 9, rule 42: the id 0 isn't declared."""
    return None if value else ("zero-expr-id", "key expression declared with id 0")


def stamp_points(value: int) -> Verdict:
    """A timestamp stack has a configuration that isn't 0 (notes 2.3)."""
    return None if value else ("zero-stamp", "the configuration names no place to stamp")


def data_length(value: int) -> Verdict:
    """The length after a shared-memory pointer isn't 0 (notes 2.3)."""
    return None if value else ("invalid-value", "a shared-memory pointer to no data")


def suffix(text: str) -> Verdict:
    """A wire expression in an extension has a suffix if it says so (notes 2.3)."""
    return None if text else ("invalid-value", "a suffix of no bytes")


def locator(text: str) -> Verdict:
    """A locator is in canonical form (notes 1.7)."""
    if "#" in text:
        return "locator", "a locator with a #: only endpoints have a part after it"
    address, question, metadata = text.partition("?")
    protocol, slash, rest = text.partition("/")
    if not slash or len(protocol) > len(address):
        return "locator", "a locator without a / between protocol and address"
    if not protocol:
        return "locator", "a locator without a protocol"
    if not rest:
        return "locator", "a locator without an address"
    if not question:
        return None
    pairs = [part.partition("=") for part in metadata.split(";")]
    if not all(key and (value or not equals) for key, equals, value in pairs):
        return "locator", "the metadata of a locator isn't key=value;key=value"
    keys = [key for key, _, _ in pairs]
    return None if keys == sorted(keys) else ("locator", "the metadata of a locator isn't in the order of its keys")


CHECKS: dict[str, Callable[[Any], Verdict]] = {
    "version": version,
    "zid": zid,
    "region_name": region_name,
    "budget": budget,
    "expr_id": expr_id,
    "stamp_points": stamp_points,
    "data_length": data_length,
    "locator": locator,
    "suffix": suffix,
}
