"""`-T line`: one line per message, in columns. `--long` has a form of its own in forms.py."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from zdissect.dissection import Dissection, Item, Notice, Skip, findings
from zdissect.engine.messages import Row
from zdissect.grammar.rules import RULES
from zdissect.output.cutting import cells, cut
from zdissect.output.ends import MOST_LIVE, Ends
from zdissect.output.line_start import LineStart
from zdissect.output.short_line import ShortLine, folded_frames
from zdissect.output.text import count, hexdump, safe
from zdissect.output.time_formats import FrameTimes
from zdissect.records import Frame

from .common import terminal_columns
from .counting_form import Chosen, CountingForm, arrow
from .open_lines import Filled, OpenEnds, OpenStart, open_line, silent
from .options import DisplayOptions
from .ros_definitions import ros_words

if TYPE_CHECKING:
    from zdissect.vector.usual_batches import UsualBatches

_WIDE = 100
"""So many columns of a terminal leave room for aligned keys, and for nanoseconds."""
_LEAST = 20
"""So many columns are left to what a message says, however long its findings are."""


class LineForm(CountingForm):
    """Folds a FRAME into its first message, introduces each conversation, and cuts lines at the edge of a terminal."""

    def __init__(self, display: DisplayOptions) -> None:
        times = FrameTimes(display.times)
        super().__init__(times)
        self.style = display.style
        self.brief = display.brief
        self.dump = display.dump
        self.takes_columns = not self.dump
        self.columns = terminal_columns()
        self.open = False
        """Whether lines are left open, to be filled in where it is known what was shown before."""
        self.ends: Ends = Ends()
        wide = self.columns is None or self.columns >= _WIDE
        self.start = LineStart(self.style, times, exact=wide)
        self.message = ShortLine(self.style, display.payload_bytes, wide, ros_words(display))

    def remember_little(self) -> None:
        self.ends.most = MOST_LIVE

    def resume(self) -> None:
        self.open, self.ends = True, OpenEnds()
        self.start = OpenStart(self.start, self.ends)

    def filling(self) -> Callable[[str], str]:
        return Filled(self).fill

    def show(self, item: Item, chosen: Chosen = None) -> str:
        self.count(item, chosen)
        if isinstance(item, Dissection):
            return self.dissection(item, chosen)
        column, introduced = self.ends.column(item, None)
        text, code = (item.text, item.code) if isinstance(item, Notice) else _skipped(item)
        severity = RULES[code].severity if code else ""
        colour = self.style.severity(severity) if code else self.style.derived
        said = "" if introduced else arrow(item)
        found = self.message.painted(colour, f"[{severity}: {safe(text)}]" if severity else f"[{safe(text)}]")
        return self.line(self.start.text(item.frame, item.direction, column), said, found)

    def texts(self, usual: "UsualBatches") -> Iterator[str]:
        ways = [usual.item(way) for way in range(len(usual.ways))]
        said, counts = self.message.texts(usual, self.brief)
        firsts = [usual.kinds[0][kind].template.row for kind in usual.kinds[1][usual.first].tolist()]
        for frame, way, first, lines_of in zip(usual.frames, usual.way.tolist(), firsts, counts, strict=True):
            item = ways[way]
            start, lines, introduced = self.begin(item, frame, first)
            if introduced:
                lines += [self.line(start, text, "") for text in islice(said, lines_of)]
            else:
                lines += [self.line(start, f"{text}  {arrow(item)}", "") for text in islice(said, lines_of)]
            self.messages += 1
            yield self.joined(lines, start)

    def begin(self, item: Dissection, frame: Frame, first: Row | None) -> tuple[tuple[str, int], list[str], bool]:
        """What lines of a batch begin with, the line before them that introduces its conversation, if one does, and
        whether it is introduced now; `first` is the row of its first message."""
        ends, lines = self.ends, []
        column, introduced = ends.column(item, first)
        start = self.start.text(frame, item.direction, column)
        if not introduced and first is not None and (text := ends.introduction(item, first)):
            lines.append(f"{frame.number:>5} {self.style.frame}─ {text}{self.style.end}\n")
            introduced = True
        return start, lines, introduced

    def dissection(self, item: Dissection, chosen: Chosen) -> str:
        """The lines of a batch or datagram."""
        messages = item.messages
        rows = [message.shared for message in messages]
        start, lines, introduced = self.begin(item, item.frame, rows[0] if rows else None)
        data = item.buffer.data
        for place, around in folded_frames(rows, chosen):
            row = rows[place]
            found = row.get("findings", ())
            if around >= 0 and "findings" in rows[around]:
                found = [*rows[around]["findings"], *found]
            if self.brief and row["message"] == "KEEP_ALIVE" and not found:
                continue
            if row["message"] is None:
                said = self.message.undecoded(data)
            else:
                said = self.message.text(messages[place], messages[around] if around >= 0 else None)
            if not introduced:
                said += f"  {arrow(item)}"
            lines.append(self.line(start, said, self.message.findings(found) if found else ""))
        if not rows and item.tape.remarks:  # one without any is followed by what is packed in it
            made = [
                {"severity": rule.severity, "code": rule.code, "message": text} for rule, text, *_ in findings(item)
            ]
            lines.append(self.line(start, count(len(data)), self.message.findings(made)))
        if self.dump:
            lines.append(f"{hexdump(data, '      ')}\n")
        return self.joined(lines, start)

    def joined(self, lines: list[str], start: tuple[str, int]) -> str:
        """The lines of a batch; where it has none, they may have to say what they would have begun with."""
        return "".join(lines) or (silent(start) if self.open else "")

    def line(self, start: tuple[str, int], said: str, found: str) -> str:
        """A line. Findings are never cut off: what is said before them is."""
        if self.open:
            return open_line(start, said, found)
        if self.columns is not None:
            room = self.columns - start[1]
            tail = 2 + cells(found) if found else 0
            said = cut(said, max(room - tail, min(room, _LEAST)))
        if found:
            return f"{start[0]}{said}{'  ' if said else ''}{found}\n"
        return f"{start[0]}{said}".rstrip() + "\n"


def _skipped(item: Skip) -> tuple[str, str]:
    return f"{count(item.size)}: {item.reason}", item.code
