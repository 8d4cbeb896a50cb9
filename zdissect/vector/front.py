"""From the frames of a block to the batches of its plain conversations; the others are left to the scalar way."""

from dataclasses import dataclass

import numpy as np

from zdissect.engine.tape import Buffer
from zdissect.flow.clock import LEAP_NS, ToldClock
from zdissect.flow.connection import CONNECTION_BYTES, LARGE, RECENT_SEGMENTS
from zdissect.flow.cutter import Cutter
from zdissect.pipeline import Pipeline
from zdissect.records import Chunk, Datagram
from zdissect.vector.arrays import BlockBatches, Bools, FrameBlock, Ints, StreamWay, Way
from zdissect.vector.block_headers import Headers
from zdissect.vector.plain_datagrams import BlockDatagrams
from zdissect.vector.segments import Connections, odd_packets
from zdissect.vector.streams import Cuts, StreamPieces


@dataclass(slots=True)
class BlockSplit:
    """A block, divided into what is plain and what isn't."""

    batches: BlockBatches
    """The batches that plain segments complete, and those in plain datagrams."""
    scalar: list[int]
    """The frames, as indices in the block, to be fed one by one: all others."""
    segments: Bools
    """Which frames are plain segments."""


class Front:
    """A block on its way through the layers up to TCP and UDP.

    Args:
        pipeline: Its layers up to these are as after the plain frames of the block once it is split; so until the
            others have been fed, in order, nothing else may be.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    def split(self, block: FrameBlock) -> BlockSplit:
        """Finds the plain segments and datagrams of a block, and cuts the streams."""
        self.block = block if self._fits(block) else FrameBlock([], block.now_ns[:0], [])
        frames = self.block.frames
        headers = Headers(frames)
        odd = odd_packets(self.pipeline, frames, headers)
        self.connections = connections = Connections(self.pipeline, frames, headers, odd)
        self.datagrams = BlockDatagrams(self.pipeline, self.block, headers, odd)
        self.pieces = StreamPieces(frames, headers, connections)
        cuts = Cuts(self.block, self.pieces)
        if cuts.left.any():
            connections.leave(cuts.left)
            self.pieces = StreamPieces(frames, headers, connections)
            cuts = Cuts(self.block, self.pieces)
        self.tail = cuts.tail
        self.origin: list[int] = []
        """By way: the stream offset of the beginning of the arena, if the way began there."""
        for way, (start, _) in zip(connections.ways, self.pieces.bounds, strict=True):
            self.origin.append(way.half.offset - _cutter(way).have - start)
        self.batches = self._batches(cuts)
        self._commit()
        segments = np.zeros(len(block.frames), np.bool_)
        segments[connections.taken.frame] = True
        plain = segments.copy()
        plain[self.datagrams.taken.frame] = True
        return BlockSplit(self.batches, np.flatnonzero(~plain).tolist(), segments)

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
        pieces, taken = self.pieces, self.datagrams.taken
        arena, start, stop = cuts.arena, cuts.start, cuts.stop
        frame, way = pieces.frame[cuts.piece], pieces.way[cuts.piece]
        self.streams, self.base = len(self.connections.ways), len(arena)
        """How many ways are of streams; where the frames with datagrams begin in the arena."""
        if len(taken.frame):
            arena = np.frombuffer(pieces.data + self.datagrams.headers.data, np.uint8)
            start, stop = np.append(start, self.base + taken.start), np.append(stop, self.base + taken.stop)
            frame, way = np.append(frame, taken.frame), np.append(way, self.streams + taken.way)
        order = np.argsort(frame, kind="stable")
        ways: list[Way] = [*self.connections.ways, *self.datagrams.ways]
        return BlockBatches(arena, start[order], stop[order], frame[order], way[order], ways)

    def buffer(self, batch: int) -> tuple[Buffer, tuple[int, ...]]:
        """A batch as the pipeline gives it to the dissector, and the numbers of the frames that it came in."""
        if self.batches.way[batch] >= self.streams:
            return self.datagrams.buffer(int(self.batches.start[batch]) - self.base)
        cut = self.pieces.batch(int(self.batches.start[batch]), int(self.batches.stop[batch]))
        return cut.buffer, cut.frames

    def offsets(self) -> Ints:
        """Where each batch begins in its frame; -1 of one that came in several, or of which that isn't known."""
        pieces, streams = self.pieces, np.flatnonzero(self.batches.way < self.streams)
        start, stop = self.batches.start[streams], self.batches.stop[streams]
        piece = np.searchsorted(pieces.stop, start, "right")
        alone = (stop <= pieces.stop[piece]) & (pieces.frame[piece] >= 0)
        out: Ints = np.empty(len(self.batches.start), np.int64)
        out[streams] = np.where(alone, pieces.offset[piece] + start - pieces.start[piece], -1)
        datagrams = self.batches.way >= self.streams
        out[datagrams] = self.datagrams.offsets(self.batches.start[datagrams] - self.base)
        return out

    def rest(self, way: int, position: int) -> list[tuple[int, Chunk]] | list[tuple[int, Datagram]]:
        """Leaves a way to the scalar way, because batches are framed differently from a place in the arena on. Returns
        what follows: (index of the frame, bytes for `Pipeline.stream`, or a datagram), to be fed in the order of the
        capture."""
        if way >= self.streams:
            return self.datagrams.rest(way - self.streams, position - self.base)
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
        """Brings the state of the layers to what it is after the plain frames of the block."""
        self.pipeline.captured += self.datagrams.go_on()
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


def _cutter(way: StreamWay) -> Cutter:
    """The cutter of a way."""
    return way.conversation.sides[way.direction].cutter
