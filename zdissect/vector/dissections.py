"""Blocks to the items of their frames, in the order of the capture: what feeding each frame alone would give."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, repeat
from typing import Any

import numpy as np

from zdissect.dissection import ITSELF, OWN, Dissection, Item, Ranked
from zdissect.engine.lazy_messages import LazyMessage, LazyTape
from zdissect.engine.messages import DecodedMessage, Row
from zdissect.engine.tape import Buffer, Origin
from zdissect.engine.templates import SN, Cell
from zdissect.flow.framing import STREAM
from zdissect.pipeline import Pipeline
from zdissect.records import Frame
from zdissect.vector.arrays import Bools, Ints
from zdissect.vector.feed import BlockFeed, Progress
from zdissect.vector.frame_blocks import block_of, blocks, of_next
from zdissect.vector.runs import UsualRun


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

    def all(self) -> Iterator[tuple[Any, Ranked]]:
        """The frames of the block, and the moments between them, each with what it brings."""
        frames, events, before, after = self.progress.block.frames, self.events, self.before, self.after
        counts = np.bincount(self.progress.batches.frame, minlength=len(frames)).tolist()
        usual = iter(_Usual(self.progress, self.runs))
        batch = 0
        for index, (frame, count) in enumerate(zip(frames, counts, strict=True)):
            if index in self.moments:
                yield from self.moments[index]
            items: list[Item] = []
            for item in islice(usual, count):
                if item is not None:
                    items.append(item)
                else:
                    items += events.get(batch, ())
                batch += 1
            ranked = [(ITSELF, items)]
            if index in before or index in after:
                ranked = [*before.get(index, ()), *ranked, *after.get(index, ())]
            yield frame, ranked
        yield from self.moments.get(len(frames), ())


class _Usual:
    """The batches of a block: those of runs as dissections, None for all others."""

    def __init__(self, progress: Progress, runs: list[UsualRun]) -> None:
        self.progress, self.walked = progress, progress.walked
        self.usual = np.zeros(len(progress.batches.start), np.bool_)
        many = len(self.walked.batch) + 1  # one more for batches without messages
        self.row, self.place, self.number = (np.full(many, -1) for _ in range(3))
        for run in runs:
            self.usual[run.batches] = True
            self.row[run.messages], self.place[run.messages] = run.rows, run.place
            self.number[run.messages] = run.number

    def __iter__(self) -> Iterator[Dissection | None]:
        batches, facts, frames = self.progress.batches, self.progress.facts, self.progress.frames
        ways = [(way.conversation.flow, way.direction) for way in batches.ways]
        data, prefix, cells = self.progress.walker.data, STREAM.prefix, self.cells()
        columns = (
            self.usual, batches.frame, batches.start, batches.stop, batches.way, self.progress.front.offsets(),
            facts.messages, self.place[facts.first], self.number[facts.first],
        )  # fmt: skip
        each = zip(*(column.tolist() for column in columns), self.alike(), strict=True)
        for batch, (usual, number, start, stop, way, offset, count, place, sent, messages_of) in enumerate(each):
            own = islice(cells, count)
            if not usual:
                deque(own, 0)
                yield None
                continue
            frame, (flow, direction) = frames[number], ways[way]
            carrying: tuple[int, ...]
            if offset >= 0:
                buffer, carrying = Buffer("tcp", data[start:stop], [Origin(0, frame[1], offset)]), (frame[1],)
            else:
                buffer, carrying = self.progress.front.buffer(batch)
            tape, messages = messages_of(LazyTape(buffer.data, prefix), own)
            yield Dissection(frame, carrying, flow, direction, buffer, tape, STREAM, "", messages, (place, sent))

    def alike(self) -> list[Callable[[LazyTape, Iterable[Cell]], tuple[LazyTape, list[DecodedMessage]]]]:
        """For each batch, what makes its messages of its cells."""
        walked, rows = self.walked, [*self.progress.rows.rows, None]
        own = np.array([isinstance(one, DecodedMessage) for one in rows], np.bool_)[self.row[:-1]]
        mixed = np.zeros(len(self.usual), np.bool_)
        mixed[walked.batch[own | (walked.sn < 0)]] = True
        return [_mixed if is_mixed else _alike for is_mixed in mixed.tolist()]

    def cells(self) -> Iterator[Cell]:
        """The cells of the messages, with what sessions know of them: in place of its template, a message of its own
        where that has one, and None where the batch isn't usual."""
        walked, start = self.walked, self.progress.batches.start[self.walked.batch]
        return zip(
            map([*self.progress.rows.rows, None].__getitem__, self.row[:-1].tolist()),
            (walked.start - start).tolist(),
            (walked.stop - walked.start).tolist(),
            _or_none(walked.sn, walked.sn >= 0),
            _or_none(walked.stamp, walked.stamped),
            self.pieces(walked.payload, walked.payload_size),
            self.pieces(walked.attachment, walked.attachment_size),
            _or_none(walked.source_sn, walked.source_sn >= 0),
            self.extensions(),
            strict=False,
        )

    def pieces(self, start: Ints, size: Ints) -> Iterable[bytes | None]:
        """The bytes at some places; None where a place is negative."""
        data = self.progress.walker.data
        if not (start >= 0).any():
            return repeat(None)
        places = zip(start.tolist(), (start + size).tolist(), strict=True)
        return (data[at:stop] if at >= 0 else None for at, stop in places)

    def extensions(self) -> Iterable[list[Row] | None]:
        """The extensions of messages, of which some have changing values; None where the template's are right."""
        if not self.walked.bodies:
            return repeat(None)
        found: list[tuple[bytes, ...]] = [()] * len(self.walked.batch)
        for messages, start, size in self.walked.bodies:
            for index, body in zip(messages.tolist(), self.pieces(start, size), strict=True):
                found[index] += (body,)
        templates, template = self.progress.walker.templates, self.walked.template.tolist()
        return (
            templates[known].extensions(bodies) if bodies else None
            for known, bodies in zip(template, found, strict=True)
        )


def _or_none(values: Any, there: Bools) -> Iterable[int | None]:
    """Numbers; None where there is none."""
    if there.all():
        out: list[int] = values.tolist()
        return out
    if not there.any():
        return repeat(None)
    return [value if is_there else None for value, is_there in zip(values.tolist(), there.tolist(), strict=True)]


def _complete(items: list[Item]) -> None:
    """Makes the rows of messages without a sequence number, which have no templates where batches are read alone."""
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


def ranked_in_blocks(pipeline: Any, items: Iterable[Any]) -> Iterator[tuple[list[Any], Iterable[tuple[Any, Ranked]]]]:
    """Feeds frames to a pipeline, or frames and moments to that of a group: (block, what each of it brings).

    All of a block has been fed when it is given. What it brings is to be taken before the next one.
    """
    feed = BlockFeed(pipeline)
    for some in blocks(items):
        block = block_of(pipeline, some)
        if block is None:
            yield some, list(_singly(pipeline, some))
            continue
        progress = feed.read(block)
        found = BlockItems(progress)
        progress.go(found)
        yield some, found.all()


def _singly(pipeline: Any, items: list[Any]) -> Iterator[tuple[Any, Ranked]]:
    """Feeds frames, and moments of a group, one by one."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        if isinstance(item, Frame):
            yield item, pipeline.ranked(item)
        elif of_next(item, following):
            pipeline.before(item)
        else:
            yield item, pipeline.elsewhere(item)


def fed_in_blocks(pipeline: Pipeline, frames: Iterable[Frame]) -> Iterator[tuple[Frame, list[Item]]]:
    """Feeds frames to a pipeline in blocks: each frame, and what it completes."""
    for _, brought in ranked_in_blocks(pipeline, frames):
        for frame, ranked in brought:
            yield frame, ranked[0][1] if len(ranked) == 1 else [item for _, items in ranked for item in items]
