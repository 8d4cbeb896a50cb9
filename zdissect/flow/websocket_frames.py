"""Frames of a WebSocket without `wsproto`: headers that are searched for, and messages in pieces.

Payloads are unmasked by the `FrameDecoder` of `wsproto`, which `websocket` feeds.
"""

import re
from itertools import pairwise

from zdissect.engine.tape import Buffer, Origin
from zdissect.flow.framing import Framing
from zdissect.flow.stream_buffer import Batch
from zdissect.records import Frame

PLAUSIBLE = re.compile(rb"[\x80\x82\x88-\x8a]")
"""First bytes of frames that are searched for: whole messages that aren't text, and control frames."""
BINARY, CONTROL = 2, 8
_PIECE_BYTES = 300
"""Memory that a piece of a message takes besides its own bytes."""


class WebSocketMessage:
    """A binary message, as far as it has arrived."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.origin: list[Origin] = []
        self.frames: list[int] = []
        self.last: Frame | None = None
        self.size = 0
        self.cost = 0
        """Its size with the frame headers."""

    @property
    def kept(self) -> int:
        """The memory that it takes."""
        return self.size + _PIECE_BYTES * len(self.pieces)

    def add(self, raw: Batch, header: int, payload: bytes) -> None:
        """Adds a piece: `header` bytes of a frame header, then payload, which `raw` holds as it was in the stream."""
        self.frames += [number for number in raw.frames if number not in self.frames[-2:]]
        if self.last is None or (raw.frame.now_ns, raw.frame.number) >= (self.last.now_ns, self.last.number):
            self.last = raw.frame
        end = Origin(len(raw.buffer.data), 0, 0)
        for origin, after in pairwise([*raw.buffer.origin, end]):
            if after.start > header:
                inside = max(0, header - origin.start)
                offset = origin.offset + inside if origin.offset >= 0 else -1
                self.origin.append(Origin(self.size + origin.start + inside - header, origin.frame, offset))
        self.pieces.append(payload)
        self.size += len(payload)
        self.cost += len(raw.buffer.data)

    def batch(self, missing: str, framing: Framing) -> Batch:
        """The message as a batch; it must have at least one piece."""
        assert self.last is not None
        buffer = Buffer("ws", b"".join(self.pieces), self.origin)
        return Batch(buffer, self.last, tuple(self.frames), missing, framing, around=self.cost - self.size)


def frame_at(data: bytearray, pos: int, masked: bool | None) -> tuple[int, int, bytes] | None:
    """(start and stop of the payload, masking key) of a frame; None if its header isn't whole; stop -1: no frame."""
    if not PLAUSIBLE.match(data, pos):
        return 0, -1, b""
    if pos + 2 > len(data):
        return None
    size, mask = data[pos + 1] & 127, is_masked(data, pos)
    if masked not in (None, mask) or size == 127 or (data[pos] & CONTROL and size > 125):
        return 0, -1, b""
    start = pos + 2 + 2 * (size == 126) + 4 * mask
    if start > len(data):
        return None
    if size == 126:
        size = int.from_bytes(data[pos + 2 : pos + 4])
        if size < 126:
            return 0, -1, b""
    return start, start + size, bytes(data[start - 4 : start]) if mask else b""


def is_masked(data: bytearray, pos: int = 0) -> bool:
    """Whether a frame is masked, according to the second byte of its header."""
    return data[pos + 1] > 127


def is_binary(data: bytearray, pos: int) -> bool:
    """Whether a frame belongs to a binary message, according to the first byte of its header."""
    return data[pos] & 15 == BINARY


def unmasked(data: bytearray, key: bytes) -> bytes:
    """A payload, unmasked."""
    if not key:
        return bytes(data)
    size = len(data)
    mask = key * (size // len(key) + 1)
    return (int.from_bytes(data) ^ int.from_bytes(mask[:size])).to_bytes(size)
