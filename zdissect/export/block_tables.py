"""The tables of a block of frames: usual messages become columns at once, everything else row by row."""

from collections.abc import Iterator
from itertools import pairwise
from operator import itemgetter
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from zdissect.dissection import Dissection, Item, Ranked
from zdissect.engine.lazy_messages import LazyTape
from zdissect.engine.messages import Row
from zdissect.export.arrow import nulls
from zdissect.export.block_rows import BlockRows, indices
from zdissect.export.schema import schema
from zdissect.export.session_rows import Links
from zdissect.export.tables import MESSAGES
from zdissect.vector.arrays import Ints
from zdissect.vector.feed import Progress
from zdissect.vector.runs import UsualRun

TableBatch = tuple[str, pa.RecordBatch]
"""Name of a table, and a batch of its rows."""


class Taking(Protocol):
    """What takes the items of a capture: see `Decoding`."""

    last_ns: int
    links: Links
    keep: int | None
    """Bytes of each payload that are kept; None for all, -1 for none."""

    def items(self, items: list[Item]) -> list[TableBatch]:
        """Takes items."""

    def usual(self, file: str, rows: int, size: int) -> None:
        """Counts rows of a file, from this many bytes."""


_SEVERAL = 200
"""Most pieces that the rows of a block are given in; more are copied to one."""


class BlockTables:
    """Takes what a block gives, for the tables of its capture."""

    def __init__(self, decoding: Taking, progress: Progress, out: list[TableBatch]) -> None:
        self.decoding, self.progress, self.out = decoding, progress, out
        self.latest = np.maximum.accumulate(progress.block.now_ns)
        self.first_ns = decoding.last_ns
        """The latest time of the capture before the block, or of which it was told."""
        self.rows = BlockRows(schema(MESSAGES), decoding.keep, progress)
        self.after = np.maximum.accumulate(progress.batches.frame)
        self.keys: list[int] = []
        """Where the rows belong that weren't read on arrays: twice the batch after them, or twice their own and 1."""
        self.batch = self.frame = -1
        self.file = progress.frames[0].source
        self.found: list[tuple[int, list[Row]]] = []
        """The rows of findings with their frames: those of usual messages may come later than others."""

    full = False
    """It keeps rows, and no items."""

    def items(self, frame: int, items: list[Item], batch: int = -1) -> None:
        """Takes what a frame of the block completes."""
        self.decoding.last_ns = max(self.first_ns, int(self.latest[frame]))
        self.batch, self.frame = batch, frame
        self.out += self.decoding.items(items)

    def ranked(self, frame: int, ranked: Ranked) -> None:
        """Takes what a frame brings that isn't plain, or at which time has passed."""
        self.items(frame, [item for _, items in ranked for item in items])

    def moment(self, frame: int, moment: Any, ranked: Ranked) -> None:
        """Takes what a group of sessions learns of others before a frame."""
        self.first_ns = max(self.first_ns, moment.latest_ns)
        self.decoding.last_ns = max(self.first_ns, int(self.latest[frame - 1]) if frame else self.first_ns)
        self.batch, self.frame = -1, frame
        self.out += self.decoding.items([item for _, items in ranked for item in items])

    def add(self, item: Dissection) -> bool:
        """Takes the messages of a dissection; returns whether they are to be taken as rows."""
        batch = self.batch
        if batch >= 0 and self.progress.walked.plain[batch] and isinstance(item.tape, LazyTape):
            self.rows.event(batch, item)
            return False
        key = 2 * batch + 1 if batch >= 0 else 2 * int(np.searchsorted(self.after, self.frame))
        if self.keys:
            key = max(key, self.keys[-1])  # bytes that are left to a cutter in the frame of the event that agreed on it
        self.keys += [key] * len(item.messages)
        return True

    def run(self, run: UsualRun) -> None:
        """Takes usual messages."""
        self.rows.runs.append(run)
        facts, batches = self.progress.facts, self.progress.batches
        self.decoding.usual(self.file, len(run.messages), int(facts.size[run.batches].sum()))
        ways, flow = batches.way[run.batches], run.link.flow
        sessions = self.decoding.links.stats(flow)
        for way in np.unique(ways).tolist():
            mine = run.batches[ways == way]
            times = facts.now_ns[mine]
            between = [(ts_ns, ts_ns) for ts_ns in (int(times[0]), int(times.max()))]
            size, count = int(facts.size[mine].sum()), int(facts.messages[mine].sum())
            sessions.run(flow, batches.ways[way].direction, between, size, count)

    def findings(self) -> Iterator[list[Row]]:
        """The rows of findings, in order."""
        yield from (rows for _, rows in sorted(self.found, key=itemgetter(0)))

    def take(self, singles: pa.RecordBatch | None) -> list[pa.RecordBatch]:
        """The rows of the block, in order.

        Args:
            singles: Those that were taken as rows.
        """
        usual = self.rows.take()
        if usual is None or singles is None:
            return [batch for batch in (singles, usual and usual[0]) if batch is not None]
        rows, batches = usual
        keys = np.concatenate((2 * batches + 1, self.keys))
        return merged(rows, singles, np.argsort(keys, kind="stable"))


def merged(first: pa.RecordBatch, second: pa.RecordBatch, order: Ints) -> list[pa.RecordBatch]:
    """The rows of two batches, in an order in which those of each stay in theirs."""
    end = len(first)
    breaks = (np.diff(order) != 1) | (order[1:] == end)
    edges = [0, *(np.flatnonzero(breaks) + 1).tolist(), len(order)]
    pieces = [(int(order[start]), stop - start) for start, stop in pairwise(edges)]
    if len(pieces) <= _SEVERAL:
        return [first.slice(at, size) if at < end else second.slice(at - end, size) for at, size in pieces]
    taken, arrays = indices(order), []
    for one, other in zip(first.columns, second.columns, strict=True):
        empty = one.null_count == len(one) and other.null_count == len(other)
        arrays.append(nulls(len(order), one.type) if empty else pa.concat_arrays([one, other]).take(taken))
    return [pa.RecordBatch.from_arrays(arrays, schema=first.schema)]
