"""Reads dumps with offsets: xxd, hexdump, od, tcpdump -X, tshark -x, Wireshark's "copy as hex dump", gdb's x/xb."""

import re
from itertools import pairwise
from typing import NamedTuple

from .pasted import PastedText, Piece
from .rows import Layout, agrees, starts_with_byte

_LINE = re.compile(r"[ \t]*(0[xX])?([0-9a-fA-F]{4,16})(:?)(?=[ \t]|$)", re.ASCII)

_ALONE = re.compile(r" ?([0-9a-fA-F])(?= |$)", re.ASCII)
"""A digit without a partner, no further from the bytes than another byte."""

_LARGEST = 1 << 24
"""Most bytes that `*` lines may stand for: a wrong offset must not fill the memory."""

_WIDEST = 64
"""Most bytes on a line of a usual dump; od's octal offsets, taken for hex, grow by twice their step."""


class Row(NamedTuple):
    """One line of a dump."""

    start: int
    """Where its offset begins in the text."""
    body_start: int
    body: str
    style: str
    """`0x:`, `:`, `0x` or nothing: what is around the offset."""
    digits: str
    repeated: bool
    """Whether a line with `*` follows: the same bytes again, up to the next offset."""

    def offset(self, base: int) -> int:
        """The offset; -1 if its digits aren't of this base."""
        try:
            return int(self.digits, base)
        except ValueError:
            return -1


def read_dumps(pasted: PastedText) -> list[Piece] | None:
    """Every dump in the text, or None if it holds none."""
    rows = _find_rows(pasted.text)
    if not rows:
        return None
    base = _base(rows)
    pieces = []
    start = 0
    for stop in range(1, len(rows) + 1):
        if stop == len(rows) or rows[stop].offset(base) <= rows[stop - 1].offset(base):
            data, layout = _read_block(pasted, rows[start:stop], base)
            if data:
                where = pasted.where(rows[start].start, rows[stop - 1].body_start)
                pieces.append(Piece(data, _form(rows[start], layout), where))
            start = stop
    return pieces


def _find_rows(text: str) -> list[Row]:
    """The lines of the dump; none if the text isn't one."""
    styles: dict[str, list[Row]] = {}
    last: list[Row] = []
    start = 0
    for line in text.split("\n"):
        match = _LINE.match(line)
        if match:
            style = (match[1] or "") + match[3]
            row = Row(start + match.start(2), start + match.end(), line[match.end() :], style, match[2], False)
            last = styles.setdefault(style, [])
            if starts_with_byte(row.body) or (last and _follows(row, last[-1])):
                last.append(row)
        elif last and line.strip() == "*":
            last[-1] = last[-1]._replace(repeated=True)
        start += len(line) + 1
    return next((rows for rows in styles.values() if rows and _is_dump(rows)), [])


def _follows(row: Row, last: Row) -> bool:
    """Whether a line without bytes belongs to the dump: the offset at its end, or a damaged line.

    Other text may begin with what looks like an offset too (`dead end`, `0101 .... = Version: 5`).
    """
    step = row.offset(16) - last.offset(16)
    if len(row.digits) != len(last.digits) or step <= 0:
        return False
    if row.body.strip():
        return step == len(Layout(last.body, bool(last.style)).natural(last.body)[0])
    return step <= _WIDEST or last.repeated


def _is_dump(rows: list[Row]) -> bool:
    """Whether lines that begin with something like an offset are a dump, and not plain hex."""
    first = rows[0]
    if first.style == "0x":  # ESP-IDF: an address, bytes, their ASCII column; anything else is all bytes
        data, column = Layout(first.body, True).natural(first.body)
        shown = first.body[column:].strip().removeprefix("|").removesuffix("|")
        return len(first.digits) == 8 and (agrees(data, shown) or (len(rows) > 1 and _steps_fit(rows, 16)))
    if first.style:
        return bool(first.style != ":" or len(first.digits) >= 8 or first.offset(16) == 0 or _steps_fit(rows, 16))
    if first.offset(16) == 0 and (len(first.digits) == 7 or re.match(r"(?:  +|\t)[0-9a-fA-F]{2}(?: |$)", first.body)):
        return True
    return any(_steps_fit(rows, base) for base in (16, 8, 10))


def _steps_fit(rows: list[Row], base: int) -> bool:
    """Whether the first offsets grow by the number of bytes that stand on the lines."""
    layout = Layout(rows[0].body, bool(rows[0].style))
    seen = 0
    for row, following in pairwise(rows[:9]):
        step = following.offset(base) - row.offset(base)
        if row.offset(base) < 0 or (step > 0 and not row.repeated and len(layout.read(row.body, step)[0]) != step):
            return False
        seen += step > 0 and not row.repeated
    return seen > 0


def _base(rows: list[Row]) -> int:
    """The base of the offsets: 16 but for od, which counts in octal, or in decimal with `-A d`."""
    if rows[0].style or len(rows[0].digits) != 7:
        return 16
    return next((base for base in (16, 8, 10) if _steps_fit(rows, base)), 16)


def _read_block(pasted: PastedText, rows: list[Row], base: int) -> tuple[bytes, Layout]:
    """The bytes of lines with growing offsets."""
    layout = Layout(rows[0].body, bool(rows[0].style))
    parts: list[bytes] = []
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        if following is None:
            parts.append(_read_last(pasted, row, layout))
            continue
        step = following.offset(base) - row.offset(base)
        if row.repeated:
            parts.append(_repeat(pasted, row, layout, step))
            continue
        data, column = layout.read(row.body, step)
        if len(data) != step:
            raise pasted.error(
                row.body_start + column,
                f"this line of the dump holds {_bytes(len(data))}, but by the offset of the next line "
                f"({following.digits}) it has {step}; copy the dump again, with whole lines",
            )
        parts.append(data)
    return b"".join(parts), layout


def _read_last(pasted: PastedText, row: Row, layout: Layout) -> bytes:
    """The bytes of the last line: no offset tells how many, so the columns do."""
    if row.repeated:
        raise pasted.error(row.start, "the offset after `*`, which says how often the line is repeated, is missing")
    data, column = layout.natural(row.body)
    alone = _ALONE.match(row.body, column)
    if data and alone and not agrees(data, row.body[column:]):
        at = row.body_start + alone.end() - 1
        raise pasted.error(
            at, f"`{alone[1]}` is half a byte; two digits make one, and two spaces separate bytes from text"
        )
    if not data and row.body.strip():
        visible = len(row.body) - len(row.body.lstrip())
        raise pasted.error(row.body_start + visible, "this line of the dump has an offset but no hex bytes after it")
    return data


def _repeat(pasted: PastedText, row: Row, layout: Layout, step: int) -> bytes:
    """The bytes of a line that `*` repeats up to the next offset."""
    data = layout.natural(row.body)[0]
    if not data or step > _LARGEST:
        raise pasted.error(row.start, f"`*` can't repeat this line ({_bytes(len(data))}) to fill {_bytes(step)}")
    return (data * (step // len(data) + 1))[:step]


def _form(row: Row, layout: Layout) -> str:
    """The tool that prints dumps like this, for people."""
    body = row.body.rstrip()
    if row.style.startswith("0"):
        name = "gdb dump" if "0x" in body[:4] else "hex dump" if row.style == "0x" else "tcpdump -X dump"
    elif row.style:
        name = "xxd dump" if len(row.digits) >= 8 else "hex dump"
    elif layout.word > 1:
        name = "hexdump or od dump"
    elif body.endswith("|"):
        name = "hexdump -C dump"
    elif body.startswith((" " * 2, "\t")):
        name = "Wireshark dump" if len(row.digits) < 7 else "hexdump -C dump"
    else:
        name = "od dump"
    return f"{name}, little-endian words of {layout.word} bytes" if layout.word > 1 else name


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"
