"""The bytes of a stream that have arrived and aren't cut yet, and what cutting yields: batches and skipped bytes."""

from typing import NamedTuple

from zdissect.engine.tape import Buffer, Origin
from zdissect.flow.framing import Framing
from zdissect.flow.misframed import Misframing
from zdissect.records import Chunk, Frame, Gap

_new = tuple.__new__  # NamedTuple's own constructor takes twice the time


class Batch(NamedTuple):
    """One batch, with its length prefix."""

    buffer: Buffer
    frame: Frame
    """The frame that completes it."""
    frames: tuple[int, ...]
    """Numbers of the frames that its bytes came from."""
    missing: str
    """Empty if whole; else why its end is missing: `cut` or `lost` (see Gap), or `end` (the stream ended)."""
    framing: Framing
    hint: Misframing | None = None
    """How it must be read, if not as its link requires."""


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
    """Code of the finding that it is; empty if it is none."""
    text: bytes = b""
    """A WebSocket text message, or the first part of it."""


class Part(NamedTuple):
    """Bytes in hand that came in one segment."""

    data: bytes
    frame: Frame
    offset: int
    """Where they start in `frame.data`; -1 if the packet was put together from IP fragments."""

    def after(self, size: int) -> "Part":
        """The part without its first `size` bytes."""
        return _new(Part, (self.data[size:], self.frame, self.offset + size if self.offset >= 0 else -1))


class StreamBuffer:
    """Bytes in hand, of one direction of a stream."""

    def __init__(self, framing: Framing) -> None:
        self.framing = framing
        """Framing of the next batch."""
        self.parts: list[Part] = []
        self.have = 0
        """How many bytes they hold."""
        self.offset = 0
        """Stream offset of the first byte in hand."""

    def add(self, chunk: Chunk) -> None:
        """Adds bytes, which follow those in hand."""
        if not self.parts:
            self.offset = chunk.offset
        self.parts.append(_new(Part, (chunk.data, chunk.frame, chunk.frame_offset)))
        self.have += len(chunk.data)

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
                self.parts[0] = first.after(size)
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
            taken = min(size - at, len(part.data))
            origin.append(Origin(at, part.frame.number, part.offset))
            if part.frame.number not in frames[-2:]:
                frames.append(part.frame.number)
            if (part.frame.now_ns, part.frame.number) >= (last.now_ns, last.number):
                last = part.frame
            pieces.append(part.data if taken == len(part.data) else part.data[:taken])
            at += taken
            if taken < len(part.data):
                self.parts[used] = part.after(taken)
                break
            used += 1
            if at == size:
                break
        del self.parts[:used]
        self.have -= size
        self.offset += size
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return Batch(Buffer("tcp", data, origin), last, tuple(frames), missing, framing or self.framing)

    def skip(self, size: int, reason: str, code: str = "resynchronised") -> Skipped:
        """Skips the first `size` bytes in hand."""
        offset = self.offset
        batch = self.take(size, reason)
        return Skipped(batch.frame, offset, size, batch.buffer.data, reason, code)


def skipped_gap(gap: Gap) -> Skipped:
    """The missing bytes of a gap, which belong to no batch."""
    cut = gap.reason == "cut"
    why = "cut off by the capture (snap length)" if cut else "not in the capture"
    return Skipped(gap.frame, gap.offset, gap.size, b"", why, "cut-by-capture" if cut else "tcp-gap")
