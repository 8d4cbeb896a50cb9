"""Frames to tables in blocks: usual messages become columns at once, everything else row by row."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from zdissect.dissection import Dissection, Item
from zdissect.engine.lazy_messages import LazyTape
from zdissect.export.arrow import nulls
from zdissect.export.decoding import MESSAGES, Decoding, TableBatch
from zdissect.export.file_stats import FileStats
from zdissect.export.run_batches import BlockRows, indices
from zdissect.export.schema import schema
from zdissect.records import Frame
from zdissect.vector.arrays import Block, Ints
from zdissect.vector.course import Run
from zdissect.vector.feed import BlockFeed, Progress

LEAST_FRAMES = 500
"""Frames of the smallest block that is worth arrays."""
MOST_FRAMES = 10_000
MOST_BYTES = 16 << 20


def blocks(frames: Iterable[Frame]) -> Iterator[list[Frame]]:
    """Frames in blocks, each of one file."""
    block: list[Frame] = []
    size, source, most = 0, "", LEAST_FRAMES - 1
    for frame in frames:
        if block and (len(block) >= most or size >= MOST_BYTES or frame[0] is not source):
            yield block
            most = min(2 * len(block) + 1, MOST_FRAMES)
            block, size = [], 0
        source = frame[0]
        size += len(frame[5])
        block.append(frame)
    if block:
        yield block


class BlockDecoding(Decoding):
    """One capture being decoded in blocks."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.blocks = BlockFeed(self.pipeline)
        self.sink: BlockSink | None = None

    def add(self, item: Dissection) -> bool:
        """Takes the messages of a dissection; returns whether it is time for a batch."""
        if self.sink is None:
            return super().add(item)
        if self.sink.add(item):
            super().add(item)
        return False

    def feed_block(self, frames: list[Frame]) -> list[TableBatch]:
        """Takes frames of one file."""
        times = [frame[2] for frame in frames]
        if len(frames) < LEAST_FRAMES or not self.plain(times):
            return [batch for frame in frames for batch in self.feed(frame)]
        out = self.take(MESSAGES)
        stats = self.about(frames[0])
        stats.frames += len(frames)
        stats.bytes += sum(len(frame[5]) for frame in frames)
        if stats.first_ns is None:
            stats.first_ns = times[0]
        stats.last_ns = times[-1]
        before = self.pipeline.captured
        now_ns = np.array(times, np.int64)
        progress = self.blocks.read(Block(frames, now_ns))
        sink = BlockSink(self, now_ns, progress, out)
        self.sink = sink
        progress.go(sink)
        self.sink = None
        stats.payload += self.pipeline.captured - before
        self.last_ns = max(self.last_ns, int(sink.latest[-1]))
        return out + sink.take()

    def plain(self, times: list[int]) -> bool:
        """Whether the clock of the capture goes on without leaps."""
        return self.pipeline.clock.steady(times)

    def about(self, frame: Frame) -> "FileStats":
        """The file of a frame."""
        if self.file_stats is None or self.file_stats.file != frame.source:
            self.file_stats = self.files.setdefault(frame.source, FileStats(frame.source))
        return self.file_stats


class BlockSink:
    """Takes what a block gives."""

    def __init__(self, decoding: BlockDecoding, now_ns: Ints, progress: Progress, out: list[TableBatch]) -> None:
        self.decoding, self.progress, self.out = decoding, progress, out
        self.latest = np.maximum.accumulate(now_ns)
        self.first_ns = decoding.last_ns
        self.rows = BlockRows(schema(MESSAGES), decoding.settings.payload, progress)
        self.after = np.maximum.accumulate(progress.batches.frame)
        self.keys: list[int] = []
        """Where the rows belong that weren't read on arrays: twice the batch that follows, or the batch itself and 1."""
        self.batch = -1

    def items(self, frame: int, items: list[Item], batch: int = -1) -> None:
        """Takes what a frame of the block completes."""
        decoding = self.decoding
        decoding.last_ns = max(self.first_ns, int(self.latest[frame]))
        self.batch, self.frame = batch, frame
        self.out += decoding.items(items)

    def add(self, item: Dissection) -> bool:
        """Takes the messages of a dissection; returns whether they are to be taken as rows."""
        batch = self.batch
        if batch >= 0 and self.progress.walked.plain[batch] and isinstance(item.tape, LazyTape):
            self.rows.event(batch, item)
            self.decoding.messages.total += len(item.messages)
            return False
        key = 2 * batch + 1 if batch >= 0 else 2 * int(np.searchsorted(self.after, self.frame))
        self.keys += [key] * len(item.messages)
        return True

    def run(self, run: Run) -> None:
        """Takes usual messages."""
        self.rows.runs.append(run)
        decoding, facts, batches = self.decoding, self.progress.facts, self.progress.batches
        stats = decoding.about(self.progress.block.frames[0])
        stats.accounting.decoded += int(facts.size[run.batches].sum())
        stats.messages += len(run.messages)
        decoding.messages.total += len(run.messages)
        ways = batches.way[run.batches]
        sessions, flow = decoding.links.stats(run.link.flow), run.link.flow
        for way in np.unique(ways).tolist():
            mine = run.batches[ways == way]
            times = facts.now_ns[mine]
            between = int(times[0]), int(times.max())
            size, count = int(facts.size[mine].sum()), int(facts.count[mine].sum())
            sessions.run(flow, batches.ways[way].direction, between, size, count)

    def take(self) -> list[TableBatch]:
        """The rows of the block, in order."""
        usual, singles = self.rows.take(), self.decoding.messages.take()
        if usual is None or singles is None:
            one = singles if usual is None else usual[0]
            return [] if one is None else [(MESSAGES, one)]
        rows, batches = usual
        keys = np.concatenate((2 * batches + 1, self.keys))
        return [(MESSAGES, merged(rows, singles, indices(np.argsort(keys, kind="stable"))))]


def merged(first: pa.RecordBatch, second: pa.RecordBatch, order: pa.Array) -> pa.RecordBatch:
    """The rows of two batches, in an order."""
    arrays = []
    for one, other in zip(first.columns, second.columns, strict=True):
        empty = one.null_count == len(one) and other.null_count == len(other)
        arrays.append(nulls(len(order), one.type) if empty else pa.concat_arrays([one, other]).take(order))
    return pa.RecordBatch.from_arrays(arrays, schema=first.schema)
