"""Cuts a stream into batches (notes 3.1).

One `Cutter` per direction of a stream. It takes chunks and gaps, and yields batches as soon as they are whole,
and what it had to skip. The framing may be changed between two batches: the next prefix is read in the new one. Where
the place in the stream is lost (a gap, a capture that starts in the middle), `resync` finds the next boundary.
"""

from collections.abc import Iterator
from typing import NamedTuple

from zdissect.engine.tape import Buffer, Origin
from zdissect.flow import resync
from zdissect.flow.decode import CLOSE_SIZE, is_plain_close
from zdissect.flow.framing import FRAMINGS, STREAM, Framing
from zdissect.flow.hints import Hint
from zdissect.records import Chunk, Frame, Gap

_MOST_SCANNED = 1 << 20
"""Bytes kept while looking for a boundary, so that what is skipped is reported in one piece."""
_CLOSE_PREFIX = CLOSE_SIZE.to_bytes(STREAM.prefix, "little")
_WHOLE_CLOSE = STREAM.prefix + CLOSE_SIZE


class Batch(NamedTuple):
    """One batch, with its length prefix."""

    buffer: Buffer
    frame: Frame
    """The frame that completes it."""
    frames: tuple[int, ...]
    """Numbers of the frames that it came from."""
    missing: str
    """Empty if whole; else why its end isn't there: `cut` or `lost` (see Gap), or `end` (the stream ended)."""
    framing: Framing
    hint: Hint | None = None
    """How it is meant to be read, if not as its link requires."""


class Skipped(NamedTuple):
    """Bytes of a stream that belong to no batch that could be read."""

    frame: Frame
    offset: int
    """Stream offset of the first."""
    size: int
    data: bytes
    """The bytes; empty for bytes that the capture doesn't hold."""
    reason: str
    code: str = ""
    """The rule that it is a finding of; empty if it is none."""
    text: bytes = b""
    """What a WebSocket text message says, or the first part of it."""


class _Part(NamedTuple):
    data: bytes
    frame: Frame
    offset: int


class Cutter:
    """Cuts one direction of a stream."""

    def __init__(self, framing: Framing) -> None:
        self.framing = framing
        self.parts: list[_Part] = []
        self.have = 0
        self.offset = 0
        """Stream offset of the first byte in hand."""
        self.unsure = False
        """The next batch begins here, but how it is framed has to be found out."""
        self.lost = ""
        """Why it isn't known where the next batch begins; empty if it is."""
        self.scanned = 0
        """Bytes in hand that start no batch."""
        self.torn = 0
        """Bytes still to come of a batch whose middle isn't in the capture."""
        self.hint: Hint | None = None
        """The hint about the next batch."""

    def feed(self, item: Chunk | Gap) -> Iterator[Batch | Skipped]:
        """Batches and skipped bytes that this item completes."""
        if isinstance(item, Gap):
            yield from self.gap(item)
            return
        if not self.parts:
            self.offset = item.offset
        self.parts.append(_Part(item.data, item.frame, item.frame_offset))
        self.have += len(item.data)
        yield from self.cut(final=False)

    def whole(self, chunk: Chunk) -> Batch | None:
        """Takes a chunk that is just one batch, as most are; None if it isn't, or if anything is in doubt."""
        framing, data = self.framing, chunk.data
        prefix = framing.prefix
        if self.parts or self.lost or self.unsure or self.torn or self.hint or framing.low_latency or not prefix:
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
        if self.parts:
            yield self.partial("end") if not self.lost else self.skip(self.have, self.lost)

    def cut(self, final: bool) -> Iterator[Batch | Skipped]:
        """Cuts what is in hand."""
        while self.parts:
            if self.torn:
                if self.have < self.torn and not final:
                    return
                size = min(self.torn, self.have)
                self.torn -= size
                yield self.skip(size, "the rest of a batch whose middle isn't in the capture", "torn-batch")
                continue
            if self.lost:
                self.scanned, found = self.search(final)
                if not found and self.scanned < _MOST_SCANNED and not final:
                    return
                if self.scanned:
                    yield self.skip(self.scanned, self.lost)
                    self.scanned = 0
                if not found:
                    return
                self.lost = ""
                continue
            if self.unsure and not self.settle(final):
                return
            framing = self.next_framing()
            size = self.wanted(framing)
            if not size or size > self.have:
                return
            yield self.take(size, "", framing)

    def search(self, final: bool) -> tuple[int, bool]:
        """Looks for the next boundary, after the bytes that were looked at before."""
        return resync.boundary(self.peek(self.have), self.framing, final, self.scanned, likely=True)

    def settle(self, final: bool) -> bool:
        """Takes the first framing that fits what comes next; whether that can be said yet."""
        data = self.peek(self.have)
        answers = {framing: resync.fits(data, framing, final) for framing in FRAMINGS}
        found = next((framing for framing, fits in answers.items() if fits), None)
        if found is None and None in answers.values():
            return False
        self.framing = found or self.framing
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

    def peek(self, size: int) -> bytes:
        """The first bytes in hand. Many small parts are joined once, so that reading them stays linear."""
        first = self.parts[0].data
        if len(first) >= size:
            return first if len(first) == size else first[:size]
        out = bytearray()
        for part in self.parts:
            out += part.data[: size - len(out)]
            if len(out) == size:
                break
        return bytes(out)

    def take(self, size: int, missing: str, framing: Framing | None = None) -> Batch:
        """The next batch: the first `size` bytes in hand."""
        first = self.parts[0]
        left = len(first.data) - size
        if left >= 0 and size:  # most batches came in one segment
            data, frame, at = first
            if left:
                self.parts[0] = _Part(data[size:], frame, at + size if at >= 0 else -1)
                data = data[:size]
            else:
                del self.parts[0]
            self.have -= size
            self.offset += size
            buffer = Buffer("tcp", data, [Origin(0, frame.number, at)])
            return Batch(buffer, frame, (frame.number,), missing, framing or self.framing)
        return self.gather(size, missing, framing)

    def gather(self, size: int, missing: str, framing: Framing | None) -> Batch:
        """A batch that came in several segments."""
        origin: list[Origin] = []
        pieces: list[bytes] = []
        frames: list[int] = []
        at = 0
        used = 0
        last = self.parts[0].frame
        for part in self.parts:
            take = min(size - at, len(part.data))
            origin.append(Origin(at, part.frame.number, part.offset))
            if part.frame.number not in frames[-2:]:
                frames.append(part.frame.number)
            if (part.frame.now_ns, part.frame.number) >= (last.now_ns, last.number):
                last = part.frame
            pieces.append(part.data if take == len(part.data) else part.data[:take])
            at += take
            if take < len(part.data):
                rest = _Part(part.data[take:], part.frame, part.offset + take if part.offset >= 0 else -1)
                self.parts[used] = rest
                break
            used += 1
            if at == size:
                break
        del self.parts[:used]
        self.have -= size
        self.offset += size
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return Batch(Buffer("tcp", data, origin), last, tuple(frames), missing, framing or self.framing)

    def partial(self, reason: str) -> Batch:
        """The beginning of a batch whose end isn't there."""
        return self.take(self.have, reason)

    def skip(self, size: int, reason: str, code: str = "resynchronised") -> Skipped:
        """Skips the first `size` bytes in hand."""
        offset = self.offset
        batch = self.take(size, reason)
        return Skipped(batch.frame, offset, size, batch.buffer.data, reason, code)

    def gap(self, gap: Gap) -> Iterator[Batch | Skipped]:
        """A hole: ends the batch in hand; its length tells where the next one starts, if it is known."""
        if self.lost or self.torn:
            yield from self.cut(final=True)
        hole = gap.size
        if self.torn:
            self.torn, hole = max(0, self.torn - hole), max(0, hole - self.torn)
            if hole:
                self.lost = "after bytes that aren't in the capture, up to the next batch"
        elif self.parts and self.lost:
            yield self.skip(self.have, self.lost)
        elif self.parts and (size := self.wanted(self.framing)):
            left = size - self.have
            yield self.partial(gap.reason)
            self.torn = max(0, left - hole)
            if hole > left:
                self.lost = "after bytes that aren't in the capture, up to the next batch"
        else:
            if self.parts:
                yield self.skip(self.have, "part of a length prefix, before bytes that aren't in the capture")
            self.lost = "after bytes that aren't in the capture, up to the next batch"
        yield self.hole(gap)

    @staticmethod
    def hole(gap: Gap) -> Skipped:
        """The bytes that aren't there."""
        cut = gap.reason == "cut"
        why = "cut off by the capture (snap length)" if cut else "not in the capture"
        return Skipped(gap.frame, gap.offset, gap.size, b"", why, "cut-by-capture" if cut else "tcp-gap")
