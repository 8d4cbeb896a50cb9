"""The bytes that `zdissect hex` is given: as text on its command line, in a file, or on standard input."""

import sys
from typing import BinaryIO

import click

from zdissect.paste import Piece, parse_paste

_TEXT_CONTROLS = frozenset(b"\t\n\v\f\r\x1b")
_MOST = 64 << 20
"""Bytes of a paste."""


class UnreadableInput(Exception):
    """The input can't be read; says why."""


def pasted_pieces(text: tuple[str, ...], path: str | None) -> list[Piece]:
    """The pieces of bytes that were pasted. Raises UnreadableInput, PasteError, click.UsageError."""
    if path is not None:
        if text:
            raise click.UsageError("give the bytes as text or with -f FILE, not both")
        return _content(_input() if path == "-" else _file(path))
    if text and text != ("-",):
        return parse_paste(" ".join(text))
    if not text and sys.stdin is not None and sys.stdin.isatty():
        raise click.UsageError("no bytes given; give them as text, with -f FILE, or on standard input")
    return _content(_input())


def _input() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        raise UnreadableInput("standard input is closed: give the bytes as text, with -f FILE, or pipe them in")
    return _bounded(sys.stdin.buffer, "standard input")


def _file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return _bounded(file, path)
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise UnreadableInput(f"{path}: {reason}") from None


def _bounded(file: BinaryIO, name: str) -> bytes:
    """What a file holds: a device may have no end."""
    try:
        raw = file.read(_MOST + 1)
    except OSError as problem:
        raise UnreadableInput(f"{name}: {problem.strerror}") from None
    if len(raw) > _MOST:
        raise UnreadableInput(f"{name}: larger than {_MOST >> 20} MB: cut out the part to read")
    return raw


def _content(raw: bytes) -> list[Piece]:
    """The bytes in a file: those that its text stands for or, if it isn't text, the file's own."""
    if _is_capture(raw):
        raise UnreadableInput("this is a capture, not text: use `zdissect FILE`, without hex")
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):  # what Windows writes as text
        return parse_paste(raw.decode("utf-16", errors="replace"))
    if any(byte < 32 and byte not in _TEXT_CONTROLS for byte in raw):
        return [Piece(raw, "raw bytes", "")]
    try:
        return parse_paste(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return parse_paste(raw.decode("latin-1"))


def _is_capture(raw: bytes) -> bool:
    """Whether bytes begin as a capture does: with what isn't ASCII, or is blank."""
    head = raw[:4].strip()
    if head and head.isascii():
        return False
    from zdissect.capture.signatures import CAPTURES, MAGIC_SIZE  # few pastes begin so

    return raw[:MAGIC_SIZE] in CAPTURES
