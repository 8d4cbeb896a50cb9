"""Reads the tree that zdissect prints, or a part of it: the bytes stand at the left of each line.

What a line leaves out (`..`) is taken from its value where that shows all of it: a text, a ZenohID, a payload.
"""

import re
from typing import NamedTuple

from .literal import unescaped
from .pasted import PastedText, Piece

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LINE = re.compile(
    r"(?P<indent>[ \t]*)(?P<offset>[0-9a-f]{4,})  (?P<bytes>[0-9a-f]{2}(?: [0-9a-f]{2})*)(?P<more> \.\.)?"
    r"  +(?P<text>[\w.]+(?: length)?(?:: |  0x| 0x).*)",
    re.ASCII,
)
_BITS = re.compile(r"^[ \t]+\[?[01.]{4} [01.]{4}", re.MULTILINE)
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"")
_SHORTENED = re.compile(r"\.\.\. \(the first")
_HEX = re.compile(r"bytes?  ((?:[0-9a-f]{2})(?: [0-9a-f]{2})*)$", re.ASCII)
_ZID = re.compile(r": ([0-9a-f]{2,32})$", re.ASCII)
_NUMBER = re.compile(r": ([0-9]{1,20}) .*\(VLE, 9 bytes\)$", re.ASCII)
_ZID_SIZE = 16
_LONGEST_PREFIX = 9
"""Bytes of a length in front of a text."""


class TreeLine(NamedTuple):
    """A line that shows bytes."""

    start: int
    """Where its bytes are in the text."""
    offset: int
    data: bytes
    cut: bool
    """Whether there are more than it shows."""
    text: str
    text_start: int


def read_tree(pasted: PastedText) -> list[Piece] | None:
    """The bytes of each tree in the text, or None if it holds none."""
    if "\x1b" in pasted.text:
        pasted = PastedText(_COLOUR.sub("", pasted.text))
    lines = _lines(pasted.text)
    ours = _BITS.search(pasted.text) or any(line.cut or "(VLE" in line.text for line in lines)
    if not lines or not (ours or len(lines) == sum(map(bool, map(str.strip, pasted.text.split("\n"))))):
        return None
    runs: list[list[TreeLine]] = []
    for line in lines:
        before = runs[-1][-1] if runs else None
        follows = before is not None and (
            line.offset == before.offset + len(before.data) if not before.cut else line.offset > before.offset
        )
        if follows:
            runs[-1].append(line)
        else:
            runs.append([line])
    return [Piece(_joined(pasted, run), "zdissect's tree", pasted.where(run[0].start, run[-1].start)) for run in runs]


def _lines(text: str) -> list[TreeLine]:
    """The lines with bytes; all of them are as far to the right as the first."""
    out: list[TreeLine] = []
    at, indent = 0, None
    for line in text.split("\n"):
        match = _LINE.fullmatch(line.rstrip())
        if match and indent in (None, match["indent"]):
            indent = match["indent"]
            data = bytes.fromhex(match["bytes"])
            cut = match["more"] is not None
            start, text_start = at + match.start("bytes"), at + match.start("text")
            out.append(TreeLine(start, int(match["offset"], 16), data, cut, match["text"], text_start))
        at += len(line) + 1
    return out


def _joined(pasted: PastedText, run: list[TreeLine]) -> bytes:
    """The bytes of lines that follow each other."""
    parts = []
    for line, after in zip(run, [*run[1:], None], strict=True):
        parts.append(_whole(pasted, line, after.offset - line.offset if after else None) if line.cut else line.data)
    return b"".join(parts)


def _whole(pasted: PastedText, line: TreeLine, size: int | None) -> bytes:
    """All bytes of a line that shows only the first ones."""
    for content in _contents(pasted, line):
        for front in range(_LONGEST_PREFIX + 1):
            candidate = line.data[:front] + content
            if (
                candidate.startswith(line.data)
                and len(candidate) > len(line.data)
                and (size is None or len(candidate) == size)
            ):
                return candidate
    raise pasted.error(
        line.start, "this line of the tree leaves out bytes (`..`); print it with -x, and paste the dump"
    )


def _contents(pasted: PastedText, line: TreeLine) -> list[bytes]:
    """What the value of a line may stand for."""
    text = line.text
    if _SHORTENED.search(text):
        return []
    out = [bytes.fromhex(match[1]) for match in _HEX.finditer(text)]
    for match in _ZID.finditer(text):  # leading zeros aren't printed
        out += [int(match[1], 16).to_bytes(size, "little") for size in range((len(match[1]) + 1) // 2, _ZID_SIZE + 1)]
    out += [_vle(int(match[1])) for match in _NUMBER.finditer(text)]
    quoted = _QUOTED.search(text)
    if quoted:
        out.append(unescaped(pasted, line.text_start + quoted.start(1), line.text_start + quoted.end(1)))
    return out


def _vle(value: int) -> bytes:
    """An integer of nine bytes: seven bits each, but for the last one (notes 1.1)."""
    return bytes([value >> 7 * index & 0x7F | 0x80 for index in range(8)]) + bytes([value >> 56 & 0xFF])
