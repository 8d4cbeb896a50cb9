"""Frames fed in small blocks and one by one, for comparing the items."""

from collections.abc import Iterable, Iterator
from itertools import chain

import pytest

from zdissect import fed as ahead
from zdissect.dissection import Item
from zdissect.fed import fed
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.vector import dissections, frame_blocks
from zdissect.vector.runs import UsualRun


class Blocks:
    """Makes blocks small, and counts the batches that come from runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        self.usual = 0
        take = dissections.BlockItems.run

        def run(items: dissections.BlockItems, run: UsualRun) -> None:
            self.usual += len(run.batches)
            take(items, run)

        monkeypatch.setattr(dissections.BlockItems, "run", run)
        monkeypatch.setattr(ahead, "WORTH_FRAMES", 1)

    def cut(self, size: int) -> None:
        """Says how many frames the first blocks have."""
        self.monkeypatch.setattr(frame_blocks, "LEAST_FRAMES", size)
        self.monkeypatch.setattr(frame_blocks, "MOST_FRAMES", 3 * size)
        self.monkeypatch.setattr(frame_blocks, "_PIECE", max(1, size // 2))

    def items(self, some: list[Frame], size: int) -> list[Item]:
        """All items, fed in blocks."""
        self.cut(size)
        pipeline = Pipeline(Options(rows=True))
        return [*chain.from_iterable(items for _, items in fed(pipeline, some)), *pipeline.close()]


def each(pipeline: Pipeline, some: Iterable[Frame]) -> Iterator[tuple[Frame, list[Item]]]:
    """Feeds frames one by one."""
    for frame in some:
        yield frame, pipeline.feed(frame)
