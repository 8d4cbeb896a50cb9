"""Reads hex out of log lines: Zephyr's LOG_HEXDUMP, ESP-IDF's ESP_LOG_BUFFER_HEX and HEXDUMP, logcat, tracing.

A line of bytes ends with them, or with their ASCII column. The text before them tells the kind of log, and which lines
belong together: lines with no text before, with consecutive addresses, or with the same words after a full line.
"""

import re
from itertools import islice
from typing import NamedTuple

from .pasted import PastedText, Piece
from .rows import agrees

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_APART = r"(?:0[xX])?[0-9a-fA-F]{2}(?:(?:  ?|[:,-] ?)(?:0[xX])?[0-9a-fA-F]{2})*"
_GROUPS = r"[0-9a-fA-F]{4}(?: [0-9a-fA-F]{4})+(?: [0-9a-fA-F]{2})?"
_JOINED = r"(?:[0-9a-fA-F]{2}){6,}"
_AREA = re.compile(
    rf"(?<![^\s:=\[(,>\"'|])(?:(?P<apart>{_APART})|{_GROUPS}|{_JOINED})(?![0-9a-fA-FxX])", re.ASCII
)  # fmt: skip
_ADDRESS = re.compile(r"(?:^|\s)(?:0[xX])?([0-9a-fA-F]{4,16}):?\s+$", re.ASCII)
_CLOSING = re.compile(r"[\s\])\"'.;,]*")
_CLOCK = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}")
_SAYS_BYTES = re.compile(
    r"(?:[:=]|\b(?:rx|tx|recv|received|send|sent|read|write|data|bytes|payload|hex))\s*$", re.IGNORECASE
)
_ESP = re.compile(r"[EWIDV] \([0-9]+\) [^:]*: ")
_BETWEEN = re.compile(r"0[xX]|[:,\- ]")
_FEWEST = 3
"""Fewest bytes of a line: fewer are a number or a word, unless their ASCII column or the line before says otherwise."""
_LOOKS = 32
"""Most positions of a line where bytes may begin: the text before them is short."""
_FULL = 8
"""A line that is continued on the next holds a multiple of this many bytes."""


class LogLine(NamedTuple):
    """The bytes at the end of a line."""

    start: int
    stop: int
    """Where they stand in the text."""
    before: str
    data: bytes


def read_logs(pasted: PastedText) -> list[Piece] | None:
    """The bytes of every message in a log, or None if there are none."""
    text = _COLOUR.sub(lambda match: " " * len(match[0]), pasted.text)
    groups: list[list[LogLine]] = []
    last: LogLine | None = None
    at = 0
    for line in text.split("\n"):
        bytes_of_line = _line(line, at, last)
        at += len(line) + 1
        if bytes_of_line is None:
            last = None if line.strip() else last
            continue
        if last is not None and _goes_on(last, bytes_of_line):
            groups[-1].append(bytes_of_line)
        else:
            groups.append([bytes_of_line])
        last = bytes_of_line
    return [
        Piece(b"".join(line.data for line in lines), "log", pasted.where(lines[0].start, lines[-1].stop))
        for lines in groups
    ] or None


def _line(line: str, at: int, last: LogLine | None) -> LogLine | None:
    """The bytes that a line ends with, if any."""
    for match in islice(_AREA.finditer(line), _LOOKS):
        rest = line[match.end() :]
        data = bytes.fromhex(_BETWEEN.sub("", match[0]))
        column = rest.strip()
        gutter = column.startswith(("|", ">"))
        if gutter:
            column = column[1:-1] if column.endswith(("|", "<")) and len(column) > len(data) + 1 else column[1:]
        if gutter or agrees(data, rest) or _CLOSING.fullmatch(rest):
            candidate = LogLine(at + match.start(), at + match.end(), line[: match.start()], data)
            certain = agrees(data, column) or (last is not None and _goes_on(last, candidate))
            if certain or _are_bytes(match, candidate):
                return candidate
    return None


def _are_bytes(match: re.Match[str], line: LogLine) -> bool:
    """Whether hex digits are bytes, and not a word, a number or a time."""
    announced = _SAYS_BYTES.search(line.before) is not None
    if match["apart"]:
        return len(line.data) >= _FEWEST and (announced or not _CLOCK.fullmatch(match[0]))
    digits = any(char.isdigit() for char in match[0])
    return digits and (announced or not all(char.isdigit() or char == " " for char in match[0]))


def _goes_on(last: LogLine, line: LogLine) -> bool:
    """Whether a line holds what follows the bytes of the line before."""
    if not line.before.strip():
        return True
    before, after = _ADDRESS.search(last.before), _ADDRESS.search(line.before)
    if before and after:
        return int(after[1], 16) - int(before[1], 16) == len(last.data)
    same = last.before == line.before
    if not same:  # each line of ESP-IDF has its own time
        words = _ESP.fullmatch(last.before), _ESP.fullmatch(line.before)
        same = None not in words and last.before.split(")")[1:] == line.before.split(")")[1:]
    return same and len(last.data) % _FULL == 0
