"""The forms of output: what a dissection becomes."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import compress, islice
from typing import TYPE_CHECKING, Protocol, TypeVar

from zdissect.dissection import Dissection, Item, Notice, Skip
from zdissect.output.documents import DocumentWriter
from zdissect.output.jsonl import JsonlWriter
from zdissect.output.line import said, summary, words
from zdissect.output.text import count, hexdump
from zdissect.output.time_formats import FrameTimes
from zdissect.records import Frame

from .counting_form import Chosen, CountingForm, arrow, bracketed
from .line_form import LineForm
from .options import DisplayOptions
from .ros_definitions import ros_words
from .tree_form import TreeForm

if TYPE_CHECKING:
    from zdissect.filters.name_values import NameValues
    from zdissect.vector.usual_batches import UsualBatches

    from .answers_ahead import LaterAnswers

Of = TypeVar("Of")


class Form(Protocol):
    """Turns items into text."""

    messages: int
    findings: Counter[str]
    times: FrameTimes | None
    """How it writes times, if it does."""
    ahead: "LaterAnswers | None"
    """Knows what becomes of requests, for forms that say so; None where the capture is read once."""
    values: "NameValues | None"
    """Reads the values that it writes, if they are only those of some names."""

    @property
    def starts(self) -> tuple[str, str] | None:
        """What a text that isn't the first begins with, and the first one instead; None: texts depend on all before."""

    def remember_little(self) -> None:
        """The capture has no end: what is remembered of its conversations must be bounded."""

    def resume(self) -> None:
        """What it shows next isn't the first text, nor does it go on from the one before."""

    def filling(self) -> Callable[[str], str] | None:
        """What fills in, in the order of the output, what texts leave open that are shown after `resume`, as they
        depend on those before; None: nothing is left open."""

    def left_out(self) -> str:
        """The head that was left out of what was shown last, as it has that of the one before."""

    def show(self, item: Item, chosen: Chosen = None) -> str:
        """The text of one item, with its line ends; of its messages only those that are chosen."""

    @property
    def takes_columns(self) -> bool:
        """Whether `texts` can be asked for, instead of `show`."""

    def texts(self, usual: "UsualBatches") -> Iterator[str]:
        """The text of each of the batches, all messages of which are shown; between two, other items may be shown."""

    def end(self) -> str:
        """What comes after the last item."""


class LongLineForm(CountingForm):
    """`-T line --long`."""

    def __init__(self, display: DisplayOptions) -> None:
        times = FrameTimes(display.times)
        super().__init__(times)
        self.time = times.text
        self.style = display.style
        self.limit = display.payload_bytes
        self.dump = display.dump
        self.takes_columns = not self.dump

    def show(self, item: Item, chosen: Chosen = None) -> str:
        self.count(item, chosen)
        style, start = self.style, self.start(item.frame, arrow(item))
        if isinstance(item, Notice):
            return f"{start}{bracketed(item, style)}\n"
        if isinstance(item, Skip):
            return f"{start}{style.warning}[{count(item.size)}: {item.reason}]{style.end}\n"
        lines = [
            f"{start}{summary(message.row, style, self.limit, item.buffer.data)}\n"
            for message in of_chosen(item.messages, chosen)
        ]
        if self.dump:
            lines.append(f"{hexdump(item.buffer.data, '      ')}\n")
        return "".join(lines)

    def texts(self, usual: "UsualBatches") -> Iterator[str]:
        kinds, kind = usual.kinds
        known = [words(one.template.row, self.style) for one in kinds]
        ends = [arrow(usual.item(way)) for way in range(len(usual.ways))]
        columns = zip(kind.tolist(), usual.column("sn"), usual.column("payload"), strict=True)
        for frame, way, size in zip(usual.frames, usual.way.tolist(), usual.counts.tolist(), strict=True):
            start = self.start(frame, ends[way])
            self.messages += 1
            yield "".join(
                [f"{start}{said(known[one], sn, data, self.limit)}\n" for one, sn, data in islice(columns, size)]
            )

    def start(self, frame: Frame, ends: str) -> str:
        """What a line begins with."""
        return (
            f"{self.style.offset}{frame.number:>5}  {self.time(frame)}{self.style.end}  {f'{ends}  ' if ends else ''}"
        )


class JsonlForm(CountingForm):
    """`-T jsonl`."""

    def __init__(self) -> None:
        super().__init__()
        self.writer = JsonlWriter()

    def show(self, item: Item, chosen: Chosen = None) -> str:
        self.count(item, chosen)
        if not isinstance(item, Dissection):  # a line per message
            return ""
        return "".join(of_chosen(self.writer.lines(item), chosen))

    takes_columns = True

    def texts(self, usual: "UsualBatches") -> Iterator[str]:
        for lines in self.writer.texts(usual):
            self.messages += 1
            yield "".join(lines)


class JsonForm(CountingForm):
    """`-T json`: an array of nested documents, one per batch, skipped bytes or notice."""

    starts = (",\n", "[\n")

    def __init__(self, display: DisplayOptions) -> None:
        super().__init__()
        self.ros = ros_words(display)
        self.writer = DocumentWriter(self.ros.telling if self.ros is not None else None)
        self.started = False

    def show(self, item: Item, chosen: Chosen = None) -> str:
        self.count(item, chosen)
        if self.ahead is not None and isinstance(item, Dissection):
            self.ahead.tell(item)
        if self.ros is not None and isinstance(item, Dissection):
            self.ros.tell(item)
        return self.next() + self.writer.document(item, chosen)

    takes_columns = True

    def texts(self, usual: "UsualBatches") -> Iterator[str]:
        for text in self.writer.texts(usual):
            self.messages += 1
            yield self.next() + text

    def next(self) -> str:
        """What stands before a document."""
        start = ",\n" if self.started else "[\n"
        self.started = True
        return start

    def resume(self) -> None:
        self.started = True

    def end(self) -> str:
        return "\n]\n" if self.started else "[]\n"


def of_chosen(rows: list[Of], chosen: Chosen) -> Iterable[Of]:
    """What is made of the messages that are chosen; all, if nothing was."""
    return rows if chosen is None or not rows else compress(rows, chosen)


def make_form(display: DisplayOptions) -> Form:
    """The form that `-T` names; with `--grep`, of what holds its text."""
    form = _form(display)
    if not display.pattern:
        return form
    from .grep import GrepForm  # only here: most don't search

    return GrepForm(form, display.pattern, display.form == "line")


def _form(display: DisplayOptions) -> Form:
    match display.form:
        case "fields" | "csv":
            from .separated_form import SeparatedForm  # only here: it takes all names that there are

            return SeparatedForm(display)
        case "tree":
            return TreeForm(display)
        case "line":
            return LongLineForm(display) if display.long else LineForm(display)
        case "json":
            return JsonForm(display)
    return JsonlForm()
