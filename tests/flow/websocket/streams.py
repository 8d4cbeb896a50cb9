"""WebSocket streams for tests, made by the sender of wsproto and cut into chunks; and what a cutter makes of them."""

from collections.abc import Iterable

from wsproto.frame_protocol import FrameProtocol

from zdissect.flow.framing import Framing
from zdissect.flow.stream_buffer import Batch, Skipped
from zdissect.flow.websocket import WebSocketCutter
from zdissect.records import Chunk, Frame, Gap

REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n\r\n"
RESPONSE = b"HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n"
HEADS = (REQUEST, RESPONSE)
UPGRADE = "HTTP upgrade to WebSocket"
FRAMING = Framing(0)
IP = 54
"""Bytes in front of the payload in the frames made here."""


def batch(size: int = 4) -> bytes:
    """FRAME sn 0 and PUSH "k/a" with PUT of so many bytes."""
    vle = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return bytes.fromhex("25007d00036b2f6101") + vle + b"z" * size


def chunks(data: bytes, sizes: Iterable[int], direction: int = 0, start: int = 0) -> list[Chunk]:
    """The stream in pieces of these sizes, then the rest; each in a frame of its own."""
    made, at = [], 0
    for number, size in enumerate([*sizes, len(data)], 1):
        piece = data[at : at + size]
        if piece:
            frame = Frame("test", number, number, 1, IP + len(piece), bytes(IP) + piece)
            made.append(Chunk(0, direction, start + at, piece, frame, IP))
        at += len(piece)
    return made


def run(items: Iterable[Chunk | Gap], cutter: WebSocketCutter | None = None) -> list[Batch | Skipped]:
    """All that a cutter gives, which must hold nothing back."""
    cutter = cutter or WebSocketCutter(FRAMING)
    out = [one for item in items for one in cutter.feed(item)] + list(cutter.close())
    assert not cutter.have
    return out


def split(found: list[Batch | Skipped]) -> tuple[list[bytes], list[tuple[int, int, str]]]:
    """The bytes of the batches; and offset, size and reason of what was skipped."""
    batches = [one.buffer.data for one in found if isinstance(one, Batch)]
    return batches, [(one.offset, one.size, one.reason) for one in found if isinstance(one, Skipped)]


def gap(start: int, stop: int, reason: str = "lost") -> Gap:
    """Bytes of the stream that the capture lacks."""
    return Gap(0, 0, start, stop - start, Frame("test", 999, 999, 1, 0, b""), reason)


def side(direction: int) -> FrameProtocol:
    """The sender of a direction: the client, which masks, sends 0."""
    return FrameProtocol(client=direction == 0, extensions=[])
