"""Cuts a stream into batches (notes 3.1).

One `Cutter` per direction of a stream. It takes chunks and gaps, and yields batches as soon as they are whole,
and what it had to skip. The framing may be changed between two batches: the next prefix is read in the new one. Where
it isn't known where a batch starts (after a gap, or in the middle of a stream), `resync` finds the next boundary.
"""

from collections.abc import Generator, Iterator

from zdissect.engine.tape import Buffer, Origin
from zdissect.flow import resync
from zdissect.flow.batch_decoding import CLOSE_SIZE, is_plain_close
from zdissect.flow.framing import FRAMINGS, STREAM, Framing
from zdissect.flow.misframed import Misframing
from zdissect.flow.resync import BoundarySearch
from zdissect.flow.stream_buffer import Batch, Skipped, StreamBuffer, skipped_gap
from zdissect.records import Chunk, Gap

_MOST_SCANNED = 1 << 20
"""Bytes kept while looking for a boundary, so that what is skipped is reported in one piece."""
_CLOSE_PREFIX = CLOSE_SIZE.to_bytes(STREAM.prefix, "little")
_WHOLE_CLOSE = STREAM.prefix + CLOSE_SIZE
_AFTER_GAP = "after bytes that aren't in the capture, up to the next batch"


class Cutter(StreamBuffer):
    """Cuts one direction of a stream."""

    def __init__(self, framing: Framing) -> None:
        super().__init__(framing)
        self.unsure = False
        """Whether the framing of the next batch, which begins here, has to be found out."""
        self.lost = ""
        """Why it isn't known where the next batch begins; empty if it is."""
        self.search: BoundarySearch | None = None
        """The search for it, once it has begun."""
        self.window = bytearray()
        """The bytes in hand, while it is searched for."""
        self.torn = 0
        """Bytes still to come of a batch whose middle isn't in the capture."""
        self.hint: Misframing | None = None
        """The hint about the next batch."""

    def feed(self, item: Chunk | Gap) -> Iterator[Batch | Skipped]:
        """Batches and skipped bytes that this item completes."""
        if isinstance(item, Gap):
            yield from self.gap(item)
            return
        self.add(item)
        yield from self.cut(final=False)
        self.tidy()

    def add(self, chunk: Chunk) -> None:
        """Adds bytes, which follow those in hand."""
        super().add(chunk)
        if self.search is not None:
            self.window += chunk.data

    def whole(self, chunk: Chunk) -> Batch | None:
        """Takes a chunk that is exactly one batch, as most are; None if it isn't, or if anything is in doubt."""
        framing, data = self.framing, chunk.data
        prefix = framing.prefix
        if self.have or self.lost or self.unsure or self.torn or self.hint or framing.low_latency or not prefix:
            return None
        if int.from_bytes(data[:prefix], "little") != len(data) - prefix or framing.big:
            return None
        self.offset = chunk.offset + len(data)
        frame = chunk.frame
        buffer = Buffer("tcp", data, [Origin(0, frame.number, chunk.frame_offset)])
        return Batch(buffer, frame, (frame.number,), "", framing)

    def close(self) -> Iterator[Batch | Skipped]:
        """What is left when the stream ends: a batch without its end, or bytes that belong to no batch."""
        yield from self.cut(final=True)
        if self.have:
            yield self.partial("end") if not self.lost else self.skip(self.have, self.lost)

    def cut(self, final: bool) -> Iterator[Batch | Skipped]:
        """Cuts what is in hand."""
        while self.have:
            if self.torn:
                if self.have < min(self.torn, _MOST_SCANNED) and not final:
                    return
                size = min(self.torn, self.have)
                self.torn -= size
                yield self.skip(size, "the rest of a batch whose middle isn't in the capture", "torn-batch")
                continue
            if self.lost:
                if (yield from self.find(final)):
                    continue
                return
            if self.unsure and not self.settle(final):
                return
            framing = self.next_framing()
            size = self.wanted(framing)
            if not size or size > self.have:
                return
            yield self.take(size, "", framing)

    def find(self, final: bool) -> Generator[Skipped, None, bool]:
        """Looks for the next boundary, and skips what is before it; returns whether it was found."""
        if self.search is None:
            self.search = BoundarySearch(likely=True)
            self.window += self.peek(self.have)
        found, size = self.search.find(self.window, self.framing, final), self.search.scanned
        if not found and size < _MOST_SCANNED and not final:
            return False
        if size:
            yield self.skip(size, self.lost)
            del self.window[:size]
            self.search.passed()
        if found:
            self.lost, self.search = "", None
            self.window.clear()
        return found

    def settle(self, final: bool) -> bool:
        """Chooses the first framing that fits the next bytes; returns whether that could be decided yet."""
        data = self.peek(self.have)
        answers = {framing: resync.fits(data, framing, final) for framing in FRAMINGS}
        fitting = next((framing for framing, fits in answers.items() if fits), None)
        if fitting is None and None in answers.values():
            return False
        self.framing = fitting or self.framing
        self.unsure = False
        return True

    def next_framing(self) -> Framing:
        """The framing of the next batch: at the end of a low-latency stream a CLOSE comes in the normal one
        (notes 3.4)."""
        if self.framing.low_latency and self.have >= _WHOLE_CLOSE:
            head = self.peek(_WHOLE_CLOSE)
            if head.startswith(_CLOSE_PREFIX) and is_plain_close(head, STREAM.prefix, _WHOLE_CLOSE):
                return STREAM
        return self.framing

    def wanted(self, framing: Framing) -> int:
        """Size of the next batch with its prefix; 0 if the prefix isn't whole yet."""
        prefix = framing.prefix
        if self.have < prefix:
            return 0
        return prefix + int.from_bytes(self.peek(prefix), "big" if framing.big else "little")

    def partial(self, reason: str) -> Batch:
        """The beginning of a batch whose end isn't there."""
        return self.take(self.have, reason)

    def gap(self, gap: Gap) -> Iterator[Batch | Skipped]:
        """Takes a gap: it ends the batch in hand, whose length, if it is known, tells where the next one starts."""
        if self.lost or self.torn:
            yield from self.cut(final=True)
        self.search = None
        self.window.clear()
        missing = gap.size
        if self.torn:
            self.torn, missing = max(0, self.torn - missing), max(0, missing - self.torn)
            if missing:
                self.lost = _AFTER_GAP
        elif self.have and self.lost:
            yield self.skip(self.have, self.lost)
        elif self.have and (size := self.wanted(self.framing)):
            left = size - self.have
            yield self.partial(gap.reason)
            self.torn = max(0, left - missing)
            if missing > left:
                self.lost = _AFTER_GAP
        else:
            if self.have:
                yield self.skip(self.have, "part of a length prefix, before bytes that aren't in the capture")
            self.lost = _AFTER_GAP
        self.tidy()
        if gap.size:
            yield skipped_gap(gap)
