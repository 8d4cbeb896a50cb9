"""Reads arrays: lists of numbers in brackets as C, Rust, Python, Java, JavaScript and Go write and print them."""

import re
from typing import NamedTuple

from .pasted import PastedText, Piece

_GROUP = re.compile(r"[\[{]([^\[\]{}]*)[\]}]")
_TUPLE = re.compile(r"\(([^()]*)\)")
_CAST = re.compile(r"\((?:unsigned )?(?:byte|char|u?int8_t|u_char|std::byte)\)")
_LINE_COMMENT = re.compile(r"(?:(?<![:/\S])|(?<=,))(?://|#(?=\s)).*")
_NUMBER = re.compile(r"(-?)(0[xX]|0b(?=[01]{3}))?([0-9a-fA-F]+)([hH]?)(?:_?[ui]8|[uU])?", re.ASCII)
_DECIMAL = re.compile(r"[0-9]{1,3}", re.ASCII)
_SIGNED = re.compile(r"-?[0-9]{1,3}", re.ASCII)
_BARE_HEX = re.compile(r"[0-9a-fA-F]{1,2}", re.ASCII)
_DECLARED = re.compile(r"=\s*$")


class Item(NamedTuple):
    """One item of an array: its text without white space and where that begins."""

    text: str
    start: int


def read_arrays(pasted: PastedText) -> list[Piece] | None:
    """Every array in the text, or None if it holds none."""
    text = _without_comments(pasted.text)
    whole = text.strip()
    pieces = []
    for pattern in (_GROUP, _TUPLE):
        for group in pattern.finditer(text):
            items = _items(text, group, whole)
            if items:
                pieces.append(_read(pasted, items, group.start(), group.end()))
        if pieces:
            break
    return pieces or None


def _without_comments(text: str) -> str:
    """The text with comments and casts blanked out, so that positions stay."""
    parts = []
    at = 0
    while (start := text.find("/*", at)) >= 0 and (stop := text.find("*/", start + 2)) >= 0:
        parts.append(text[at:start] + re.sub(r"[^\n]", " ", text[start : stop + 2]))
        at = stop + 2
    text = "".join(parts) + text[at:]
    text = _LINE_COMMENT.sub(lambda match: " " * len(match[0]), text)
    return _CAST.sub(lambda match: " " * len(match[0]), text)


def _items(text: str, group: re.Match[str], whole: str) -> list[Item] | None:
    """The items of a bracketed part of a text, or None if it is something else (an index, a time, plain hex)."""
    content, at = group[1], group.start(1)
    if "," not in content:
        words = content.split()
        decimal = all(map(_SIGNED.fullmatch, words)) and any(len(word) != 2 or word[0] == "-" for word in words)
        declared = len(words) == 1 and _NUMBER.fullmatch(words[0]) and _DECLARED.search(text[max(0, at - 10) : at - 1])
        alone = group[0] == whole and len(words) == 1 and _SIGNED.fullmatch(words[0])
        if not (declared or alone or (len(words) > 1 and decimal)):
            return None
        return [Item(match[0], at + match.start()) for match in re.finditer(r"\S+", content)]
    items = []
    for part in content.split(","):
        word = part.strip()
        items.append(Item(word, at + part.find(word[:1])))
        at += len(part) + 1
    if not items[-1].text:
        items.pop()
    number = _NUMBER.fullmatch(items[0].text)
    # The first item decides: what follows it in a real array is an error to report, not a reason to look elsewhere.
    return items if number and (number[2] or len(number[3]) <= 3) else None


def _read(pasted: PastedText, items: list[Item], start: int, stop: int) -> Piece:
    """The bytes of one array."""
    where = pasted.where(start, stop)
    words = [item.text for item in items]
    if all(map(_DECIMAL.fullmatch, words)):
        values = list(map(int, words))
        if max(values) <= 255:
            return Piece(bytes(values), "array, decimal", where)
    hexadecimal = any(_BARE_HEX.fullmatch(word) and not word.isdigit() for word in words)
    data = bytes(_value(pasted, item, hexadecimal) for item in items)
    marked = any(word[:2] in ("0x", "0X") or word[-1:] in ("h", "H") for word in words)
    return Piece(data, "array, hex" if hexadecimal or marked else "array, decimal", where)


def _value(pasted: PastedText, item: Item, hexadecimal: bool) -> int:
    """The byte that an item stands for."""
    if not item.text:
        raise pasted.error(item.start, "a number is missing between two commas of the array")
    number = _NUMBER.fullmatch(item.text)
    if not number:
        raise pasted.error(item.start, f"`{_short(item.text)}` isn't a number; an array holds bytes such as 29 or 0x1d")
    sign, prefix, digits, suffix = number.groups()
    base = 2 if prefix == "0b" else 16 if prefix or suffix or hexadecimal else 10
    if base < 16 and digits.strip("0123456789"[:base]):
        raise pasted.error(item.start, f"`{_short(item.text)}` isn't a number of base {base}; write hex as 0x1d")
    # int() refuses very long decimal numbers; any of more than eight digits (but for zeros) is too large anyway.
    digits = digits.lstrip("0")
    value = int(digits or "0", base) if len(digits) <= 8 else 1 << 32
    if sign and not 0 < value <= 128:
        raise pasted.error(item.start, f"`{_short(item.text)}` isn't a byte; signed bytes go from -128 to 127")
    if value > 255:
        raise pasted.error(item.start, f"`{_short(item.text)}` isn't a byte; the largest is 255 (0xff)")
    return (256 - value) % 256 if sign else value


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 24 else line[:21] + "..."
