"""The bytes of a stream that have arrived and aren't cut yet, and what cutting yields: batches and skipped bytes."""

from typing import NamedTuple

from zdissect.engine.tape import Buffer, Origin
from zdissect.flow.framing import Framing
from zdissect.flow.misframed import Misframing
from zdissect.records import Chunk, Frame, Gap

PART_BYTES = 600
"""Memory that a part takes besides its own bytes: with its frame, whose other bytes are headers."""

_new = tuple.__new__  # NamedTuple's own constructor takes twice the time


class Batch(NamedTuple):
    """One batch, with its length prefix."""

    buffer: Buffer
    frame: Frame
    """The frame that completes it."""
    frames: tuple[int, ...]
    """Numbers of the frames that its bytes came from."""
    missing: str
    """Empty if whole; else why its end is missing: `cut` or `lost` (see Gap), `end` (the stream ended), or `limit` (it
    took too much memory)."""
    framing: Framing
    hint: Misframing | None = None
    """How it must be read, if not as its link requires."""
    around: int = 0
    """Bytes of the stream that carry it: the headers of WebSocket frames."""


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
        self.begin = self.used = 0
        """How many parts have been taken, and how many bytes of the next one: they are removed by `tidy`, because
        removing each at once would take time that grows with all that is in hand."""
        self.have = 0
        """How many bytes are in hand."""
        self.offset = 0
        """Stream offset of the first byte in hand."""

    @property
    def kept(self) -> int:
        """The memory that they take."""
        return self.have + PART_BYTES * (len(self.parts) - self.begin)

    def add(self, chunk: Chunk) -> None:
        """Adds bytes, which follow those in hand."""
        if not self.have:
            self.tidy()
            self.offset = chunk.offset
        self.parts.append(_new(Part, (chunk.data, chunk.frame, chunk.frame_offset)))
        self.have += len(chunk.data)

    def tidy(self) -> None:
        """Removes what has been taken: after that, `parts` holds just what is in hand."""
        if self.begin:
            del self.parts[: self.begin]
            self.begin = 0
        if self.used:
            self.parts[0] = self.parts[0].after(self.used)
            self.used = 0

    def peek(self, size: int) -> bytes:
        """The first bytes in hand. Many small parts are joined once, so that reading them stays linear."""
        at = self.used
        first = self.parts[self.begin].data
        if len(first) - at >= size:
            return first if len(first) == size else first[at : at + size]
        out = bytearray(first[at:])
        for index in range(self.begin + 1, len(self.parts)):
            out += self.parts[index].data[: size - len(out)]
            if len(out) == size:
                break
        return bytes(out)

    def take(self, size: int, missing: str, framing: Framing | None = None) -> Batch:
        """The next batch: the first `size` bytes in hand, which may have come in several segments."""
        origin: list[Origin] = []
        pieces: list[bytes] = []
        frames: list[int] = []
        at = 0
        last = self.parts[self.begin].frame
        while True:
            data, frame, offset = self.parts[self.begin]
            start = self.used
            taken = min(size - at, len(data) - start)
            origin.append(Origin(at, frame.number, offset + start if offset >= 0 else -1))
            if frame.number not in frames[-2:]:
                frames.append(frame.number)
            if (frame.now_ns, frame.number) >= (last.now_ns, last.number):
                last = frame
            pieces.append(data[start : start + taken])
            at += taken
            if start + taken < len(data):
                self.used = start + taken
            else:
                self.begin, self.used = self.begin + 1, 0
            if at == size:
                break
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
