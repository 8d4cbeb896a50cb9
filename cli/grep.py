"""`--grep TEXT`: of the tree the batches, of lines those that hold a text, which is highlighted."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from zdissect.dissection import Item
from zdissect.output.ends import MOST_LIVE

from .counting_form import Chosen

if TYPE_CHECKING:
    from zdissect.vector.usual_batches import UsualBatches

    from .answers_ahead import LaterAnswers
    from .forms import Form

_ESCAPE = re.compile(r"(\x1b\[[0-9;]*m)")
_REVERSE, _END = "\x1b[7m", "\x1b[27m"
_INTRODUCTION = re.compile(r" *\d+ ─ ")


class GrepForm:
    """A form that leaves out what doesn't hold the text. Only what is shown counts."""

    def __init__(self, form: "Form", text: str, by_line: bool) -> None:
        self.form = form
        self.times = form.times
        self.values = form.values
        self.pattern = re.compile(re.escape(text), re.NOFLAG if any(map(str.isupper, text)) else re.IGNORECASE)
        self.by_line = by_line
        self.messages = 0
        self.findings: Counter[str] = Counter()
        self.introductions: dict[str, str] = {}
        """Of conversations of which nothing was shown yet."""
        self.most: int | None = None
        """So many introductions are kept, the latest ones; None: all."""

    def remember_little(self) -> None:
        self.most = MOST_LIVE
        self.form.remember_little()

    @property
    def ahead(self) -> "LaterAnswers | None":
        """What the form inside knows of what comes later."""
        return self.form.ahead

    @ahead.setter
    def ahead(self, known: "LaterAnswers | None") -> None:
        self.form.ahead = known

    @property
    def starts(self) -> tuple[str, str] | None:
        """How texts of the form inside begin; None if it leaves open what may hold the text."""
        return self.form.starts if self.filling() is None else None

    def filling(self) -> Callable[[str], str] | None:
        return self.form.filling()

    takes_columns = False

    def texts(self, usual: "UsualBatches") -> Iterator[str]:
        raise NotImplementedError

    def resume(self) -> None:
        self.form.resume()

    def left_out(self) -> str:
        return self.form.left_out()

    def show(self, item: Item, chosen: Chosen = None) -> str:
        form: Any = self.form
        form.messages, form.findings = 0, Counter()
        before = getattr(form, "frame", None)
        text = form.show(item, chosen)
        found = self.lines(text, item) if self.by_line else self.block(text)
        if found:
            self.messages += form.messages
            self.findings.update(form.findings)
        elif before is not None or hasattr(form, "frame"):
            form.frame = before  # its head wasn't shown
        return found

    def end(self) -> str:
        return self.form.end()

    def block(self, text: str) -> str:
        """The text of an item, if any of its lines matches."""
        lines = [(line, self.marked(line)) for line in text.splitlines(keepends=True)]
        return "".join(marked or line for line, marked in lines) if any(marked for _, marked in lines) else ""

    def lines(self, text: str, item: Item) -> str:
        """The lines that match; who talks is told before the first one."""
        out = []
        for line in text.splitlines(keepends=True):
            marked = self.marked(line)
            if _INTRODUCTION.match(_ESCAPE.sub("", line)):
                self.introductions[item.flow.id] = line
                if self.most is not None and len(self.introductions) > self.most:
                    del self.introductions[next(iter(self.introductions))]
            elif marked:
                out += [self.introductions.pop(item.flow.id, ""), marked]
        return "".join(out)

    def marked(self, line: str) -> str:
        """A line with the matches highlighted, in a line with colours; empty if there is none."""
        if "\x1b" not in line:
            return line if self.pattern.search(line) else ""
        pieces = _ESCAPE.split(line)  # text and escapes take turns
        places = [match.span() for match in self.pattern.finditer("".join(pieces[::2]))]
        if not places:
            return ""
        out, at = [], 0
        for number, piece in enumerate(pieces):
            if number % 2:
                inside = any(start < at < stop for start, stop in places)
                out.append(piece + _REVERSE if inside else piece)
                continue
            out.append(_highlighted(piece, at, places))
            at += len(piece)
        return "".join(out)


def _highlighted(piece: str, at: int, places: list[tuple[int, int]]) -> str:
    """A piece of a line that starts at `at`, with what is in the places reversed."""
    out, done = [], 0
    for start, stop in places:
        first, last = max(start - at, 0), min(stop - at, len(piece))
        if first < last:
            out += [piece[done:first], _REVERSE, piece[first:last], _END]
            done = last
    return "".join((*out, piece[done:]))
