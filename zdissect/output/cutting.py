"""Coloured text that fits into a line of a terminal."""

import unicodedata
from collections.abc import Iterable, Sequence

Part = tuple[str, str]
"""A colour (may be empty) and a text."""

ELLIPSIS = "…"


def cells(text: str) -> int:
    """How many columns of a terminal a text takes: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(map(_cells_of, text))


def _cells_of(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def coloured(parts: Iterable[Part], end: str) -> str:
    """The parts, each in its colour; `end` is what ends a colour, empty without."""
    if not end:
        return "".join([text for _, text in parts])
    return "".join([f"{colour}{text}{end}" if colour else text for colour, text in parts])


def cut(parts: Sequence[Part], columns: int) -> list[Part]:
    """The parts, cut with an ellipsis if they take more columns; nothing if there isn't even room for that."""
    out = []
    left = columns
    for index, (colour, text) in enumerate(parts):
        size = cells(text)
        if size < left or (size == left and index == len(parts) - 1):
            out.append((colour, text))
            left -= size
            continue
        if left > 0:
            out.append((colour, _head(text, left - 1) + ELLIPSIS))
        break
    return out


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
