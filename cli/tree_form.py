"""`-T tree`: the annotated tree of each batch, below a line for its frame."""

from bisect import bisect
from functools import lru_cache

import click

from zdissect.dissection import Dissection, Item, Notice, Skip
from zdissect.engine.tape import Span
from zdissect.output.folding import Folds, folded, message_names, messages_called
from zdissect.output.painted_dump import dump
from zdissect.output.text import count
from zdissect.output.time_formats import FrameTimes
from zdissect.output.tree import TreeWriter

from .common import nearest, raw_columns
from .counting_form import Chosen, CountingForm, arrow, bracketed
from .options import DisplayOptions
from .ros_definitions import ros_words


class TreeForm(CountingForm):
    """`-T tree`."""

    starts = ("\n", "")

    def __init__(self, display: DisplayOptions) -> None:
        times = FrameTimes(display.times)
        super().__init__(times)
        self.time = times.text
        self.style = display.style
        paints = display.dump and self.style.end != ""
        self.tree = TreeWriter(self.style, raw_columns(), display.payload_bytes, not display.no_bits, paints)
        self.opened = opened_messages(display.opened)
        self.ros = ros_words(display)
        self.dump = display.dump
        self.whole = display.whole
        self.frame: tuple[str, int, str, int] | None = None

    def show(self, item: Item, chosen: Chosen = None) -> str:
        self.count(item, chosen)
        head = self.head(item)
        style = self.style
        if isinstance(item, Notice):
            return f"{head}      {bracketed(item, style)}\n"
        if isinstance(item, Skip):
            what = f"{count(item.size)} of the stream: {item.reason}"
            return f"{head}{style.warning}      [{what}]{style.end}\n"
        if self.ahead is not None:
            self.ahead.tell(item)
        if self.ros is not None:
            self.ros.tell(item)
        lines = [self.note(text) for text in notes(item)]
        lines += self.tree.blocks(item.tape, item.messages, self.folds(item, chosen))
        if self.dump:
            lines.append(dump(item.tape, item.buffer.data, self.style, "      "))
        return head + "\n".join(lines) + "\n"

    def folds(self, item: Dissection, chosen: Chosen) -> Folds | None:
        """What is left of an item's messages; None if all are shown in full."""
        opened = self.opened
        if chosen is None or self.whole or not item.messages:
            return folded(item.tape.spans, lambda _, span: span[0].path in opened) if opened else None
        starts = [message.first for message in item.messages]

        def unfolds(index: int, span: Span) -> bool:
            return chosen[bisect(starts, index) - 1] and (not opened or span[0].path in opened)

        return folded(item.tape.spans, unfolds)

    def note(self, text: str) -> str:
        """A line about a whole batch."""
        return f"{self.style.derived}      [{text}]{self.style.end}"

    def resume(self) -> None:
        self.frame = ("", 0, "", 0)

    def left_out(self, item: Item) -> str:
        return f"\n{self.line(item)}" if _head_of(item) == self.frame else ""

    def head(self, item: Item) -> str:
        """The line above the first batch of a frame."""
        key = _head_of(item)
        if key == self.frame:
            return ""
        first, self.frame = self.frame is None, key
        return self.line(item) if first else f"\n{self.line(item)}"

    def line(self, item: Item) -> str:
        """The line itself."""
        frame, style = item.frame, self.style
        text = f"Frame {frame.number}  {self.time(frame)}  {arrow(item)}  {stream(item)}".rstrip()
        return f"{style.frame}{text}{style.end}\n"


def _head_of(item: Item) -> tuple[str, int, str, int]:
    """What a head stands for."""
    return item.frame.source, item.frame.number, item.flow.id, item.direction


def opened_messages(lists: tuple[str, ...]) -> frozenset[str]:
    """The fields of the messages that `-O` names. Raises click.BadParameter for a name that no message has."""
    out: set[str] = set()
    for name in (name for one in lists for name in one.split(",")):
        try:
            out |= messages_called(name)
        except KeyError:
            hint = nearest(name, message_names())
            raise click.BadParameter(f"no message is called {name!r}{hint}", param_hint="-O") from None
    return frozenset(out)


def stream(item: Item) -> str:
    """`tcp.stream 0`; empty for a frame of no conversation."""
    if not item.flow.id:
        return ""
    link, number = item.flow.id.split(".")
    return f"{link}.stream {number}"


def notes(item: Dissection) -> list[str]:
    """What the tree says above a batch: who talks, and where the bytes came from."""
    out = []
    if item.origin:
        source = item.origin.removeprefix(item.buffer.name).strip()
        out.append(f"{item.buffer.name}: {count(len(item.buffer.data))} {source}")
    if len(item.frames) > 1:
        out.append(f"from frames {_numbers(item.frames)}")
    row = item.messages[0].shared if item.messages else {}
    if ends := _nodes(row.get("src_role"), row.get("src_zid"), row.get("dst_role"), row.get("dst_zid")):
        out.append(ends)
    return out


@lru_cache(maxsize=1024)  # few nodes say much
def _nodes(src_role: str | None, src_zid: str | None, dst_role: str | None, dst_zid: str | None) -> str:
    """Who talks to whom, as far as that is known."""
    return " > ".join(f"{role or ''} {zid}".strip() for role, zid in ((src_role, src_zid), (dst_role, dst_zid)) if zid)


def _numbers(frames: tuple[int, ...]) -> str:
    """Frame numbers, a long list shortened."""
    if len(frames) > 8:
        return f"{', '.join(map(str, frames[:3]))} ... {frames[-1]} ({len(frames)} frames)"
    return ", ".join(map(str, frames))
