"""Reads binaries as Erlang and Elixir write them: `<<61,0,3,"k/a",16#01>>`."""

import re

from .literal import unescaped
from .pasted import PastedText, Piece

_BINARY = re.compile(r"<<(?=\s*[0-9\"?])([^<>\"]*(?:\"(?:[^\"\\]|\\.)*\"[^<>\"]*)*)>>")
_ITEM = re.compile(
    r"\s*(?:\"((?:[^\"\\]|\\.)*)\"|16#([0-9a-fA-F]+)|0x([0-9a-fA-F]+)|([0-9]+))(?::8)?\s*(?:,|$)", re.ASCII
)
_LARGEST = 255


def read_binaries(pasted: PastedText) -> list[Piece] | None:
    """Every binary in the text, or None if it holds none."""
    pieces = [
        Piece(_read(pasted, match), "Erlang binary", pasted.where(*match.span()))
        for match in _BINARY.finditer(pasted.text)
        if match[1].strip()
    ]
    return [piece for piece in pieces if piece.data] or None


def _read(pasted: PastedText, binary: re.Match[str]) -> bytes:
    """The bytes of one binary."""
    text, at, out = binary[1].rstrip(), 0, bytearray()
    while at < len(text):
        item = _ITEM.match(text, at)
        if item is None:
            start = at + len(text[at:]) - len(text[at:].lstrip())
            raise pasted.error(
                binary.start(1) + start, 'this isn\'t a byte or a text; a binary holds 61, 16#3d or "k/a"'
            )
        if item[1] is not None:
            out += unescaped(pasted, binary.start(1) + item.start(1), binary.start(1) + item.end(1))
        else:
            hexadecimal = item[2] or item[3]
            digits = (hexadecimal or item[4]).lstrip("0") or "0"
            value = int(digits, 16 if hexadecimal else 10) if len(digits) < 5 else _LARGEST + 1
            if value > _LARGEST:
                raise pasted.error(binary.start(1) + item.start() + 1, "this isn't a byte; the largest is 255 (16#ff)")
            out.append(value)
        at = item.end()
    return bytes(out)
