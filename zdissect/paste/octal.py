"""Reads what od prints if it isn't asked for hex: bytes or words in octal, and characters (`od -c`)."""

import re

from .pasted import PastedText, Piece

_LINE = re.compile(r"(?P<offset>[0-7]{7,})(?P<body>(?: .*)?)", re.ASCII)
_GUTTER = re.compile(r"  +>.*<$")
_OCTAL_BYTE, _OCTAL_WORD = re.compile(r"[0-7]{3}", re.ASCII), re.compile(r"[0-7]{6}", re.ASCII)
_CHARACTERS = {r"\0": 0, r"\a": 7, r"\b": 8, r"\t": 9, r"\n": 10, r"\v": 11, r"\f": 12, r"\r": 13}
_CELL = 4
"""Columns of a character in `od -c`."""
_FEWEST = 3
"""Bytes without offsets that are taken for octal."""
_LARGEST = 0o377


class _Unfit(Exception):
    """The text isn't octal after all."""


def read_octal(pasted: PastedText) -> list[Piece] | None:
    """The bytes of a dump in octal, or None if the text isn't one."""
    text = pasted.text
    try:
        if _without_offsets(text):
            return [Piece(_bytes(text.split()), "od dump, octal", pasted.where(0, len(text.rstrip())))]
        return _dump(pasted)
    except _Unfit:
        return None


def _without_offsets(text: str) -> bool:
    """Whether these are numbers of three octal digits as `od -A n` prints them, and no decimal ones."""
    words = text.split()
    return (
        text[:1] == " "
        and len(words) >= _FEWEST
        and all(map(_OCTAL_BYTE.fullmatch, words))
        and any(word[0] == "0" for word in words)
    )


def _dump(pasted: PastedText) -> list[Piece] | None:
    """A dump with octal offsets, which must fit."""
    out, form = bytearray(), ""
    first = last = -1
    repeated, row, at = False, b"", 0
    for line in pasted.text.split("\n"):
        start, at = at, at + len(line) + 1
        if line.strip() == "*" and row:
            repeated = True
        elif line.strip():
            match = _LINE.fullmatch(line)
            if match is None:
                return None
            offset = int(match["offset"], 8)
            first = offset if first < 0 else first
            missing = offset - first - len(out)
            if repeated and row and 0 < missing <= 1 << 24:
                out += (row * (missing // len(row) + 1))[:missing]
            elif missing == -1 and form.endswith("2 bytes"):
                out.pop()  # the last word is padded
            elif missing:
                return None
            row, known = _row(match["body"])
            form, repeated, last = known or form, False, start + len(line)
            out += row
    return [Piece(bytes(out), form, pasted.where(0, last))] if out and form else None


def _row(body: str) -> tuple[bytes, str]:
    """The bytes of a line, and its form."""
    body = _GUTTER.sub("", body)
    words = body.split()
    if not words and len(body) < _CELL:
        return b"", ""
    if words and all(map(_OCTAL_WORD.fullmatch, words)):
        return b"".join(map(_word, words)), "od dump, octal words of 2 bytes"
    if words and all(map(_OCTAL_BYTE.fullmatch, words)) and len(body) == _CELL * len(words):  # no blank among them
        return _bytes(words), "od dump, octal"
    cells = [body[start : start + _CELL] for start in range(0, len(body), _CELL)]
    return bytes(map(_character, cells)), "od dump, characters"


def _word(digits: str) -> bytes:
    value = int(digits, 8)
    if value > 0xFFFF:
        raise _Unfit
    return value.to_bytes(2, "little")


def _bytes(words: list[str]) -> bytes:
    """Bytes of three octal digits each."""
    values = [int(word, 8) for word in words]
    if max(values) > _LARGEST:
        raise _Unfit
    return bytes(values)


def _character(cell: str) -> int:
    """A cell of `od -c`, four columns wide: a character, an escape, or an octal number."""
    text = cell[1:].strip() or " "
    if len(cell) != _CELL or cell[0] != " ":
        raise _Unfit
    if text in _CHARACTERS:
        return _CHARACTERS[text]
    if len(text) == 1 and text.isascii():
        return ord(text)
    if re.fullmatch(r"[0-3][0-7]{2}", text, re.ASCII):
        return int(text, 8)
    raise _Unfit
