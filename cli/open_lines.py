"""Short lines that several processes make: what depends on the lines before them, which others may have shown, is left
open by those who make them, and filled in by the one who writes them all.

A line is open between `_LINE` and its end: what it begins with, what is said, and findings. Anywhere, what is between
two `_NAME` is a node whose short name isn't known yet. Nothing that is shown has such characters (`output.text.safe`).
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from zdissect.dissection import Item
from zdissect.engine.messages import Row
from zdissect.output.ends import Ends
from zdissect.output.line_start import LineStart
from zdissect.records import Endpoint, Frame

if TYPE_CHECKING:
    from .line_form import LineForm

_LINE, _PART, _FOUND, _SILENT, _NAME = "\1\2\3\4\5"
_NAMES = re.compile(f"{_NAME}([^{_NAME}]*){_NAME}")


class OpenEnds(Ends):
    """Names nodes by what they are."""

    def __init__(self) -> None:
        super().__init__()
        self.new: list[str] = []
        """What wasn't named before. It may never be shown, but others can't have its name any more."""
        self.begun = 0
        """How many conversations there were since that was told last."""
        self.released = False
        """Whether a name may be another's now, which depends on who else needs it, in all processes."""

    def column(self, item: Item, row: Row | None) -> tuple[str, bool]:
        self.begun += bool(item.flow.id) and item.flow.id not in self.known
        return super().column(item, row)

    def _release(self, named: Iterable[str | Endpoint]) -> None:
        self.released = True
        super()._release(named)

    def of_node(self, zid: str) -> str:
        return self.named(zid, zid)

    def of_end(self, end: Endpoint) -> str:
        return self.named(end, f"{end.address.hex()}:{end.port}")

    def named(self, what: str | Endpoint, whole: str) -> str:
        """The open name of a node."""
        if what not in self.short:
            self.short[what] = f"{_NAME}{whole}{_NAME}"
            self.new.append(self.short[what])
        return self.short[what]


class OpenStart(LineStart):
    """Says what it would be made of.

    Args:
        names: Those that are in it.
    """

    def __init__(self, start: LineStart, names: OpenEnds) -> None:
        super().__init__(start.style, start.times, start.exact)
        self.names = names

    def text(self, frame: Frame, direction: int, ends: str) -> tuple[str, int]:
        if frame is not self.frame:
            self.frame = frame
            self.time = _PART.join((ascii(frame.source), str(frame.number), str(frame.ts_ns), self.times.text(frame)))
        names = self.names
        new = f"{-1 if names.released else names.begun}{''.join(names.new)}"
        names.begun, names.new = 0, []
        return _PART.join((self.time, str(direction), ends, new)), 0


def open_line(start: tuple[str, int], said: str, found: str) -> str:
    """A line whose start is open, so that it isn't known how much room there is for what is said."""
    return f"{_LINE}{start[0]}{_FOUND}{said}{_FOUND}{found}\n"


def silent(start: tuple[str, int]) -> str:
    """Stands for a batch without lines: those after it begin as if it had one."""
    return f"{_LINE}{start[0]}{_SILENT}\n"


class Filled:
    """Fills in what was left open, in the order of the output.

    Args:
        form: Puts lines together; it is left as it is.
    """

    def __init__(self, form: "LineForm") -> None:
        self.line = form.line
        self.ends = Ends()
        self.start = LineStart(form.style, self, form.start.exact)  # times are told
        self.names: dict[str, str] = {}
        self.columns: dict[str, str] = {}
        """Who speaks to whom, by what was left open of it."""
        self.conversations = 0
        self.open, self.begun, self.time = "", ("", 0), ""

    def text(self, _: Frame) -> str:
        """The time of a frame, as it was told."""
        return self.time

    def fill(self, text: str) -> str:
        """A text, with all that it left open. Raises UnsoundSplit where it takes one process to know that."""
        before, *lines = text.split(_LINE)
        out = [self.named(before)]
        for one in lines:
            line, _, rest = one.partition("\n")
            if line[-1] == _SILENT:
                self.begin(line[:-1])
            else:
                start, said, found = line.split(_FOUND)
                out.append(self.line(self.begin(start), said, found))
            if rest:
                out.append(self.named(rest))
        return "".join(out)

    def begin(self, open_start: str) -> tuple[str, int]:
        """What a line begins with."""
        if open_start != self.open:
            self.open = open_start
            source, number, ts_ns, self.time, direction, ends, new = open_start.split(_PART)
            begun = int(new.partition(_NAME)[0])
            self.conversations += begun
            if begun < 0 or self.conversations > self.ends.most:
                from zdissect.parallel.group_frames import UnsoundSplit  # only here: most files are small

                raise UnsoundSplit("so many conversations, or nodes in one, that names would have been forgotten")
            self.named(new)
            if ends not in self.columns:
                self.columns[ends] = self.named(ends)
            frame = Frame(source, int(number), int(ts_ns), 0, 0, b"")
            self.begun = self.start.text(frame, int(direction), self.columns[ends])
        return self.begun

    def named(self, text: str) -> str:
        """A text with the short names of nodes."""
        return _NAMES.sub(self.name, text) if _NAME in text else text

    def name(self, found: "re.Match[str]") -> str:
        """The short name of a node."""
        whole = found[1]
        if whole not in self.names:
            address, colon, port = whole.rpartition(":")
            ends = self.ends
            self.names[whole] = (
                ends.of_end(Endpoint(bytes.fromhex(address), int(port))) if colon else ends.of_node(whole)
            )
        return self.names[whole]
