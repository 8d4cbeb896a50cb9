"""A pipeline that notes where the bytes of streams and datagrams are, in all frames that carried them."""

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from zdissect.anonymize.fills import differing
from zdissect.anonymize.places import FramePlace, Store
from zdissect.dissection import Item
from zdissect.flow.connection import HalfStream, distance_of
from zdissect.flow.link import Decoder
from zdissect.flow.tcp import Streams
from zdissect.flow.verdict import Verdict
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Chunk, Datagram, Frame, Segment, StreamItem


class _StreamPlaces:
    """Where the bytes of one direction of a stream are."""

    def __init__(self) -> None:
        self.offsets, self.sizes, self.frames, self.inside = (array("q") for _ in range(4))
        self.end = 0

    def add(self, chunk: Chunk) -> None:
        if chunk.offset < self.end or chunk.frame_offset < 0:  # known already, or in a packet put together from others
            return
        self.offsets.append(chunk.offset)
        self.sizes.append(len(chunk.data))
        self.frames.append(chunk.frame.number - 1)
        self.inside.append(chunk.frame_offset)
        self.end = chunk.offset + len(chunk.data)

    def places(self, offset: int, size: int) -> list[FramePlace]:
        """Where the bytes from a stream offset on are, as far as they are known."""
        out = []
        for index in range(max(0, bisect_right(self.offsets, offset) - 1), len(self.offsets)):
            start, stop = self.offsets[index], self.offsets[index] + self.sizes[index]
            low, high = max(start, offset), min(stop, offset + size)
            if start >= offset + size:
                break
            if low < high:
                out.append(FramePlace(low - offset, self.frames[index], self.inside[index] + low - start, high - low))
        return out


class _Copy(NamedTuple):
    """A segment whose bytes came before, or not at once."""

    half: HalfStream
    seq: int
    offset: int | None
    """Where it is in its stream, if that is known by now."""
    frame: int
    inside: int
    size: int


class NotingStreams(Streams):
    """Streams that note where their bytes are."""

    def __init__(self) -> None:
        super().__init__()
        self.known: defaultdict[tuple[int, int], _StreamPlaces] = defaultdict(_StreamPlaces)
        self.copies: list[_Copy] = []

    def feed(self, segment: Segment) -> list[StreamItem]:
        out = super().feed(segment)
        own = 0
        for item in out:
            if isinstance(item, Chunk):
                self.known[item.stream, item.direction].add(item)
                own += len(item.data) if item.frame is segment.frame else 0
        if own < len(segment.payload) and segment.offset >= 0:
            self.note(segment)
        return out

    def note(self, segment: Segment) -> None:
        """Notes a segment that didn't give all of its bytes."""
        half = self._halves.get((segment.src, segment.dst))
        if half is not None:
            known = half.offset + distance_of(segment.seq, half.seq) if half.seq >= 0 else None
            size = len(segment.payload)
            self.copies.append(_Copy(half, segment.seq, known, segment.frame.number - 1, segment.offset, size))

    def close(self) -> list[StreamItem]:
        out = super().close()
        for item in out:
            if isinstance(item, Chunk):
                self.known[item.stream, item.direction].add(item)
        return out

    def places(self, stream: int, direction: int, offset: int, size: int) -> list[FramePlace]:
        """Where bytes of a stream are."""
        return self.known[stream, direction].places(offset, size)

    def copy(self, store: Store) -> None:
        """Writes to all segments that carried bytes again what was written where they came first.

        Where a copy had other bytes, it has others again.
        """
        for half, seq, offset, frame, inside, size in self.copies:
            if half.seq < 0:
                continue
            offset = distance_of(seq, half.base()) if offset is None else offset
            for place in self.places(half.stream, half.direction, offset, size):
                if (place.frame, place.offset) == (frame, inside + place.start):
                    continue
                new = store.new(place.frame, place.offset, place.size)
                first = store.old(place.frame, place.offset, place.size)
                again = store.old(frame, inside + place.start, place.size)
                store.write(frame, inside + place.start, differing(new, first, again))


class _NotingDecoder(Decoder):
    """A decoder that keeps the last packet."""

    packet: Segment | Datagram | None = None

    def feed(self, frame: Frame) -> Segment | Datagram | None:
        self.packet = super().feed(frame)
        return self.packet


class _NotingPipeline(Pipeline):
    """A pipeline that keeps what became of each TCP connection."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.verdicts: dict[int, Verdict] = {}

    def end(self, stream: int) -> None:
        self.verdicts[stream] = self.conversations[stream].flow.verdict
        super().end(stream)


class Recorder:
    """A pipeline with what it notes."""

    def __init__(self, options: Options) -> None:
        self.streams = NotingStreams()
        self.pipeline = _NotingPipeline(options, streams=self.streams)
        self.decoder = self.pipeline.decoder = _NotingDecoder(options.udp_ports)
        self.copies: list[tuple[int, int, Datagram]] = []
        """Frames with a copy of a datagram: place, offset, the datagram that came first."""

    def feed(self, frame: Frame) -> Iterator[Item]:
        """As `Pipeline.begun`."""
        datagrams = self.pipeline.datagrams
        datagrams.original = None
        out = self.pipeline.begun(frame)
        packet = self.decoder.packet
        if isinstance(packet, Datagram) and datagrams.original is not None and packet.offset >= 0:
            self.copies.append((frame.number - 1, packet.offset, datagrams.original))
        return out
