"""Escapes in quoted text."""

import re

from zdissect.filters.filter_error import Fault

_SIMPLE = {
    "n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\\": "\\", '"': '"', "'": "'",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3]?[0-7]{1,2})|(.))", re.DOTALL)


def unescaped(text: str) -> bytes:
    """The bytes of quoted text: UTF-8, but for bytes that are given by number (`\\xff`, `\\377`).

    Raises:
        Fault: There is no such escape.
    """
    out = bytearray()
    done = 0
    for found in _ESCAPE.finditer(text):
        out += text[done : found.start()].encode(errors="surrogatepass")
        done = found.end()
        byte, short, long, octal, char = found.groups()
        if byte or octal:
            out.append(int(byte, 16) if byte else int(octal, 8))
        elif short or long:
            out += _character(short or long)
        elif char in _SIMPLE:
            out += _SIMPLE[char].encode()
        else:
            raise Fault(f"there is no escape \\{char}", 'raw text r"..." has no escapes')
    return bytes(out + text[done:].encode(errors="surrogatepass"))


def _character(digits: str) -> bytes:
    try:
        return chr(int(digits, 16)).encode()
    except (ValueError, OverflowError):
        raise Fault(f"there is no character U+{digits}") from None
