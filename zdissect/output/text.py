"""Bytes and texts of a capture as text that is safe to print: no control character, no escape reaches the terminal."""

import re
from collections.abc import Mapping
from typing import Any

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNUSUAL = re.compile(r"[^ -~]")


def safe(text: str) -> str:
    """The text with everything that isn't printable escaped, as in a Python or JSON string without its quotes."""
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return text if text.isprintable() else _UNUSUAL.sub(_printable, text)


def prose(text: str) -> str:
    """A line in which quotes and backslashes stay; everything else that isn't printable is escaped."""
    return text if text.isprintable() else "".join(c if c.isprintable() else safe(c) for c in text)


def quoted(text: str) -> str:
    """The text in quotes, escaped."""
    return f'"{safe(text)}"'


def _printable(match: re.Match[str]) -> str:
    char = match[0]
    if char.isprintable():
        return char
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that wasn't UTF-8 (surrogateescape)
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def count(number: int) -> str:
    """`1 byte`, `17 bytes`."""
    return "1 byte" if number == 1 else f"{number} bytes"


_TEXT_PREFIXES = ("text/", "zenoh/string", "application/json", "application/yaml", "application/xml", "application/sql",
                  "application/yang", "application/soap+xml", "application/openmetrics-text", "application/jwt",
                  "application/x-www-form-urlencoded")  # fmt: skip


_NO_PRINT = re.compile(rb"[\0-\x1f\x7f\xc0\xc1\xf5-\xff]")
"""Bytes that no printable text has in UTF-8."""
_CUT = 3
"""Most bytes of a character of which the last one is missing."""


def payload(data: bytes, encoding: str, limit: int) -> str:
    """A payload for people: its length, and as much as `limit` bytes of it as text or hex, by its encoding."""
    if not data:
        return "0 bytes"
    rest = f" ... (the first {limit} bytes)" if len(data) > limit else ""
    return f"{count(len(data))}  {payload_text(data, encoding, limit)}{rest}"


def payload_text(data: bytes, encoding: str, limit: int) -> str:
    """As much as `limit` bytes of a payload, as text or hex.

    Text is shown as text where the encoding says so, or where it says nothing and all of it is printable.
    """
    shown = data[:limit]
    as_text = readable(shown, encoding, cut=len(data) > limit)
    return shown.hex(" ") if as_text is None else quoted(as_text)


def readable(data: bytes, encoding: str, cut: bool = False) -> str | None:
    """A payload as text, if its encoding says that it is, or says nothing and all of it is printable; else None."""
    if encoding and encoding.startswith(_TEXT_PREFIXES):
        return _text(data, cut)
    if not data.isascii() and _NO_PRINT.search(data, 0, len(data) - _CUT if cut else len(data)):  # most binary data
        return None
    text = _text(data, cut)
    return text if text is not None and text.isprintable() else None


def payload_lines(data: bytes, encoding: str, limit: int) -> list[str]:
    """A payload in lines: text where it is one, else a dump; of at most `limit` bytes, unless that is 0."""
    shown = data[:limit] if limit else data
    text = readable(shown, encoding, cut=len(shown) < len(data))
    lines = hexdump(shown).splitlines() if text is None else [prose(line.rstrip("\r")) for line in text.split("\n")]
    if text is not None and lines and not lines[-1]:
        lines.pop()
    return lines + ([f"... {count(len(data) - len(shown))} more"] if len(shown) < len(data) else [])


def opaque(data: bytes, limit: int) -> str:
    """Bytes that aren't for people: their length, and as much as `limit` bytes of them as hex."""
    rest = f" ... (the first {limit} bytes)" if len(data) > limit else ""
    return f"{count(len(data))}  {data[:limit].hex(' ')}{rest}".rstrip()


def _text(data: bytes, cut: bool) -> str | None:
    """The bytes as UTF-8; None if they aren't. A character that was cut at the end is left out."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode() if cut and len(data) - error.start <= _CUT else None


def unresolved(row: Mapping[str, Any]) -> str:
    """A wire expression whose scope isn't known: `?9/q`, where `?9` stands for the declared id."""
    scope, suffix = row.get("key_scope"), row.get("key_suffix") or ""
    return safe(f"?{scope}{suffix}" if scope else suffix)


def hexdump(data: bytes, indent: str = "") -> str:
    """A dump of offset, hex and printable ASCII, 16 bytes a line."""
    lines = []
    for start in range(0, len(data), 16):
        row = data[start : start + 16]
        ascii_text = "".join(map(printable_byte, row))
        lines.append(f"{indent}{start:04x}  {row[:8].hex(' '):<23}  {row[8:].hex(' '):<23}  {ascii_text}")
    return "\n".join(lines)


def printable_byte(byte: int) -> str:
    """A byte as ASCII, if it is printable."""
    return chr(byte) if 32 <= byte < 127 else "."
