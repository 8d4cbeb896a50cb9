"""Feeds a pipeline with blocks of frames instead of single ones.

What is plain is read on arrays and passed on as runs; everything else happens in the order of the capture, as if each
frame had been fed alone: frames that aren't plain, events of courses, ticks, and looks at streams that wait.
"""

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from zdissect.dissection import Item, RankedPart, ticked
from zdissect.engine.lazy_messages import LazyMessage
from zdissect.engine.messages import add_findings
from zdissect.flow.framing import Framing
from zdissect.flow.ticks import ToldTicks
from zdissect.pipeline import Pipeline
from zdissect.records import Chunk, Datagram
from zdissect.session.model import Link
from zdissect.vector.arrays import DatagramWay, FrameBlock, Ints, Way
from zdissect.vector.course import Course
from zdissect.vector.frame_blocks import BlockSize, of_next
from zdissect.vector.front import BlockSplit, Front
from zdissect.vector.runs import Around, Rows, Sink, Step
from zdissect.vector.walk import Walker

_TOLD, _TIME, _OWN, _TICK = range(4)
"""What happens at a frame, in order: what a group learns of others before it, what only its time shows, its own
messages, the look for what is overdue."""


class BlockFeed:
    """Feeds blocks to a pipeline. Between two blocks, frames may be fed one by one."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.walker = Walker()
        self.length = BlockSize()

    def read(self, block: FrameBlock) -> "Progress":
        """Reads what is plain in a block, after all was taken from the one before; `Progress.go` feeds it."""
        if self.walker.full:
            self.walker.forget()
        front = Front(self.pipeline)
        split = front.split(block)
        progress = Progress(self.pipeline, self.walker, front, split, block)
        self.length.read(len(block.frames), len(split.scalar), len(progress.walked.batch))
        return progress


class Progress(Around):
    """A block being fed."""

    def __init__(self, pipeline: Pipeline, walker: Walker, front: Front, split: BlockSplit, block: FrameBlock) -> None:
        super().__init__(pipeline, walker, front, split, block)
        self.scalars = frozenset(split.scalar)
        self.rows = Rows()
        self.queue: list[tuple[int, int, int, Callable[[int], None]]] = []
        self.added = 0
        self.frame = 0
        self.look = -1
        """The plain frame at which streams that wait will be looked at."""
        self.courses: list[Course] = []
        self.entered: dict[Course, int] = {}
        """The frames at which they go on."""
        self.heard: Link | None = None
        """The link whose event the rules see right now."""
        self.rest: Iterator[RankedPart] | None = None
        """What the current frame brings that hasn't been passed on."""

    def add(self, frame: int, rank: int, do: Callable[[int], None]) -> None:
        """Enters what is to be done at a frame."""
        self.added += 1
        heapq.heappush(self.queue, (frame, rank, self.added, do))

    def go(self, sink: Sink) -> None:
        """Takes everything in the order of the capture; the sink is never full."""
        for _ in self.steps(sink):
            pass

    def steps(self, sink: Sink) -> Iterator[Step]:
        """The same, and stops wherever the sink is full. The rest of a frame is to be taken before the next step."""
        self.sink = sink
        self.begin()
        for frame in self.split.scalar:
            self.add(frame, _OWN, self.scalar)
        for frame, moment in self.block.moments:
            self.add(frame, _TOLD, partial(self.moment, moment))
        self.ticks()
        self.waits(0)
        self.sessions.overdue.behind = self.asked
        while self.queue:
            self.frame, _, _, do = heapq.heappop(self.queue)
            do(self.frame)
            if sink.full:
                yield self.step()
        self.sessions.overdue.behind = None
        for course in self.courses:
            course.session.behind = None
        self.courses.clear()  # what refers to each other would be kept until somebody looks for garbage
        self.entered.clear()
        del self.sink
        self.pipeline.last = last = self.frames[-1]
        self.pipeline.clock.last_ns = last.ts_ns

    def step(self) -> Step:
        """Takes courses up to the frame before the current one."""
        frame, rest, self.rest = self.frame, self.rest, None
        self.frame = frame - 1
        for course in self.courses:
            self.settle(course)
        self.frame = frame
        return frame, rest

    def begin(self) -> None:
        """Makes the courses of the block."""
        ways: dict[str, list[int]] = {}
        for number, link in enumerate(self.links):
            ways.setdefault(link.flow.id, [-1, -1])[self.batches.ways[number].direction] = number
        order = np.argsort(self.batches.way, kind="stable")
        edges = np.searchsorted(self.batches.way[order], np.arange(len(self.links) + 1))
        for numbers in ways.values():
            used = [number for number in numbers if number >= 0]
            own = np.sort(np.concatenate([order[edges[number] : edges[number + 1]] for number in used]))
            if len(own):
                course = Course(self, self.links[used[0]], own, (numbers[0], numbers[1]))
                course.session.behind = partial(self.catch_up, course)
                self.courses.append(course)
                self.schedule(course)

    def settle(self, course: Course) -> None:
        """Takes the batches of a course up to the current frame."""
        stop = course.stop
        course.settle(bisect_right(course.frames, self.frame))
        if course.stop < stop and not course.over:
            self.schedule(course)

    def catch_up(self, course: Course) -> None:
        """Takes a course up to the current frame because its session is looked at, or is shared from now on."""
        if course.link is not self.heard:
            self.settle(course)
        if course.session.shared and not course.over and course.stop > course.at:
            course.stop = course.at
            self.schedule(course)

    def asked(self) -> None:
        """Takes courses in which something is asked or answered up to the current frame."""
        for course in self.courses:
            if course.ruled:
                self.settle(course)

    def schedule(self, course: Course) -> None:
        """Enters the next event of a course, or its last batch: what follows on its connection isn't plain."""
        frame = course.frames[min(course.stop, len(course.own) - 1)]
        self.entered[course] = max(frame, self.frame)
        self.add(self.entered[course], _OWN, partial(self.go_on, course))

    def go_on(self, course: Course, frame: int) -> None:
        """Takes a course up to a frame, unless an event before it was entered since."""
        if frame == self.entered[course]:
            self.settle(course)
            if not course.over:
                self.schedule(course)

    def event(self, link: Link, batch: int) -> None:
        item, out, session = self.item(batch), list[Item](), link.session
        self.heard = link
        dissector = self.pipeline.dissector
        if self.walked.plain[batch]:
            found = self.messages(batch)
            item.tape = found[0].tape
            dissector.known(item, out, list(found))
        else:
            dissector.dissect(item, "", out)
        self.heard = None
        self.sink.items(int(self.batches.frame[batch]), out, batch)
        if item.next_framing is not None or link.session is not session:
            self.hand_over(link, batch, item.next_framing)

    def remarked(self, batch: int, ruled: list[LazyMessage], rows: Ints, first: tuple[int, int]) -> None:
        item, messages = self.item(batch), self.messages(batch)
        start = int(self.facts.first[batch])
        for place, message in enumerate(messages):
            row = int(rows[self.facts.kinds.pair[start + place]])
            if row >= 0:
                message.template = self.rows.rows[row]
        for message in ruled:
            messages[message.number] = message
        item.messages, item.tape, item.first = list(messages), ruled[0].tape, first
        add_findings(item.tape, item.messages)
        self.sink.items(int(self.batches.frame[batch]), [item], batch)

    def hand_over(self, link: Link, batch: int, framing: Framing | None) -> None:
        """Leaves what follows on a connection to its cutters, because a handshake changes how it is framed, or whose
        it is."""
        course = next(one for one in self.courses if one.link is link)
        for way in course.ways:
            mine = self.batches.way[course.own] == way
            done, others = course.own[: course.at][mine[: course.at]], course.own[course.at :][mine[course.at :]]
            if len(done) or len(others):
                ends = int(self.batches.stop[done[-1]]) if len(done) else int(self.batches.start[others[0]])
                for frame, left in self.front.rest(way, ends):
                    self.add(max(frame, self.frame), _OWN, partial(self.left, self.batches.ways[way], left))
        if framing is not None:
            way = int(self.batches.way[batch])
            self.batches.ways[way].conversation.reframe(self.batches.ways[way].direction, framing)
        course.own = course.own[: course.at]

    def left(self, way: Way, left: Chunk | Datagram, frame: int) -> None:
        """Feeds bytes of a stream that was left to its cutter, or a datagram."""
        pipeline = self.pipeline
        if isinstance(left, Chunk):
            self.sink.items(frame, [*pipeline.stream(left)])
        elif isinstance(way, DatagramWay):
            self.sink.items(frame, pipeline.datagram(pipeline.datagrams.continuing(way.conversation, left)))

    def scalar(self, frame: int) -> None:
        """Feeds a frame that isn't plain."""
        frames, pipeline = self.block.frames, self.pipeline
        if frame:
            pipeline.clock.last_ns = frames[frame - 1].ts_ns
        ranked = pipeline.ranked(frames[frame])
        for part in ranked:
            self.sink.ranked(frame, [part])
            if self.sink.full:
                self.rest = ranked
                break
        self.waits(frame + 1)

    def moment(self, moment: Any, frame: int) -> None:
        """Takes what a group learns of others, or of its next frame (zdissect/parallel)."""
        pipeline: Any = self.pipeline
        if of_next(moment, self.block.frames[frame] if frame < len(self.block.frames) else None):
            pipeline.before(moment)
            if moment.tick and frame not in self.scalars:
                self.add(frame, _TICK, self.tick)
        else:
            self.frame = frame - 1
            self.sink.moment(frame, moment, pipeline.elsewhere(moment))
        self.waits(frame)

    def ticks(self) -> None:
        """Enters the ticks of the block at plain frames; the others are fed with their frames."""
        if self.block.moments or isinstance(self.pipeline.ticks, ToldTicks):
            return
        latest = np.maximum.accumulate(self.block.now_ns)
        ticks, next_ns = self.pipeline.ticks, self.pipeline.ticks.next_ns
        while True:
            frame = 0 if next_ns < int(latest[0]) else int(np.searchsorted(latest, next_ns))
            if frame >= len(latest):
                return
            if frame not in self.scalars:
                self.add(frame, _TICK, self.tick)
            next_ns = ticks.after(int(self.block.now_ns[frame]))

    def tick(self, frame: int) -> None:
        """Looks for what is overdue at a plain frame."""
        out: list[Item] = []
        if self.pipeline.ticks.feed(int(self.block.now_ns[frame])):
            self.pipeline.tick(self.block.frames[frame], out)
            if out:
                self.sink.ranked(frame, ticked(out))

    def waits(self, frame: int) -> None:
        """Enters the next plain segment, from a frame on, whose time shows that waits of streams are over."""
        due_ns = self.pipeline.streams.due_ns
        if due_ns != np.inf:
            late = (self.block.now_ns[frame:] >= due_ns) & self.split.segments[frame:]
            if late.any() and frame + int(late.argmax()) != self.look:
                self.look = frame + int(late.argmax())
                self.add(self.look, _TIME, self.late)

    def late(self, frame: int) -> None:
        """Looks at streams that wait, at the time of a plain segment."""
        self.look, self.frame = -1, frame - 1  # what the frame itself brings comes after that
        now_ns = int(self.block.now_ns[frame])
        items = self.pipeline.streams.passed(now_ns)
        if items:
            for part in self.pipeline.waited(items, now_ns):
                self.sink.ranked(frame, [part])
        self.waits(frame + 1)
