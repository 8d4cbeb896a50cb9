"""Blocks to the items of their frames, in the order of the capture: what feeding each frame alone would give."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from zdissect.dissection import ITSELF, OWN, Dissection, InTurn, Item, Of, Ranked, RankedAs
from zdissect.engine.lazy_messages import LazyMessage, LazyTape
from zdissect.engine.messages import DecodedMessage
from zdissect.engine.tape import Buffer, Origin
from zdissect.engine.templates import CELL, SN, Cell
from zdissect.flow.framing import STREAM
from zdissect.pipeline import Pipeline
from zdissect.records import Frame
from zdissect.vector.feed import BlockFeed, Progress
from zdissect.vector.frame_blocks import block_of, blocks, of_next
from zdissect.vector.runs import UsualRun
from zdissect.vector.taken_runs import TakenRuns
from zdissect.vector.usual_batches import UsualBatches

Show = Callable[[UsualBatches], Iterator[Of]]
"""What is made of usual batches, all of whose messages have templates: something for each."""


class BlockItems:
    """Takes what a block gives; `frames` puts it in order."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.runs: list[UsualRun] = []
        self.events: dict[int, list[Item]] = {}
        """What batches complete that aren't usual."""
        self.before: dict[int, Ranked] = {}
        """By frame: what comes before its batches..."""
        self.after: dict[int, Ranked] = {}
        """... and what comes after them, or instead."""
        self.moments: dict[int, list[tuple[Any, Ranked]]] = {}
        """By frame: what comes before it, of a group of sessions."""

    def items(self, frame: int, items: list[Item], batch: int = -1) -> None:
        """Takes what a frame of the block completes."""
        if batch >= 0:
            self.events[batch] = items
            _complete(items)
        else:
            self.ranked(frame, [(ITSELF, items)])

    def ranked(self, frame: int, ranked: Ranked) -> None:
        """Takes what a frame brings that isn't plain, or at which time has passed."""
        for rank, items in ranked:
            where = self.before if rank[0] < OWN else self.after
            where.setdefault(frame, []).append((rank, items))

    def moment(self, frame: int, moment: Any, ranked: Ranked) -> None:
        """Takes what a group of sessions learns of others before a frame."""
        self.moments.setdefault(frame, []).append((moment, ranked))

    def run(self, run: UsualRun) -> None:
        """Takes usual messages."""
        self.runs.append(run)

    def all(self, show: Show[Of] | None = None) -> Iterator[tuple[Any, RankedAs[Of]]]:
        """The frames of the block, and the moments between them, each with what it brings.

        Args:
            show: What usual batches become, where that is possible; None: dissections, as all others.
        """
        progress, before, after = self.progress, self.before, self.after
        counts = np.bincount(progress.batches.frame, minlength=len(progress.block.frames)).tolist()
        batches = self.batches(show)
        for index, (frame, count) in enumerate(zip(progress.block.frames, counts, strict=True)):
            if index in self.moments:
                yield from self.moments[index]
            ranked: RankedAs[Of] = [(ITSELF, [*chain.from_iterable(islice(batches, count))])]
            if index in before or index in after:
                ranked = [*before.get(index, ()), *ranked, *after.get(index, ())]
            yield frame, ranked
        yield from self.moments.get(len(progress.block.frames), ())

    def batches(self, show: Show[Of] | None) -> Iterator[Sequence[Item | InTurn[Of]]]:
        """What each batch completes."""
        runs = TakenRuns(self.progress, self.progress.rows, self.runs)
        alike = runs.alike
        rest = dissections(UsualBatches.of(runs, runs.usual if show is None else runs.usual & ~alike))
        shown = (InTurn(show(UsualBatches.of(runs, alike))),) if show is not None and alike.any() else None
        for batch, (is_usual, is_alike) in enumerate(zip(runs.usual.tolist(), alike.tolist(), strict=True)):
            if not is_usual:
                yield self.events.get(batch, ())
            elif is_alike and shown is not None:
                yield shown
            else:
                yield (next(rest),)


def dissections(usual: UsualBatches) -> Iterator[Dissection]:
    """Usual batches as dissections."""
    block, runs, data, prefix = usual.block, usual.runs, usual.data, STREAM.prefix
    rows = map(runs.rows.__getitem__, usual.row.tolist())
    cells = zip(rows, *(usual.column(name) for name in CELL), strict=True)
    columns = (
        usual.batches, block.batches.start[usual.batches], block.batches.stop[usual.batches], usual.way,
        block.front.offsets()[usual.batches], usual.counts, *usual.places(), runs.alike[usual.batches],
    )  # fmt: skip
    each = zip(usual.frames, *(column.tolist() for column in columns), strict=True)
    for frame, batch, start, stop, way, offset, count, index, number, is_alike in each:
        flow, direction = usual.ways[way]
        carrying: tuple[int, ...]
        if offset >= 0:
            buffer, carrying = Buffer("tcp", data[start:stop], [Origin(0, frame[1], offset)]), (frame[1],)
        else:
            buffer, carrying = block.front.buffer(batch)
        tape, messages = (_alike if is_alike else _mixed)(LazyTape(buffer.data, prefix), islice(cells, count))
        yield Dissection(frame, carrying, flow, direction, buffer, tape, STREAM, "", messages, (index, number))


def _complete(items: list[Item]) -> None:
    """Makes the rows of KEEP_ALIVEs: forms of output take messages with a template to have a sequence number."""
    for item in items:
        for message in item.messages if isinstance(item, Dissection) else ():
            if message.template is not None and message.cell[SN] is None:
                message.row  # noqa: B018


def _alike(tape: LazyTape, cells: Iterable[Cell]) -> tuple[LazyTape, list[DecodedMessage]]:
    """The tape and the messages of a batch."""
    return tape, [LazyMessage(tape, number, cell) for number, cell in enumerate(cells)]


def _mixed(tape: LazyTape, cells: Iterable[Cell]) -> tuple[LazyTape, list[DecodedMessage]]:
    """The same, where some messages have rows of their own: they have a tape already; or no sequence number."""
    found = [cell[0] if isinstance(cell[0], LazyMessage) else cell for cell in cells]
    tape = next((one.tape for one in found if isinstance(one, LazyMessage)), tape)
    messages: list[DecodedMessage] = []
    for number, one in enumerate(found):
        if isinstance(one, tuple):
            one = LazyMessage(tape, number, one if one[SN] is not None else one[0].complete(one))
        messages.append(one)
    return tape, messages


def ranked_in_blocks(
    pipeline: Any, items: Iterable[Any], show: Show[Of] | None = None
) -> Iterator[tuple[list[Any], Iterable[tuple[Any, RankedAs[Of]]]]]:
    """Feeds frames to a pipeline, or frames and moments to that of a group: (block, what each of it brings).

    All of a block has been fed when it is given. What it brings is to be taken before the next one.

    Args:
        show: What usual batches become, see `BlockItems.all`.
    """
    feed = BlockFeed(pipeline)
    for some in blocks(items, feed.length):
        yield some, ranked_of(feed, some, show)


def ranked_of(feed: BlockFeed, some: list[Any], show: Show[Of] | None = None) -> Iterable[tuple[Any, RankedAs[Of]]]:
    """Feeds what is in a block; what each of it brings, to be taken before more is fed; `show` as above."""
    block = block_of(feed.pipeline, some)
    if block is None:
        return list(_singly(feed.pipeline, some))
    progress = feed.read(block)
    found = BlockItems(progress)
    progress.go(found)
    return found.all(show)


def _singly(pipeline: Any, items: list[Any]) -> Iterator[tuple[Any, Ranked]]:
    """Feeds frames, and moments of a group, one by one."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        if isinstance(item, Frame):
            yield item, pipeline.ranked(item)
        elif of_next(item, following):
            pipeline.before(item)
        else:
            yield item, pipeline.elsewhere(item)


def fed_in_blocks(
    pipeline: Pipeline, frames: Iterable[Frame], show: Show[Of] | None = None
) -> Iterator[tuple[Frame, Sequence[Item | InTurn[Of]]]]:
    """Feeds frames to a pipeline in blocks: each frame, and what it completes; `show` as above."""
    for _, brought in ranked_in_blocks(pipeline, frames, show):
        for frame, ranked in brought:
            yield frame, ranked[0][1] if len(ranked) == 1 else [item for _, items in ranked for item in items]
