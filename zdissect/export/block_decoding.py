"""Frames to tables in blocks: usual messages become columns at once, everything else row by row."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from zdissect.dissection import Dissection, Item
from zdissect.export.decoding import MESSAGES, Decoding, TableBatch
from zdissect.export.file_stats import FileStats
from zdissect.export.run_batches import Rows, batch
from zdissect.records import Frame
from zdissect.vector.arrays import Block, Ints
from zdissect.vector.course import Run
from zdissect.vector.feed import BlockFeed, Progress

LEAST_FRAMES = 2000
"""Frames of the smallest block that is worth arrays."""
MOST_FRAMES = 10_000
MOST_BYTES = 16 << 20


def blocks(frames: Iterable[Frame]) -> Iterator[list[Frame]]:
    """Frames in blocks, each of one file."""
    block: list[Frame] = []
    size, source = 0, ""
    for frame in frames:
        if block and (len(block) >= MOST_FRAMES or size >= MOST_BYTES or frame[0] is not source):
            yield block
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
        progress.go(sink)
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
        self.runs: list[Run] = []
        self.keys: list[tuple[int, int, int]] = []
        """(batch, frame, rows) of what came row by row."""

    def items(self, frame: int, items: list[Item], batch: int = -1) -> None:
        """Takes what a frame of the block completes."""
        decoding = self.decoding
        decoding.last_ns = max(self.first_ns, int(self.latest[frame]))
        self.out += decoding.items(items)
        rows = sum(len(item.messages) for item in items if isinstance(item, Dissection))
        if rows:
            self.keys.append((batch, frame, rows))

    def run(self, run: Run) -> None:
        """Takes usual messages."""
        self.runs.append(run)
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
        decoding, progress = self.decoding, self.progress
        singles = decoding.out[MESSAGES].take()
        if not self.runs:
            return [] if singles is None else [(MESSAGES, singles)]
        batches = progress.batches
        rows = Rows(progress.block.frames, batches, progress.walked, progress.walker.templates, list(progress.rows), self.runs)
        usual = batch(decoding.messages.schema, rows, decoding.settings.payload)
        if singles is None:
            return [(MESSAGES, usual)]
        latest = np.maximum.accumulate(batches.frame)
        single = [2 * at + 1 if at >= 0 else 2 * int(np.searchsorted(latest, frame)) for at, frame, _ in self.keys]
        messages = np.concatenate([run.messages for run in self.runs])
        several = 2 * np.sort(progress.walked.batch[messages]) + 1
        keys = np.concatenate((np.repeat(single, [rows for *_, rows in self.keys]), several))
        order = pa.array(np.argsort(keys, kind="stable"))
        both = pa.Table.from_batches([singles, usual]).take(order).combine_chunks()
        return [(MESSAGES, one) for one in both.to_batches()]
