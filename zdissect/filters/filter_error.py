"""What is wrong with a filter, and where."""

from collections.abc import Iterable


class FilterError(ValueError):
    """A filter can't be understood, or can't be answered in the way that was asked for.

    Attributes:
        text: The filter; empty if the error isn't about a place in it.
        column: Where in it the fault is, characters from 0.
        message: What is wrong there, and what was expected.
        hint: What may have been meant; empty if nothing is near.
    """

    def __init__(self, text: str, column: int, message: str, hint: str = "") -> None:
        super().__init__(text, column, message, hint)
        self.text = text
        self.column = column
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """The fault; below it the part of the filter around it, with a caret under the place."""
        what = f"{self.message}; {self.hint}" if self.hint else self.message
        if not self.text:
            return what
        start = max(0, self.column - _AROUND)
        shown = "".join(char if char.isprintable() else " " for char in self.text[start : self.column + _AROUND])
        return f"{what}\n  {shown}\n  {' ' * (self.column - start)}^"


_AROUND = 60
"""Characters that are shown before and after the place."""


class Fault(ValueError):
    """A fault in a part of a filter, which doesn't know where that part stands."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint


def nearest(word: str, known: Iterable[str], most: int = 3) -> str:
    """`did you mean ...?`, or nothing: names that end in the same part, such as `put.payload` for `tcp.payload`, then
    those that are spelt alike.
    """
    from difflib import SequenceMatcher, get_close_matches  # only here: most filters have no such fault

    low = {one.lower(): one for one in known}
    low |= {one.removeprefix("zenoh."): full for one, full in list(low.items())}
    asked = word.lower().removeprefix("zenoh.")
    last = asked.rpartition(".")[2]
    same_end = [one for one in low if one.rpartition(".")[2] == last]
    same_end.sort(key=lambda one: SequenceMatcher(None, one, asked).ratio(), reverse=True)
    alike = get_close_matches(word.lower(), low, n=2 * most, cutoff=0.6)
    close = dict.fromkeys(low[one] for one in (*same_end[: 2 * most], *alike))
    return f"did you mean {', '.join(list(close)[:most])}?" if close else ""
