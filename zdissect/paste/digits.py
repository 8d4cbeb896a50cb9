"""Reads plain hex, with any separators, and base64 that is marked as such."""

import base64
import re

from .literal import find_quoted, join_quoted
from .pasted import PastedText, PasteError, Piece
from .rows import HEX_AREA, agrees, from_hex

_RUN = re.compile(r"[0-9a-fA-F]+", re.ASCII)
_PREFIX = re.compile(r"(?<![0-9a-zA-Z])0[xX](?=[0-9a-fA-F])|\\x(?=[0-9a-fA-F])", re.ASCII)
_SUFFIX = re.compile(r"(?<=[0-9a-fA-F])[hH](?![0-9a-zA-Z])", re.ASCII)
_SINGLE = re.compile(r"(?<![0-9a-zA-Z])0[xX]([0-9a-fA-F])(?![0-9a-zA-Z])", re.ASCII)
_COMMENT = re.compile(r"(?:\||#|//|/\*|```).*")
_FENCE = re.compile(r"^[ \t]*```.*$", re.MULTILINE)
_BARRED = re.compile(r"^([^|\n]*)\|(.*)$", re.MULTILINE)
_PAIRS = re.compile(r"[ \t]*[0-9a-fA-F]{2}(?:[ \t|]+[0-9a-fA-F]{2})*[ \t|]*", re.ASCII)
_BYTES = re.compile(r"\b[bB](?=[\"'])")
_BUFFER = re.compile(r"^\s*<Buffer ")
_LABEL = re.compile(r"^[ \t]*(?=[\w-]*[g-zG-Z])[A-Za-z][\w-]{0,30}[ \t]*[:=][ \t]*(?=[^\s:=])", re.MULTILINE | re.ASCII)
_OTHER = re.compile(r"[^0-9a-fA-F\s,:;._\"'`()\[\]{}<>-]", re.ASCII)
_BETWEEN = str.maketrans(dict.fromkeys(" \t\n\f\v,:;._\"'`()[]{}<>-"))
_QUOTED_HEX = re.compile(r"(?:0[xX])?[0-9a-fA-F][0-9a-fA-F\s,:;._xX\"'\\-]*", re.ASCII)
_BASE64 = re.compile(r"\s*base64[:,][ \t]*", re.IGNORECASE | re.ASCII)
_BASE64_TEXT = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}", re.ASCII)
_CODE = re.compile(r"[g-zG-Z]")


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def read_plain(pasted: PastedText) -> list[Piece]:
    """The hex digits of the text: one piece, but for code with several strings of hex, where every string is one."""
    quoted = _quoted_hex(pasted)
    if quoted:
        return [Piece(_read(pasted, *span), "plain hex", pasted.where(*span)) for span in quoted]
    stripped = pasted.text.rstrip()
    start = len(stripped) - len(stripped.lstrip())
    return [Piece(_read(pasted, start, len(stripped)), "plain hex", pasted.where(start, len(stripped)))]


def _quoted_hex(pasted: PastedText) -> list[tuple[int, int]]:
    """The strings of hex in a piece of code such as `bytes.fromhex("1d 00")`; none if all of the text is hex."""
    text = pasted.text
    groups = join_quoted(text, find_quoted(text))
    spans = [(group[0].start, group[-1].stop) for group in groups]
    spans = [(start, stop) for start, stop in spans if _QUOTED_HEX.fullmatch(text, start, stop)]
    return spans if spans and _CODE.search(text, 0, spans[0][0] - 1) else []


def _read(pasted: PastedText, start: int, stop: int) -> bytes:
    """The bytes of a range of plain hex."""
    text = pasted.text[start:stop]
    text = _BYTES.sub(_blank, _BUFFER.sub(_blank, _FENCE.sub(_blank, text)))
    for line in _BARRED.finditer(text):
        if _PAIRS.fullmatch(line[2]) and not agrees(from_hex(line[1]) if HEX_AREA.fullmatch(line[1]) else b"", line[2]):
            raise pasted.error(
                start + line.start(2) - 1,
                "what follows `|` may be hex or a remark; leave the `|` out if it is hex, write `#` if it is a remark",
            )
    text = _LABEL.sub(_blank, _COMMENT.sub(_blank, text))
    # `0x5` is a byte, `5` may be half a byte. Prefixes become blanks, which separate the digits around them.
    text = _SINGLE.sub(r" 0\1", text)
    text = _SUFFIX.sub(" ", _PREFIX.sub("  ", text))
    text = _joined(text)
    other = _OTHER.search(text)
    if other:
        raise _unreadable(pasted, start + other.start(), other[0])
    for run in _RUN.finditer(text):
        if (run.end() - run.start()) % 2:
            raise _odd(pasted, start + run.start(), run[0])
    data = bytes.fromhex(text.translate(_BETWEEN))
    if not data:
        raise pasted.error(start, "there are no hex digits in this text, only punctuation and comments")
    return data


def _joined(text: str) -> str:
    """Hex with no breaks except line ends, which may split a byte: the lines joined."""
    runs = text.split()
    whole_lines = len(runs) == sum(not line.isspace() for line in text.split("\n") if line)
    if whole_lines and all(map(_RUN.fullmatch, runs)) and sum(map(len, runs)) % 2 == 0:
        return "".join(runs)
    return text


def _odd(pasted: PastedText, index: int, run: str) -> PasteError:
    if len(run) == 1:
        return pasted.error(
            index,
            f"the hex digit `{run}` stands alone; write two digits a byte (0{run}), "
            "or put brackets around decimal numbers: [38, 0, 66]",
        )
    shown = run if len(run) <= 24 else f"{run[:8]}...{run[-8:]}"
    return pasted.error(
        index + len(run) - 1,
        f"`{shown}` has {len(run)} hex digits, an odd number; a digit is missing, or one too many was copied",
    )


def _unreadable(pasted: PastedText, index: int, char: str) -> PasteError:
    name = f"`{char}`" if char.isprintable() else f"the character U+{ord(char):04X}"
    if char == "\u2026":
        return pasted.error(index, "bytes were left out here (`\u2026`); paste all of them")
    if char == "*":
        return pasted.error(index, "`*` stands for repeated lines; dump again with offsets, or without `*` (od -v)")
    hint = "put `#` before remarks"
    packed = pasted.text.strip().replace("\n", "")
    if len(packed) % 4 == 0 and _BASE64_TEXT.fullmatch(packed):
        hint = "if this is base64, put `base64:` before it"
    return pasted.error(index, f"{name} isn't a hex digit; {hint}")


def read_base64(pasted: PastedText) -> list[Piece] | None:
    """`base64:HQBh`, or None if the text doesn't begin like that: without the mark, base64 and hex are ambiguous."""
    mark = _BASE64.match(pasted.text)
    if not mark:
        return None
    data = from_base64(pasted.text[mark.end() :])
    if not data:
        raise pasted.error(mark.end(), "this isn't base64; copy it whole, without quotes")
    return [Piece(data, "base64", pasted.where(mark.end(), len(pasted.text.rstrip())))]


def read_unmarked_base64(pasted: PastedText) -> list[Piece] | None:
    """Base64 that is neither hex nor a word: letters of both cases with digits or signs, whole groups of four."""
    packed = "".join(pasted.text.split())
    mixed = not packed.isupper() and not packed.islower() and re.search(r"[0-9+/=_-]", packed)
    if len(packed) % 4 or not mixed or not _BASE64_TEXT.fullmatch(packed):
        return None
    data = from_base64(packed)
    return [Piece(data, "base64, by its looks", pasted.where(0, len(pasted.text.rstrip())))] if data else None


def from_base64(text: str) -> bytes | None:
    """The bytes of base64, of either alphabet and in lines; None if it isn't that."""
    body = "".join(text.split()).replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
    except ValueError:
        return None
