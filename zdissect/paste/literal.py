r"""Reads escaped strings: string literals of C, Rust, Python and Wireshark, bare `\x1d\x00`, and `%1d%00`."""

import re
from collections.abc import Callable
from typing import NamedTuple

from .pasted import PastedText, PasteError, Piece

_QUOTE = re.compile(r"\\.|[\"']", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ONLY_HEX = re.compile(r"(?:\\x[0-9a-fA-F]{2})+")
_SPACED_HEX = re.compile(r"\s*+(?:\\x[0-9a-fA-F]{2}[\s,;]*+)*+", re.ASCII)
_HAS_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]|[0-7])")
_PREFIX = re.compile(r"(?:\b[bBcLu]|\bu8|\b[bB][rR])$")
_JOINT = re.compile(r"[\s\\+]*(?:\b[bBcLu]|\bu8)?")
_PERCENT = re.compile(r"%([0-9a-fA-F]{2})")
_HEX_TEXT = re.compile(r"[0-9a-fA-F\s:,;._-]*")
_HEX_DIGIT = re.compile(r"[0-9a-fA-F]")
_SIMPLE = {
    "n": 10, "r": 13, "t": 9, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "\\": 92, '"': 34, "'": 39, "?": 63, "`": 96,
}  # fmt: skip


class Quoted(NamedTuple):
    """A string literal in the text: the range between its quotes, and whether it is marked as bytes (`b"..."`)."""

    start: int
    stop: int
    is_bytes: bool


def find_quoted(text: str) -> list[Quoted]:
    """All string literals, in order. A quote without partner begins none."""
    literals = []
    opening: re.Match[str] | None = None
    for match in _QUOTE.finditer(text):
        if len(match[0]) > 1:
            continue
        if opening is None:
            opening = match
        elif match[0] == opening[0]:
            marked = _PREFIX.search(text[max(0, opening.start() - 3) : opening.start()]) is not None
            literals.append(Quoted(opening.end(), match.start(), marked))
            opening = None
    return literals


def join_quoted(text: str, quoted: list[Quoted]) -> list[list[Quoted]]:
    """The literals in groups that stand for one string: next to each other, as C and Python join them."""
    groups: list[list[Quoted]] = []
    for item in quoted:
        if groups and _JOINT.fullmatch(text, groups[-1][-1].stop + 1, item.start - 1):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def read_literals(pasted: PastedText) -> list[Piece] | None:
    """Every escaped string in the text, or None if there is none."""
    text = pasted.text
    escaped = _HAS_ESCAPE.search(text) is not None
    pieces = []
    for group in join_quoted(text, find_quoted(text)) if escaped or '"' in text or "'" in text else []:
        parts = [text[item.start : item.stop] for item in group]
        # b'1d00' is how Python prints hex: a literal is one of bytes only with an escape, or letters that aren't hex.
        letters = group[0].is_bytes and not (all(map(_HEX_TEXT.fullmatch, parts)) and _HEX_DIGIT.search("".join(parts)))
        if letters or any(map(_HAS_ESCAPE.search, parts)):
            data = b"".join(unescaped(pasted, item.start, item.stop) for item in group)
            pieces.append(Piece(data, "escaped string", pasted.where(group[0].start, group[-1].stop)))
    if pieces:
        pieces = [piece for piece in pieces if piece.data]
        return pieces or None
    # Bare `\x1d \x00` is plain hex: the spaces only part the bytes, while in `\x1d\x00a b` they are bytes.
    if escaped:
        return None if _SPACED_HEX.fullmatch(text) else [_read_bare(pasted)]
    return _read_percent(pasted)


def _read_bare(pasted: PastedText) -> Piece:
    r"""`\x1d\x00abc` without quotes. White space around lines isn't part of it, nor a backslash at the end of one."""
    parts = []
    at = 0
    for line in pasted.text.split("\n"):
        start = at + len(line) - len(line.lstrip())
        stop = at + len(line.rstrip())
        at += len(line) + 1
        if stop > start and pasted.text[stop - 1] == "\\" and pasted.text[stop - 2 : stop - 1] != "\\":
            stop -= 1
        parts.append(unescaped(pasted, start, max(start, stop)))
    return Piece(b"".join(parts), "escaped string", pasted.where(0, len(pasted.text.rstrip())))


def unescaped(pasted: PastedText, start: int, stop: int) -> bytes:
    """The bytes of a string with escapes."""
    text = pasted.text[start:stop]
    if _ONLY_HEX.fullmatch(text):
        return bytes.fromhex(text.replace("\\x", ""))
    return _pieces(pasted, start, text, _ESCAPE, lambda match: _escape(pasted, start, match))


def _pieces(
    pasted: PastedText, start: int, text: str, pattern: re.Pattern[str], value: Callable[[re.Match[str]], bytes]
) -> bytes:
    """The bytes of a text: what matches by `value`, the rest as it is."""
    parts = []
    at = 0
    for match in pattern.finditer(text):
        parts += [_encode(pasted, start + at, text[at : match.start()]), value(match)]
        at = match.end()
    if "\\" in text[at:] and pattern is _ESCAPE:
        raise pasted.error(start + at + text[at:].index("\\"), "the string ends within an escape; copy it whole")
    parts.append(_encode(pasted, start + at, text[at:]))
    return b"".join(parts)


def _escape(pasted: PastedText, start: int, match: re.Match[str]) -> bytes:
    r"""The bytes of one escape. `\x` takes two digits at most: C takes more, but pasted bytes never mean that."""
    pair, octal, braced, plain, simple = match.groups()
    if pair:
        return bytes((int(pair, 16),))
    if octal:
        if int(octal, 8) > 255:
            raise pasted.error(start + match.start(), f"`{match[0]}` isn't a byte; the largest octal escape is \\377")
        return bytes((int(octal, 8),))
    if simple == "\n":
        return b""  # a line of the string is continued on the next
    if simple in _SIMPLE:
        return bytes((_SIMPLE[simple],))
    code = int(braced or plain or "110000", 16)
    if code >= 0x110000 or 0xD800 <= code < 0xE000:
        raise pasted.error(start + match.start(), f"`{match[0]}` isn't an escape of a byte; write \\x and two digits")
    return chr(code).encode()


def _encode(pasted: PastedText, start: int, text: str) -> bytes:
    """Characters in UTF-8; bytes that weren't UTF-8 when the text was read are restored."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise _not_text(pasted, start + error.start) from None


def _not_text(pasted: PastedText, index: int) -> PasteError:
    return pasted.error(index, "this character (half of a surrogate pair) has no bytes; write it with \\x escapes")


def _read_percent(pasted: PastedText) -> list[Piece] | None:
    """`%1d%00abc`, as in URLs."""
    text = pasted.text.strip()
    if not _PERCENT.match(text) or text.split() != [text]:
        return None
    start = pasted.text.index(text)
    data = _pieces(pasted, start, text, _PERCENT, lambda match: bytes((int(match[1], 16),)))
    return [Piece(data, "percent-encoded string", pasted.where(start, start + len(text)))]
