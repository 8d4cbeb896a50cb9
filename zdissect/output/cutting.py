"""Coloured text that fits into a line of a terminal."""

import re
import unicodedata

ELLIPSIS = "…"
_RESET = "\x1b[0m"
"""What ends a colour."""
_ESCAPE = re.compile(r"(\x1b\[[0-9;]*m)")


def cells(text: str) -> int:
    """How many columns of a terminal a text takes: wide characters take two, combining ones and colours none."""
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def _cells_of(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut(text: str, columns: int) -> str:
    """A text, which may be coloured, with an ellipsis for what doesn't fit; empty if there isn't even room for that."""
    pieces = _ESCAPE.split(text)  # text and escapes take turns
    sizes = list(map(cells, pieces[::2]))
    if sum(sizes) <= columns:
        return text
    out = []
    left = columns - 1
    for place, size in enumerate(sizes):
        after = pieces[2 * place + 1 : 2 * place + 2]
        if size <= left:
            out += [pieces[2 * place], *after]
            left -= size
            continue
        if left >= 0:
            out += [_head(pieces[2 * place], left), ELLIPSIS, *(after if after == [_RESET] else ())]
        break
    return "".join(out) if columns > 0 else ""


def _head(text: str, columns: int) -> str:
    """As much of a text as fits."""
    if text.isascii():
        return text[:columns]
    out = []
    for char in text:
        columns -= _cells_of(char)
        if columns < 0:
            break
        out.append(char)
    return "".join(out)
