"""A block that was read: its batches, their messages, and what is known of them before any rule has seen them."""

import numpy as np

from zdissect.dissection import Dissection
from zdissect.dissector import EMPTY
from zdissect.engine.lazy_messages import LazyMessage, LazyTape
from zdissect.pipeline import Pipeline
from zdissect.vector.arrays import BlockBatches, FrameBlock, Walked
from zdissect.vector.facts import Facts, facts
from zdissect.vector.front import BlockSplit, Front
from zdissect.vector.open_columns import OpenColumns
from zdissect.vector.walk import Walker


class ReadBlock:
    """A block that was read."""

    def __init__(self, pipeline: Pipeline, walker: Walker, front: Front, split: BlockSplit, block: FrameBlock) -> None:
        self.pipeline, self.front = pipeline, front
        self.split, self.block = split, block
        self.sessions, self.frames = pipeline.sessions, block.frames
        self.batches: BlockBatches = split.batches
        self.walked: Walked = walker.walk(
            self.batches.arena, self.batches.prefix, self.batches.start, self.batches.stop
        )
        self.links = [self.sessions.link(way.conversation.flow) for way in self.batches.ways]
        self.facts: Facts = facts(self.batches, self.walked, self.links, block.now_ns)

    def item(self, batch: int) -> Dissection:
        """A batch, not decoded yet."""
        way = self.batches.ways[int(self.batches.way[batch])]
        buffer, frames = self.front.buffer(batch)
        frame = self.frames[int(self.batches.frame[batch])]
        return Dissection(frame, frames, way.conversation.flow, way.direction, buffer, EMPTY, way.framing)

    def tape(self, batch: int) -> LazyTape:
        """The tape of a batch that was read on arrays."""
        prefix = self.batches.ways[int(self.batches.way[batch])].framing.prefix
        return LazyTape(self.walked.data[self.batches.start[batch] : self.batches.stop[batch]], prefix)

    def messages(self, batch: int) -> list[LazyMessage]:
        """All messages of such a batch."""
        tape, first, count = self.tape(batch), self.facts.first[batch], self.facts.messages[batch]
        cells = OpenColumns(self.walked, np.arange(first, first + count)).cells()
        return [LazyMessage(tape, number, cell) for number, cell in enumerate(cells)]
