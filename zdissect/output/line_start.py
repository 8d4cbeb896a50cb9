"""What a line of `-T line` begins with: frame number, time, and who speaks to whom, each in its column."""

from typing import Protocol

from zdissect.output.style import Style
from zdissect.records import Frame

_WIDEST = 16
"""So wide the column of the ends may grow."""


class Times(Protocol):
    """What has times of frames as text."""

    def text(self, frame: Frame) -> str:
        """The time of a frame that is shown."""


class LineStart:
    """Makes it. With colour, the digits of a time stand out that differ from the time before.

    Args:
        exact: Whether times have nanoseconds, from the first one on that does.
    """

    def __init__(self, style: Style, times: Times, exact: bool) -> None:
        self.style = style
        self.times = times
        self.digits = 6
        self.exact = exact
        self.width = 10
        self.frame: Frame | None = None
        self.time = ""
        self.size = 0
        self.before = ""

    def text(self, frame: Frame, direction: int, ends: str) -> tuple[str, int]:
        """(the columns of what a frame brings, how wide they are); `ends` is empty for a frame of no conversation."""
        style = self.style
        if frame is not self.frame and (self.frame is None or frame[:2] != self.frame[:2]):
            self.frame = frame
            self.time, self.size = self.timed(frame)
        if not ends:
            return self.time, self.size
        if len(ends) > self.width:
            self.width = min(len(ends), _WIDEST)
        column = f"{ends:<{self.width}}  "
        colour = style.back if direction else style.forth
        return f"{self.time}{colour}{column}{style.end}", self.size + len(column)

    def timed(self, frame: Frame) -> tuple[str, int]:
        """(frame number and time, how wide they are)."""
        text = self.times.text(frame)
        if frame.ts_ns % 1000 and self.exact:
            self.digits = 9
        if text[-10:-9] == "." and self.digits == 6:
            text = text[:-3]
        elif text[-7:-6] == "." and self.digits == 9:
            text += "000"
        text = f"{text:>{self.digits + 4}}"
        style, number = self.style, f"{frame.number:>5} "
        size = len(number) + len(text) + 1
        if not style.dim:
            return f"{number}{text} ", size
        same = next((at for at, (new, old) in enumerate(zip(text, self.before, strict=False)) if new != old), 0)
        self.before = text
        if not same:
            return f"{number}{text} ", size
        return f"{number}{style.dim}{text[:same]}{style.end}{text[same:]} ", size
