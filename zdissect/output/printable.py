"""JSON that every parser can read and that is safe on any terminal.

RFC 8259 allows only what UTF-8 can hold. Bytes of a text that weren't UTF-8 are spelled `\\xff` in its strings, as in
the tables; control characters, and what else can't be printed, are escaped as JSON has it.
"""

import json
import re
from typing import Any

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=bytes.hex).encode
_indented = json.JSONEncoder(ensure_ascii=False, indent=2, default=bytes.hex).encode
_UNUSUAL = re.compile(r"[^ -~\n]")


def dumps(value: Any, indented: bool = False) -> str:
    """A value as JSON in one line, or indented. Bytes are hex."""
    text = _indented(value) if indented else _compact(value)
    return text if text.isprintable() else _UNUSUAL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if char.isprintable():
        return char
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte (surrogateescape)
        return f"\\\\x{code - 0xDC00:02x}"
    if 0xD800 <= code <= 0xDFFF:
        return f"\\\\u{code:04x}"
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"
