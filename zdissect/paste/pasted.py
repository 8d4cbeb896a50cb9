"""The pasted text with its line numbers, what is read from it, and the one error that reading can raise."""

from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

# What word processors, chats and web pages turn plain characters into. One for one, so that columns stay right.
_PLAIN = str.maketrans(
    {
        "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u2018": "'", "\u2019": "'",
        "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2212": "-",
        "\u00a0": " ", "\u2007": " ", "\u2009": " ", "\u202f": " ", "\u200b": " ", "\ufeff": " ",
    }
)  # fmt: skip

_EXCERPT = 100


class Piece(NamedTuple):
    """One run of bytes found in the text."""

    data: bytes
    form: str
    """How it was read, for people: `plain hex`, `xxd dump`, `array, decimal`..."""
    where: str
    """The lines of the text that it came from: `line 3`, `lines 3 to 7`."""


class PasteError(ValueError):
    """The text can't be read as bytes; the message says what is wrong, where, and what to do."""

    def __init__(self, message: str, line: int, column: int, line_text: str) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.line = line
        """Line of the text, from 1."""
        self.column = column
        """Column in that line, from 1, in characters."""
        self.line_text = line_text
        """The whole line, without its end."""

    def excerpt(self, shown: Callable[[str], str] = str) -> str:
        """The line (its surroundings, if it is long) and below it a caret under the column.

        Args:
            shown: Gives the text for each character, so that control characters can be escaped.
        """
        start = max(0, self.column - 1 - _EXCERPT // 2) if len(self.line_text) > _EXCERPT else 0
        # A tab stays a tab, so that the caret is in the right column whatever the tab width.
        chars = [char if char == "\t" else shown(char) for char in self.line_text[start : start + _EXCERPT]]
        before = chars[: self.column - 1 - start]
        return "".join(chars) + "\n" + "".join("\t" if char == "\t" else " " * len(char) for char in before) + "^"


class PastedText:
    """A text whose positions can be named."""

    def __init__(self, text: str) -> None:
        self.text = text.translate(_PLAIN).replace("\r", " ")
        self._starts: list[int] = []

    def locate(self, index: int) -> tuple[int, int]:
        """Line and column of a position, both from 1."""
        if not self._starts:
            self._starts = [0]
            at = self.text.find("\n")
            while at >= 0:
                self._starts.append(at + 1)
                at = self.text.find("\n", at + 1)
        line = bisect_right(self._starts, index)
        return line, index - self._starts[line - 1] + 1

    def where(self, start: int, stop: int) -> str:
        """The lines that the range covers, as in `Piece.where`."""
        first, last = self.locate(start)[0], self.locate(max(start, stop - 1))[0]
        return f"line {first}" if first == last else f"lines {first} to {last}"

    def error(self, index: int, message: str) -> PasteError:
        """The error to raise for what is at a position."""
        line, column = self.locate(index)
        start = index - column + 1
        stop = self.text.find("\n", start)
        return PasteError(message, line, column, self.text[start : stop if stop >= 0 else len(self.text)])

    def error_at_text(self, message: str) -> PasteError:
        """The error to raise for the text as a whole: at its first visible character."""
        return self.error(len(self.text) - len(self.text.lstrip()) if self.text.strip() else 0, message)
