"""Frames fed to a pipeline in blocks, with the front only: each batch is dissected on its own, and noted.

What must be the same frame by frame and in blocks: the batches, and all that the layers up to TCP remember.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from zdissect.dissection import Dissection, Item
from zdissect.dissector import EMPTY
from zdissect.engine.tape import Buffer
from zdissect.flow.connection import HalfStream
from zdissect.flow.framing import STREAM
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Chunk, Datagram, Frame
from zdissect.vector.arrays import FrameBlock, StreamWay, Way
from zdissect.vector.front import BlockSplit, Front


class Noted(NamedTuple):
    """What is given to the dissector."""

    frame: int
    flow: str
    direction: int
    data: bytes
    origin: list[tuple[int, int, int]]
    frames: tuple[int, ...]
    framing: Any
    missing: str


class Fed:
    """A pipeline, and what its dissector was given."""

    def __init__(self) -> None:
        self.pipeline = Pipeline(Options())
        self.noted: list[Noted] = []
        self.plain = self.all = 0
        """Frames that went the vector way, and all that were in blocks."""
        self.datagrams = 0
        """How many of them were datagrams."""
        self.handed_over = 0
        """Ways that were handed over in the middle of a block."""
        dissect = self.pipeline.dissector.dissect

        def note(item: Dissection, *others: Any) -> None:
            origin = [(one.start, one.frame, one.offset) for one in item.buffer.origin]
            self.noted.append(
                Noted(item.frame.number, item.flow.id, item.direction, bytes(item.buffer.data), origin, item.frames,
                      item.framing, item.missing)
            )  # fmt: skip
            if item.framing != STREAM or item.buffer.data[STREAM.prefix : STREAM.prefix + 1].hex()[1:] in ("1", "2"):
                dissect(item, *others)

        self.pipeline.dissector.dissect = note  # type: ignore[method-assign]

    def one_by_one(self, frames: Iterable[Frame]) -> None:
        """Feeds frames as they come."""
        for frame in frames:
            self.pipeline.feed(frame)

    def block(self, frames: list[Frame]) -> None:
        """Feeds frames at once; one by one where a time doesn't fit."""
        if any(not 0 <= frame.ts_ns < 1 << 62 for frame in frames):
            self.one_by_one(frames)
            return
        pipeline, block = self.pipeline, FrameBlock(frames, np.array([frame.ts_ns for frame in frames], np.int64), [])
        front = Front(pipeline)
        split = front.split(block)
        self.plain, self.all = self.plain + len(frames) - len(split.scalar), self.all + len(frames)
        datagrams = split.batches.frame[
            [not isinstance(split.batches.ways[way], StreamWay) for way in split.batches.way]
        ]
        plain = set(np.flatnonzero(split.segments).tolist()) | set(datagrams.tolist())
        self.datagrams += len(datagrams)
        assert split.scalar == sorted(set(range(len(frames))) - plain)
        assert (np.diff(split.batches.frame) >= 0).all()
        assert (split.batches.stop - split.batches.start > split.batches.prefix).all()
        rests = _Rests()
        for index, frame in enumerate(frames):
            self._frame(front, split, rests, index, frame)
        assert not rests.left

    def _frame(self, front: Front, split: BlockSplit, rests: "_Rests", index: int, frame: Frame) -> None:
        pipeline, out = self.pipeline, list[Item]()
        if index in split.scalar:
            pipeline.feed(frame)
            return
        pipeline.clock.last_ns, pipeline.last = frame.ts_ns, frame
        if split.segments[index]:
            waited = pipeline.waited(pipeline.streams.passed(frame.ts_ns), frame.ts_ns)
            out += [one for _, made in waited for one in made]
        for batch in np.flatnonzero(split.batches.frame == index).tolist():
            number = int(split.batches.way[batch])
            if number in rests.ways:
                continue
            way, (buffer, frames) = split.batches.ways[number], front.buffer(batch)
            start, stop = int(split.batches.start[batch]), int(split.batches.stop[batch])
            assert split.batches.arena[start:stop].tobytes() == buffer.data
            item = Dissection(frame, frames, way.conversation.flow, way.direction, buffer, EMPTY, way.framing)
            pipeline.dissector.dissect(item, "", out)
            if item.next_framing is not None:
                way.conversation.reframe(way.direction, item.next_framing)
                rests.add(number, way, front.rest(number, stop))
                self.handed_over += 1
        for way, left in rests.left.pop(index, []):
            if isinstance(left, Chunk):
                out += pipeline.stream(left)
            else:
                out += pipeline.datagram(pipeline.datagrams.continuing(way.conversation, left))
        if frame.ts_ns >= pipeline.ticks.next_ns and pipeline.ticks.feed(frame.ts_ns):
            pipeline.tick(frame, out)

    def state(self) -> Iterator[tuple[str, Any]]:
        """Names and values of all that the layers up to TCP remember."""
        pipeline = self.pipeline
        datagrams = pipeline.datagrams
        yield (
            "datagrams",
            (datagrams.repeated, datagrams.numbers, list(datagrams.groups), list(datagrams.scouting.scouts)),
        )
        for known in datagrams.all():
            yield f"datagrams of {known.flow.id}", attributes(known)
        yield "counts", (pipeline.captured, pipeline.streams.undelivered, pipeline.last, pipeline.clock.state())
        yield "ticks", pipeline.ticks.next_ns
        yield (
            "decoder",
            (pipeline.decoder.unopened.files, attributes(pipeline.decoder._packets._fragments, "_unopened")),
        )
        streams = pipeline.streams
        yield "streams", (streams.ignored, streams.due_ns, streams._count, streams._over)
        for half in streams._halves.values():
            yield f"half-stream {half.stream} {half.direction}", attributes(half, "connection")
            yield f"connection {half.stream}", attributes(half.connection, "halves")
        for number, connection in pipeline.causal.connections.items():
            yield f"causal {number}", attributes(connection)
        yield "holding", list(pipeline.causal.holding)
        for number, conversation in pipeline.conversations.items():
            yield f"conversation {number}", attributes(conversation)


class _Rests:
    """What ways bring after they were handed over."""

    def __init__(self) -> None:
        self.ways: set[int] = set()
        self.left: dict[int, list[tuple[Any, Chunk | Datagram]]] = {}

    def add(self, number: int, way: Way, rest: Iterable[tuple[int, Chunk | Datagram]]) -> None:
        self.ways.add(number)
        for index, left in rest:
            self.left.setdefault(index, []).append((way, left))


def attributes(thing: object, *without: str) -> dict[str, Any]:
    """What an object remembers, as values that can be compared, with all its attributes but some."""
    names = getattr(thing, "__slots__", None) or vars(thing)
    return {name: described(getattr(thing, name)) for name in sorted(names) if name not in without}


def described(value: Any) -> Any:
    """A value that can be compared in place of another one."""
    if isinstance(value, list | tuple | deque):
        return [described(each) for each in value]
    if isinstance(value, dict):
        return {key: described(each) for key, each in value.items()}
    if isinstance(value, HalfStream):
        return "half-stream", value.stream, value.direction
    ours = type(value).__module__.startswith("zdissect.")
    if ours and not isinstance(value, Enum | Buffer):
        return type(value).__name__, attributes(value, "begins")
    return value if ours or type(value).__module__ == "builtins" else type(value).__name__
