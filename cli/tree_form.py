"""`-T tree`: the annotated tree of each batch, below a line for its frame."""

from bisect import bisect
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING

import click

from zdissect.dissection import Dissection, Item, Notice, Skip
from zdissect.engine.messages import Row
from zdissect.engine.tape import Span
from zdissect.grammar.batch import STREAM_PREFIX
from zdissect.output.folding import Folds, folded, message_names, messages_called
from zdissect.output.line_stencils import LineStencils
from zdissect.output.painted_dump import dump
from zdissect.output.stencils import AT_ONCE, Stencils
from zdissect.output.text import count, hexdump
from zdissect.output.time_formats import FrameTimes
from zdissect.output.tree import TreeWriter
from zdissect.records import Frame

from .common import nearest, raw_columns
from .counting_form import Chosen, CountingForm, arrow, bracketed
from .options import DisplayOptions
from .ros_definitions import ros_words

if TYPE_CHECKING:
    from zdissect.vector.arrays import Bools
    from zdissect.vector.usual_batches import UsualBatches


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
        self.takes_columns = not paints
        telling = self.ros.telling if self.ros is not None else None
        self.stencils = Stencils(LineStencils(self.tree.fields, self.opened, telling).make)
        self.frame: _Head | None = None
        self.last: tuple[Frame, Item, bool] | None = None
        """What was shown last: its frame, an item of its direction, and whether it has no head."""

    def show(self, item: Item, chosen: Chosen = None) -> str:
        self.count(item, chosen)
        head = self.head(item.frame, item)
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

    def texts(self, usual: "UsualBatches") -> Iterator[str]:
        full, chosen = usual.in_full()
        for some, shown in full.portions(chosen | self.whole, AT_ONCE):
            yield from self.portion(some, shown)

    def portion(self, usual: "UsualBatches", shown: "Bools") -> Iterator[str]:
        """The texts of usual batches that aren't too many; `shown`: which of their messages aren't folded."""
        parts = self.stencils.texts(usual, shown)
        ways = [usual.item(way) for way in range(len(usual.ways))]
        data = usual.bytes(None if self.dump else STREAM_PREFIX)
        columns = (usual.frames, usual.carriers(), data, usual.way.tolist(), usual.first_rows, usual.counts.tolist())
        for frame, frames, held, way, row, messages in zip(*columns, strict=True):
            self.messages += 1
            text = [self.head(frame, ways[way])]
            text += [f"{self.note(note)}\n" for note in _talks(frames, row)]
            lines = "".join(chain.from_iterable(islice(parts, messages)))  # each after a line break
            prefix = usual.framings[way].prefix
            text.append(f"{self.tree.prefix(held[:prefix])}{lines}" if prefix else lines[1:])
            if self.dump:
                text += "\n", hexdump(held, "      ")
            text.append("\n")
            yield "".join(text)

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

    def left_out(self) -> str:
        if self.last is None or not self.last[2]:
            return ""
        frame, item, _ = self.last
        return f"\n{self.line(frame, item)}"

    def head(self, frame: Frame, item: Item) -> str:
        """The line above the first batch of a frame."""
        key = frame.source, frame.number, item.flow.id, item.direction
        before, self.frame = self.frame, key
        self.last = frame, item, key == before
        if key == before:
            return ""
        return self.line(frame, item) if before is None else f"\n{self.line(frame, item)}"

    def line(self, frame: Frame, item: Item) -> str:
        """The line itself."""
        style = self.style
        text = f"Frame {frame.number}  {self.time(frame)}  {arrow(item)}  {stream(item)}".rstrip()
        return f"{style.frame}{text}{style.end}\n"


_Head = tuple[str, int, str, int]
"""What a head stands for: file, frame, conversation, direction."""


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
    return [*out, *_talks(item.frames, item.messages[0].shared if item.messages else {})]


def _talks(frames: tuple[int, ...], row: Row) -> list[str]:
    """The frames of a batch, if there are several, and who talks in its first message, by the row of that."""
    out = [f"from frames {_numbers(frames)}"] if len(frames) > 1 else []
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
