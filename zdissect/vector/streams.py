"""The bytes of a block's plain streams, way by way, and cut into batches: what `flow.cutter` does, on arrays."""

from itertools import pairwise

import numpy as np

from zdissect.flow.framing import STREAM
from zdissect.flow.stream_buffer import Batch, Part, StreamBuffer
from zdissect.records import Frame
from zdissect.vector.arrays import PADDING, Bools, Bytes, FrameBlock, Ints, StreamWay
from zdissect.vector.block_headers import Headers
from zdissect.vector.segments import Connections

_PREFIX = STREAM.prefix
_LONG = (1 << 63) - 1
"""The latest time in a block, in nanoseconds."""


class StreamPieces:
    """What each frame, or what was in hand before, brings to the streams; in the order of the arena."""

    def __init__(self, frames: list[Frame], headers: Headers, connections: Connections) -> None:
        taken, self.frames = connections.taken, frames
        ways = connections.ways
        full = np.flatnonzero(taken.size)
        order = full[np.argsort(taken.way[full].astype(np.uint32), kind="stable")]
        self.way: Ints = taken.way[order]
        self.frame: Ints = taken.frame[order]
        """Index in the block; -1 of bytes that were in hand before."""
        self.size: Ints = taken.size[order]
        start, data = taken.start[order], headers.data
        self.offset: Ints = start - headers.start[self.frame]
        """Where they are in the frame."""
        payloads = [data[at:stop] for at, stop in zip(start.tolist(), (start + self.size).tolist(), strict=True)]
        self.held: dict[int, Part] = {}
        """By piece: what was in hand before."""
        self._hold(ways, payloads)
        self.stop: Ints = np.cumsum(self.size)
        """Where it ends in the arena."""
        self.start: Ints = self.stop - self.size
        self.data = b"".join([*payloads, bytes(PADDING)])
        edges = np.searchsorted(self.way, np.arange(len(ways) + 1))
        self.edges: list[int] = edges.tolist()
        """The first piece of each way, and their number."""
        places = [0, *self.stop.tolist()]
        self.bounds = [(places[first], places[last]) for first, last in pairwise(self.edges)]
        """Where each way is in the arena."""

    def _hold(self, ways: list[StreamWay], payloads: list[bytes]) -> None:
        """Puts what cutters have in hand before the first payload of their ways."""
        cutters = [way.conversation.sides[way.direction].cutter for way in ways]
        busy = [number for number in np.unique(self.way).tolist() if cutters[number].parts]
        places = np.searchsorted(self.way, busy).tolist()
        held = [(at, number, part) for at, number in zip(places, busy, strict=True) for part in cutters[number].parts]
        if not held:
            return
        at = [place for place, _, _ in held]
        self.held = {place + before: part for before, (place, _, part) in enumerate(held)}
        self.way = np.insert(self.way, at, [number for _, number, _ in held])
        self.frame = np.insert(self.frame, at, -1)
        self.size = np.insert(self.size, at, [len(part.data) for _, _, part in held])
        self.offset = np.insert(self.offset, at, -1)
        for place, _, part in reversed(held):
            payloads.insert(place, part.data)

    def part(self, piece: int) -> Part:
        """A piece as cutters keep it."""
        if piece in self.held:
            return self.held[piece]
        frame, at = self.frames[int(self.frame[piece])], int(self.offset[piece])
        return Part(frame.data[at : at + int(self.size[piece])], frame, at)

    def numbered(self, start: int, stop: int) -> list[tuple[int, Part]]:
        """The pieces, with their numbers, between two places of a way in the arena; the first one from the place on."""
        if start >= stop:
            return []
        first = int(np.searchsorted(self.stop, start, "right"))
        last = int(np.searchsorted(self.stop, stop - 1, "right"))
        head = self.part(first).after(start - int(self.start[first]))
        return [(first, head), *((piece, self.part(piece)) for piece in range(first + 1, last + 1))]

    def batch(self, start: int, stop: int) -> Batch:
        """The batch at a place in the arena."""
        buffer = StreamBuffer(STREAM)
        buffer.parts = [part for _, part in self.numbered(start, stop)]
        return buffer.take(stop - start, "")


class Cuts:
    """The batches of the streams, way by way."""

    def __init__(self, block: FrameBlock, pieces: StreamPieces) -> None:
        self.pieces = pieces
        self.arena: Bytes = np.frombuffer(pieces.data, np.uint8)
        low, high = self.arena[pieces.start], self.arena[pieces.start + 1]
        whole = (low.astype(np.int64) | high.astype(np.int64) << 8) + _PREFIX == pieces.size
        ways = len(pieces.bounds)
        self.left: Bools = np.zeros(ways, np.bool_)
        """Ways that are left to the scalar way: there is an empty batch, or it isn't clear which frame is the last."""
        smooth = np.ones(ways, np.bool_)
        smooth[pieces.way[~(whole & (pieces.size > _PREFIX))]] = False
        own = smooth[pieces.way]
        self.tail: list[int] = [stop for _, stop in pieces.bounds]
        """Where in the arena the bytes of each way begin that are still in hand at the end."""
        found = [(pieces.start[own], pieces.stop[own])]
        found += [self._cut(way) for way in np.flatnonzero(~smooth).tolist()]
        self.start, self.stop = (np.concatenate(column) for column in zip(*found, strict=True))
        self.piece: Ints = np.searchsorted(pieces.stop, self.stop - 1, "right")
        """The piece that completes each batch."""
        self._leave_unclear(block)

    def _cut(self, way: int) -> tuple[Ints, Ints]:
        """Follows the lengths in a way."""
        data, (at, stop) = self.pieces.data, self.pieces.bounds[way]
        places = [at]
        while at + _PREFIX <= stop:
            size = data[at] | data[at + 1] << 8
            at += _PREFIX + size
            if at > stop:
                break
            if not size:
                self.left[way] = True
                break
            places.append(at)
        self.tail[way] = places[-1]
        out = np.array(places, np.int64)
        return out[:-1], out[1:]

    def _leave_unclear(self, block: FrameBlock) -> None:
        """Leaves ways with a batch in several frames that isn't completed by the one captured last, going by time."""
        pieces, held = self.pieces, self.pieces.frame < 0
        now_ns = block.now_ns[pieces.frame]
        for piece, part in pieces.held.items():
            now_ns[piece] = min(max(part.frame.now_ns, -_LONG), _LONG)
        before, now_ns = now_ns[:-1], now_ns[1:]
        back = (now_ns < before) | ((now_ns == before) & held[:-1])
        turns = np.cumsum(np.append(False, back))
        first = np.searchsorted(pieces.stop, self.start, "right")
        for batch in np.flatnonzero(turns[first] != turns[self.piece]).tolist():
            last = pieces.batch(int(self.start[batch]), int(self.stop[batch])).frame
            if last is not block.frames[int(pieces.frame[self.piece[batch]])]:
                self.left[pieces.way[self.piece[batch]]] = True
