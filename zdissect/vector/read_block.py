"""A block that was read: its batches, their messages, and what is known of them before any rule has seen them."""

from zdissect.dissection import Dissection
from zdissect.dissector import EMPTY
from zdissect.engine.lazy_messages import LazyMessage, LazyTape
from zdissect.flow.framing import STREAM
from zdissect.pipeline import Pipeline
from zdissect.vector.arrays import BlockBatches, FrameBlock, Walked
from zdissect.vector.cells import Cells
from zdissect.vector.facts import Facts, facts
from zdissect.vector.front import BlockSplit, Front
from zdissect.vector.walk import Walker


class ReadBlock:
    """A block that was read."""

    def __init__(self, pipeline: Pipeline, walker: Walker, front: Front, split: BlockSplit, block: FrameBlock) -> None:
        self.pipeline, self.walker, self.front = pipeline, walker, front
        self.split, self.block = split, block
        self.sessions, self.frames = pipeline.sessions, block.frames
        self.batches: BlockBatches = split.batches
        self.walked: Walked = walker.walk(self.batches.arena, self.batches.start, self.batches.stop)
        self.data, self.templates = walker.data, walker.templates
        """Its bytes, as `Walked` counts them, and its templates, whatever is read after it."""
        self.cells = Cells(self.data, self.templates, self.walked)
        self.links = [self.sessions.link(way.conversation.flow) for way in self.batches.ways]
        self.facts: Facts = facts(self.batches, self.walked, self.templates, self.links, block.now_ns)

    def item(self, batch: int) -> Dissection:
        """A batch, not decoded yet."""
        way = self.batches.ways[int(self.batches.way[batch])]
        buffer, frames = self.front.buffer(batch)
        frame = self.frames[int(self.batches.frame[batch])]
        return Dissection(frame, frames, way.conversation.flow, way.direction, buffer, EMPTY, STREAM)

    def message(self, batch: int, number: int, tape: LazyTape | None) -> LazyMessage:
        """A message of a batch that was read on arrays; several of them have one tape."""
        start = int(self.batches.start[batch])
        if tape is None:
            tape = LazyTape(self.data[start : int(self.batches.stop[batch])], STREAM.prefix)
        return LazyMessage(tape, number, self.cells.cell(int(self.facts.first[batch]) + number, start))

    def messages(self, batch: int) -> list[LazyMessage]:
        """All messages of such a batch."""
        start, first = int(self.batches.start[batch]), int(self.facts.first[batch])
        tape = LazyTape(self.data[start : int(self.batches.stop[batch])], STREAM.prefix)
        cell = self.cells.cell
        return [LazyMessage(tape, number, cell(first + number, start)) for number in range(self.facts.messages[batch])]
