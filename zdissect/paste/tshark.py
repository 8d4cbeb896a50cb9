"""Reads what tshark prints of packets: the TCP and UDP payloads in `-T json`, `jsonraw`, `ek`, `pdml` and `fields`.

Every payload is a piece, as the text doesn't tell which of them belong together.
"""

import re
from collections.abc import Iterator

from .pasted import PastedText, Piece

_KEYS = r"(?:tcp|udp)[._]payload"
_ELSE = r"data[._]data"
"""tshark's fields for the payload and for undissected data: the same bytes, if both are there."""

_JSON = r'"(?:\w+?_)?(?:{keys})(?P<raw>_raw)?"\s*:\s*(?P<values>"[^"]*"|\[[^][{{}}]*\])'
_PDML = r'<field\s[^<>]*?\bname="(?:{keys})"[^<>]*?\bvalue="(?P<values>[^"]*)"'
_VALUE = re.compile(r'"([0-9a-fA-F:\s]*)"')
_PAIRS = re.compile(r"[0-9a-fA-F]{2}(?::?[0-9a-fA-F]{2})*", re.ASCII)
_FORMS = (("tshark JSON", _JSON), ("tshark PDML", _PDML))

_Span = tuple[int, int]


def read_tshark(pasted: PastedText) -> list[Piece] | None:
    """Every payload in the text, or None if it isn't tshark's."""
    text = pasted.text
    if "payload" in text or "data" in text:
        for form, pattern in _FORMS:
            for keys in (_KEYS, _ELSE):
                spans = list(_values(text, re.compile(pattern.format(keys=keys))))
                if spans:
                    return [Piece(_bytes(pasted, *span), form, pasted.where(*span)) for span in spans]
    spans = _columns(text)
    return [Piece(_bytes(pasted, *span), "tshark fields", pasted.where(*span)) for span in spans] or None


def _values(text: str, pattern: re.Pattern[str]) -> Iterator[_Span]:
    """The places of the values of a field; `_raw` repeats what is there without it, except for `-T jsonraw`."""
    matches = list(pattern.finditer(text))
    names = [match.groupdict().get("raw") for match in matches]
    for match, raw in zip(matches, names, strict=True):
        if raw and None in names:
            continue
        start, stop = match.span("values")
        if text[start] not in '"[':
            if start < stop:
                yield start, stop
            continue
        inside = list(_VALUE.finditer(text, start, stop))
        yield from (value.span(1) for value in inside[: 1 if raw else None] if value[1])


def _columns(text: str) -> list[_Span]:
    """The places of the payloads in lines of columns with tabs between them, as `-T fields` writes them.

    It is the column that holds nothing but bytes; of several such columns, the one that holds most.
    """
    lines: list[list[_Span]] = []
    at = 0
    for line in text.split("\n"):
        if line.strip():
            cells, start = [], at
            for cell in line.split("\t"):
                cells.append((start, start + len(cell.rstrip())))
                start += len(cell) + 1
            lines.append(cells)
        at += len(line) + 1
    count = len(lines[0]) if lines else 0
    if count < 2 or any(len(cells) != count for cells in lines):
        return []
    best: list[_Span] = []
    for column in range(count):
        spans = [cells[column] for cells in lines if cells[column][0] < cells[column][1]]
        if all(_PAIRS.fullmatch(text, *span) for span in spans) and _size(spans) > _size(best):
            best = spans
    chosen = set(best)
    others = [text[start:stop] for cells in lines for start, stop in cells if (start, stop) not in chosen]
    # columns of hex alone, or a dump with tabs, are something else
    return best if any(other and not _PAIRS.fullmatch(other.strip()) for other in others) else []


def _size(spans: list[_Span]) -> int:
    return sum(stop - start for start, stop in spans)


def _bytes(pasted: PastedText, start: int, stop: int) -> bytes:
    """The bytes of a value."""
    text = pasted.text[start:stop]
    if not _PAIRS.fullmatch(text):
        raise pasted.error(start, "this payload isn't whole bytes in hex; print it again, with all of its digits")
    return bytes.fromhex(text.replace(":", ""))
