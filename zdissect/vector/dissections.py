"""Blocks to the items of their frames, in the order of the capture: what feeding each frame alone would give."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from zdissect.dissection import (
    ITSELF,
    OWN,
    Dissection,
    InTurn,
    Item,
    Of,
    Rank,
    Ranked,
    RankedAs,
    RankedPart,
    memory_of,
)
from zdissect.engine.lazy_messages import LazyMessage, LazyTape
from zdissect.engine.messages import DecodedMessage
from zdissect.engine.tape import Buffer, Origin
from zdissect.engine.templates import CELL, Cell
from zdissect.records import Frame
from zdissect.vector.feed import BlockFeed, Progress
from zdissect.vector.frame_blocks import block_of, blocks, of_next
from zdissect.vector.runs import Step, TakenRuns, UsualRun
from zdissect.vector.usual_batches import UsualBatches

Show = Callable[[UsualBatches], Iterator[Of]]
"""What is made of usual batches, all of whose messages have templates: something for each."""


MOST_HELD = 8 << 20
"""Memory of items of a block, besides those on arrays, from which on they are given before all of it is fed..."""
MOST_WHOLE = 256 << 20
"""... and where they can't be."""


class BlockItems:
    """Takes what a block gives; `up_to` puts it in order."""

    def __init__(self, progress: Progress, most: int) -> None:
        self.progress, self.most = progress, most
        self.runs: list[UsualRun] = []
        self.events: dict[int, list[Item]] = {}
        """What batches complete that aren't usual."""
        self.before: dict[int, Ranked] = {}
        """By frame: what comes before its batches..."""
        self.after: dict[int, Ranked] = {}
        """... and what comes after them, or instead."""
        self.moments: dict[int, list[tuple[Any, Ranked]]] = {}
        """By frame: what comes before it, of a group of sessions."""
        self.given = 0
        """So many frames have been given."""
        self.held = 0
        """The memory of items that haven't."""

    @property
    def full(self) -> bool:
        """Whether it is time to give what there is."""
        return self.held >= self.most

    def items(self, frame: int, items: list[Item], batch: int = -1) -> None:
        """Takes what a frame of the block completes."""
        if batch >= 0:
            self.events[batch] = items
            self.held += sum(map(memory_of, items))
        else:
            self.ranked(frame, [(ITSELF, items)])

    def ranked(self, frame: int, ranked: Ranked) -> None:
        """Takes what a frame brings that isn't plain, or at which time has passed."""
        for rank, items in ranked:
            self.held += sum(map(memory_of, items))
            where = self.before if rank[0] < OWN else self.after
            where.setdefault(frame, []).append((rank, items))

    def moment(self, frame: int, moment: Any, ranked: Ranked) -> None:
        """Takes what a group of sessions learns of others before a frame."""
        self.moments.setdefault(frame, []).append((moment, ranked))

    def run(self, run: UsualRun) -> None:
        """Takes usual messages."""
        self.runs.append(run)

    def up_to(self, stop: int, show: Show[Of] | None = None) -> Iterator[tuple[Any, RankedAs[Of]]]:
        """The frames of the block before one, from those on that were given last, and the moments between them, each
        with what it brings.

        Args:
            stop: The index of that frame; of all before it, everything has been taken.
            show: What usual batches become, where that is possible; None: dissections, as all others.
        """
        progress, before, after, first = self.progress, self.before, self.after, self.given
        frames, of_batch = progress.block.frames, progress.batches.frame
        edges = np.searchsorted(of_batch, np.arange(first, stop + 1))
        batches = self.batches(int(edges[0]), int(edges[-1]), show)
        for index, count in enumerate(np.diff(edges).tolist(), first):
            if index in self.moments:
                yield from self.moments.pop(index)
            ranked: RankedAs[Of] = [(ITSELF, [*chain.from_iterable(islice(batches, count))])]
            if index in before or index in after:
                ranked = [*before.pop(index, ()), *ranked, *after.pop(index, ())]
            yield frames[index], ranked
        if stop == len(frames):
            yield from self.moments.get(stop, ())
        self.given, self.held = stop, 0

    def going_on(self, frame: int, rest: Iterator[RankedPart]) -> Iterator[RankedPart]:
        """What a frame brings that isn't plain, of which all before it were given.

        Args:
            rest: What it brings besides what was taken, made as it is given.
        """
        self.given, self.held = frame + 1, 0
        yield from (*self.before.pop(frame, ()), *self.after.pop(frame, ()))
        yield from rest

    def batches(self, first: int, stop: int, show: Show[Of] | None) -> Iterator[Sequence[Item | InTurn[Of]]]:
        """What each batch from the `first` up to `stop` completes."""
        runs = TakenRuns(self.progress, self.progress.rows, self.runs)
        runs.usual[:first] = runs.usual[stop:] = False
        alike = runs.alike
        rest = dissections(UsualBatches.of(runs, runs.usual if show is None else runs.usual & ~alike))
        shown = (InTurn(show(UsualBatches.of(runs, alike))),) if show is not None and alike.any() else None
        each = zip(runs.usual[first:stop].tolist(), alike[first:stop].tolist(), strict=True)
        for batch, (is_usual, is_alike) in enumerate(each, first):
            if not is_usual:
                yield self.events.pop(batch, ())
            elif is_alike and shown is not None:
                yield shown
            else:
                yield (next(rest),)


def dissections(usual: UsualBatches) -> Iterator[Dissection]:
    """Usual batches as dissections."""
    block, runs, data = usual.block, usual.runs, usual.data
    rows = map(runs.rows.__getitem__, usual.row.tolist())
    cells = zip(rows, *(usual.column(name) for name in CELL), strict=True)
    columns = (
        usual.batches, block.batches.start[usual.batches], block.batches.stop[usual.batches], usual.way,
        block.front.offsets()[usual.batches], usual.counts, *usual.places(), runs.alike[usual.batches],
    )  # fmt: skip
    each = zip(usual.frames, *(column.tolist() for column in columns), strict=True)
    for frame, batch, start, stop, way, offset, count, index, number, is_alike in each:
        (flow, direction), framing = usual.ways[way], usual.framings[way]
        carrying: tuple[int, ...]
        if offset >= 0:
            buffer, carrying = Buffer(flow.link, data[start:stop], [Origin(0, frame[1], offset)]), (frame[1],)
        else:
            buffer, carrying = block.front.buffer(batch)
        tape, messages = (_alike if is_alike else _mixed)(LazyTape(buffer.data, framing.prefix), islice(cells, count))
        yield Dissection(frame, carrying, flow, direction, buffer, tape, framing, "", messages, (index, number))


def _alike(tape: LazyTape, cells: Iterable[Cell]) -> tuple[LazyTape, list[DecodedMessage]]:
    """The tape and the messages of a batch."""
    return tape, [LazyMessage(tape, number, cell) for number, cell in enumerate(cells)]


def _mixed(tape: LazyTape, cells: Iterable[Cell]) -> tuple[LazyTape, list[DecodedMessage]]:
    """The same, where some messages have rows of their own, and a tape already."""
    found = [cell[0] if isinstance(cell[0], LazyMessage) else cell for cell in cells]
    tape = next(one.tape for one in found if isinstance(one, LazyMessage))
    return tape, [LazyMessage(tape, number, one) if isinstance(one, tuple) else one for number, one in enumerate(found)]


Brought = Iterable[tuple[Any, Iterable[tuple[Rank, Sequence[Item | InTurn[Of]]]]]]
"""Frames, and moments of a group, each with what it brings, in parts."""


class TooMuch(Exception):
    """A block brings so much that it can't be given as a whole."""


def ranked_in_blocks(
    pipeline: Any, items: Iterable[Any], show: Show[Of] | None = None, whole: bool = False
) -> Iterator[tuple[list[Any], Brought[Of]]]:
    """Feeds frames to a pipeline, or frames and moments to that of a group: (block, what each of it brings).

    What it brings is to be taken before the next one.

    Args:
        show: What usual batches become, see `BlockItems.up_to`.
        whole: All of a block has to be fed when it is given; raises `TooMuch` where that takes too much memory.
    """
    feed = BlockFeed(pipeline)
    for some in blocks(items, feed.length):
        yield some, ranked_of(feed, some, show, whole)


def ranked_of(feed: BlockFeed, some: list[Any], show: Show[Of] | None = None, whole: bool = False) -> Brought[Of]:
    """Feeds what is in a block; what each of it brings, to be taken before more is fed; arguments as above."""
    block = block_of(feed.pipeline, some)
    if block is None:
        singly = _singly(feed.pipeline, some, whole)
        return list(singly) if whole else singly
    progress = feed.read(block)
    found = BlockItems(progress, MOST_WHOLE if whole else MOST_HELD)
    steps = progress.steps(found)
    step = next(steps, None)
    if step is None:
        return found.up_to(len(block.frames), show)
    if whole:
        raise TooMuch
    return _stepwise(found, chain([step], steps), show)


def _stepwise(found: BlockItems, steps: Iterable[Step], show: Show[Of] | None) -> Iterator[tuple[Any, Any]]:
    """What a block brings that brings so much that it is given while it is fed."""
    frames = found.progress.block.frames
    for frame, rest in steps:
        yield from found.up_to(frame, show)
        if rest is not None:
            yield frames[frame], found.going_on(frame, rest)
            deque(rest, 0)
    yield from found.up_to(len(frames), show)


def _singly(pipeline: Any, items: list[Any], whole: bool) -> Iterator[tuple[Any, Iterable[RankedPart]]]:
    """Feeds frames, and moments of a group, one by one."""
    held = 0
    for item, following in zip(items, [*items[1:], None], strict=True):
        if isinstance(item, Frame):
            ranked = pipeline.ranked(item)
            if whole:
                parts = []
                for part in ranked:
                    parts.append(part)
                    held += sum(map(memory_of, part[1]))
                    if held >= MOST_WHOLE:
                        raise TooMuch
                ranked = parts
            yield item, ranked
            deque(ranked, 0)
        elif of_next(item, following):
            pipeline.before(item)
        else:
            yield item, pipeline.elsewhere(item)
