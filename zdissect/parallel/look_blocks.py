"""Blocks of a first look: the plain segments of connections of which nothing more is to be found out, all at once.

They only take their streams further, and add to sizes. All other frames are fed one by one, in their places; so are
those by which time passes: where a tick is due, or a look at streams that wait.
"""

from collections.abc import Iterable

import numpy as np

from zdissect.flow.connection import CONNECTION_BYTES, NEVER, Connection
from zdissect.parallel.first_look import RECORD, FirstLook
from zdissect.pipeline import Options
from zdissect.records import Frame
from zdissect.vector.arrays import Bools, FrameBlock, Ints, StreamWay
from zdissect.vector.block_headers import Headers
from zdissect.vector.frame_blocks import BlockSize, block_of, blocks
from zdissect.vector.segments import Connections, odd_packets


class KnownConnections(Connections):
    """The connections of a block whose ends are known, and where nothing waits."""

    def __init__(self, look: FirstLook, frames: list[Frame], headers: Headers) -> None:
        self.look = look
        super().__init__(look.pipeline, frames, headers, odd_packets(look.pipeline, frames, headers))

    def plain(self, connection: Connection) -> list[StreamWay]:
        stream = connection.halves[0].stream
        quick = all(half.quick for half in connection.halves)
        if not quick or self.look.introductions.get(stream, self) is not None:
            return []
        conversation = self.pipeline.conversation(stream)
        return [StreamWay(conversation, half) for half in sorted(connection.halves, key=lambda half: half.direction)]


class LookedBlock:
    """A block of frames whose times hold no leap."""

    def __init__(self, look: FirstLook, block: FrameBlock) -> None:
        self.look, self.frames, self.now_ns = look, block.frames, block.now_ns
        self.place = look.last.place
        """That of the frame before the block."""
        self.latest_ns = np.maximum.accumulate(np.append(look.latest_ns, self.now_ns))
        """The latest time before each frame, and after the last one."""
        store = look.streams.store
        self.plain: Bools = np.zeros(len(self.frames), np.bool_)
        """Which frames are plain segments."""
        if store.held + len(self.frames) * CONNECTION_BYTES <= store.most:  # nothing has to make room
            headers = Headers(self.frames)
            self.take(KnownConnections(look, self.frames, headers), headers)

    def take(self, connections: KnownConnections, headers: Headers) -> None:
        """Takes the plain segments."""
        look, taken = self.look, connections.taken
        self.plain[taken.frame] = True
        lengths = (headers.stop - headers.start + RECORD)[taken.frame]
        sizes = np.bincount(taken.way, lengths, len(connections.ways)).astype(np.int64).tolist()
        for way, half, _ in connections.go_on(self.frames):
            look.sizes[look.nodes[look.streams.ends(half.stream)]] += sizes[way]

    def feed(self) -> int:
        """Feeds the others in order, and lets time pass; returns how many there are."""
        look, frames = self.look, self.frames
        others = np.flatnonzero(~self.plain)
        at = self.next(0, others)
        while at < len(frames):
            look.last = look.last._replace(place=self.place + at)
            look.latest_ns = int(self.latest_ns[at])
            if self.plain[at]:
                look.passed(frames[at])
            else:
                if at:
                    look.pipeline.clock.last_ns = frames[at - 1].ts_ns
                look.feed(frames[at])
            at = self.next(at + 1, others)
        look.latest_ns = int(self.latest_ns[-1])
        look.last = look.moment_of(frames[-1], self.place + len(frames))
        look.pipeline.clock.last_ns = frames[-1].ts_ns
        return len(others)

    def next(self, at: int, others: Ints) -> int:
        """The next frame, from one on, that isn't plain or shows that time has passed."""
        other = int(np.searchsorted(others, at))
        tick = int(np.searchsorted(self.latest_ns[1:], self.look.ticks.next_ns))
        found = [len(self.frames), max(tick, at), *others[other : other + 1].tolist()]
        due_ns = self.look.streams.due_ns
        if due_ns != NEVER:
            late = self.plain[at:] & (self.now_ns[at:] >= due_ns)
            found += [at + int(late.argmax())] if late.any() else []
        return int(min(found))


def look_at(frames: Iterable[Frame], options: Options) -> FirstLook:
    """A first look at all frames of a capture."""
    look, length = FirstLook(options), BlockSize()
    for some in blocks(frames, length):
        block = block_of(look.pipeline, some)
        if block is not None:
            length.read(len(some), LookedBlock(look, block).feed())
            continue
        for frame in some:
            look.feed(frame)
    return look


def split_of(frames: Iterable[Frame], options: Options, most: int) -> str:
    """A capture in at most `most` groups, as JSON; empty if it can't be split."""
    try:
        look = look_at(frames, options)
        split = look.split(most)
    except Exception:  # decoding the whole will show what is wrong
        return ""
    if look.pipeline.reached:  # limits hold for all of a capture
        return ""
    return split.json() if len(split.sizes) > 1 else ""
