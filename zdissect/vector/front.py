"""From the frames of a block to the batches of its plain connections; the others go the scalar way, frame by frame."""

from dataclasses import dataclass

import numpy as np

from zdissect.engine.tape import Buffer
from zdissect.flow.clock import LEAP_NS, ToldClock
from zdissect.flow.connection import CONNECTION_BYTES, LARGE, RECENT_SEGMENTS
from zdissect.flow.cutter import Cutter
from zdissect.pipeline import Pipeline
from zdissect.records import Chunk
from zdissect.vector.arrays import BlockBatches, Bools, FrameBlock, Ints, Way
from zdissect.vector.block_headers import Headers
from zdissect.vector.segments import Connections
from zdissect.vector.streams import Cuts, StreamPieces


@dataclass(slots=True)
class BlockSplit:
    """A block, divided into what is plain and what isn't."""

    batches: BlockBatches
    """The batches that plain segments complete."""
    scalar: list[int]
    """The frames, as indices in the block, to be fed one by one."""
    segments: Bools
    """Which frames are plain segments: all others."""


class Front:
    """A block on its way through the layers up to TCP.

    Args:
        pipeline: Its layers up to TCP are as after the plain frames of the block once it is split; so until the others
            have been fed, in order, nothing else may be.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    def split(self, block: FrameBlock) -> BlockSplit:
        """Finds the plain segments of a block, and cuts their streams."""
        self.block = block
        frames = block.frames if self._fits(block) else []
        headers = Headers(frames)
        self.connections = connections = Connections(self.pipeline, frames, headers)
        self.pieces = StreamPieces(frames, headers, connections)
        cuts = Cuts(block, self.pieces)
        if cuts.left.any():
            connections.leave(cuts.left)
            self.pieces = StreamPieces(frames, headers, connections)
            cuts = Cuts(block, self.pieces)
        self.tail = cuts.tail
        self.origin: list[int] = []
        """By way: the stream offset of the beginning of the arena, if the way began there."""
        for way, (start, _) in zip(connections.ways, self.pieces.bounds, strict=True):
            self.origin.append(way.half.offset - _cutter(way).have - start)
        self.batches = self._batches(cuts)
        self._commit()
        segments = np.zeros(len(block.frames), np.bool_)
        segments[connections.taken.frame] = True
        return BlockSplit(self.batches, np.flatnonzero(~segments).tolist(), segments)

    def _fits(self, block: FrameBlock) -> bool:
        """Whether time goes on as usual, and no connection has to make room for others."""
        clock, now_ns = self.pipeline.clock, block.now_ns
        if clock.shift or clock.odd or not len(now_ns):
            return False
        store = self.pipeline.streams.store
        if store.held + len(now_ns) * CONNECTION_BYTES > store.most:
            return False
        if isinstance(clock, ToldClock):  # it finds no leaps itself
            return clock.next is None
        return abs(int(now_ns[0]) - clock.last_ns) <= LEAP_NS and bool((np.abs(np.diff(now_ns)) <= LEAP_NS).all())

    def _batches(self, cuts: Cuts) -> BlockBatches:
        """The batches, in order of the frames that complete them."""
        pieces = self.pieces
        frame = pieces.frame[cuts.piece]
        order = np.argsort(frame, kind="stable")
        way = pieces.way[cuts.piece[order]]
        return BlockBatches(cuts.arena, cuts.start[order], cuts.stop[order], frame[order], way, self.connections.ways)

    def buffer(self, batch: int) -> tuple[Buffer, tuple[int, ...]]:
        """A batch as cutters give it, and the numbers of the frames that it came in."""
        cut = self.pieces.batch(int(self.batches.start[batch]), int(self.batches.stop[batch]))
        return cut.buffer, cut.frames

    def offsets(self) -> Ints:
        """Where each batch begins in its frame; -1 of one that came in several, or of which that isn't known."""
        pieces, batches = self.pieces, self.batches
        piece = np.searchsorted(pieces.stop, batches.start, "right")
        alone = (batches.stop <= pieces.stop[piece]) & (pieces.frame[piece] >= 0)
        out: Ints = np.where(alone, pieces.offset[piece] + batches.start - pieces.start[piece], -1)
        return out

    def rest(self, way: int, position: int) -> list[tuple[int, Chunk]]:
        """Hands a way over to its cutter, because batches are framed differently from a place in the arena on. Returns
        what follows: (index of the frame, bytes), to be given to `Pipeline.stream` in the order of the capture."""
        known, stop = self.connections.ways[way], self.pieces.bounds[way][1]
        cutter = _cutter(known)
        cutter.parts, cutter.have, cutter.offset = [], 0, self.origin[way] + position
        known.conversation.flow.size -= stop - position
        out, offset = [], cutter.offset
        for piece, (data, frame, at) in self.pieces.numbered(position, stop):
            chunk = Chunk(known.half.stream, known.direction, offset, data, frame, at)
            out.append((int(self.pieces.frame[piece]), chunk))
            offset += len(data)
        return out

    def _commit(self) -> None:
        """Brings the state of the layers up to TCP to what it is after the plain frames of the block."""
        for way, _, size in self.connections.go_on(self.block.frames):
            self.pipeline.captured += size
            if size:
                self._deliver(way, size)

    def _deliver(self, way: int, size: int) -> None:
        """Notes that the payload of a way has been passed on."""
        conversation, half = self.connections.ways[way]
        self._remember(way)
        order = self.pipeline.causal.connections[half.stream]
        order.passed[half.direction] = half.offset
        order.patient[1 - half.direction] = True
        order.base[half.direction] = half.base()
        conversation.flow.size += size
        conversation.opaque = 0
        cutter, stop, tail = _cutter(self.connections.ways[way]), self.pieces.bounds[way][1], self.tail[way]
        cutter.parts = [part for _, part in self.pieces.numbered(tail, stop)]
        cutter.have, cutter.offset = stop - tail, self.origin[way] + tail

    def _remember(self, way: int) -> None:
        """Keeps the payloads delivered last: those around the last large one, and the last small ones since then, of
        which there are more or fewer depending on how many came."""
        pieces, half = self.pieces, self.connections.ways[way].half
        own = np.arange(pieces.edges[way], pieces.edges[way + 1])
        own = own[pieces.frame[own] >= 0]
        large = int(np.flatnonzero(np.append(True, pieces.size[own] > LARGE))[-1])
        period, most = RECENT_SEGMENTS + 1, 2 * RECENT_SEGMENTS + 1
        left_out = max(0, len(own) - large - most) // period * period
        for piece in [*own[max(0, large - RECENT_SEGMENTS) : large].tolist(), *own[large + left_out :].tolist()]:
            half.keep(self.origin[way] + int(pieces.start[piece]), pieces.part(piece).data)


def _cutter(way: Way) -> Cutter:
    """The cutter of a way."""
    return way.conversation.sides[way.direction].cutter
