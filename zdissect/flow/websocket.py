"""Cuts one direction of a WebSocket connection into batches: each binary message is one (notes 3.1; RFC 6455).

First comes the HTTP head by which the connection becomes a WebSocket one, then frames, which `wsproto` reads. Where it
isn't known where a frame starts, `websocket_finder` finds the next message; a gap within a message of known length
costs that message only.

It uses the `FrameDecoder` of `wsproto`, not the `Connection`, which is made for the ends of a connection: its events
don't say which bytes of the stream they came from, nor how much of a frame is still to come when there is a gap.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zdissect.flow.framing import Framing
from zdissect.flow.stream_buffer import Batch, Skipped, skipped_gap
from zdissect.flow.unprefixed import Unprefixed
from zdissect.flow.upgrade import BLANK, MOST_HEAD, header, is_upgrade, may_be_head
from zdissect.flow.websocket_finder import MOST_HELD, MessageFinder
from zdissect.flow.websocket_frames import (
    BINARY,
    CONTROL,
    WebSocketMessage,
    is_masked,
)
from zdissect.records import Chunk, Gap

if TYPE_CHECKING:  # slow to import, and few captures need it
    from wsproto.frame_protocol import Frame as Payload
    from wsproto.frame_protocol import FrameDecoder, Header

MOST_MESSAGE = 16 << 20
"""Bytes of the longest message, with its frame headers."""

_TEXT = "WebSocket text message: not Zenoh, whose messages are binary"
_ORPHAN = "WebSocket continuation frame without the start of its message"
_AFTER_GAP = "after bytes that aren't in the capture, up to the next WebSocket message"


@dataclass(slots=True)
class _Reading:
    """How far the frames of a place in a stream have been read."""

    decoder: "FrameDecoder | None" = None
    pending: int = 0
    """Bytes in hand that the decoder has used: a header, or a skipped frame so far."""
    message: WebSocketMessage | None = None
    """The binary message that isn't whole yet."""
    text: bool = False
    """Whether it is within a text message of several frames."""
    reason: str = ""
    """Why the frame being read is skipped; empty if it isn't."""


class WebSocketCutter(Unprefixed):
    """Cuts one direction of a WebSocket connection. Set `lost` first if the capture starts in its middle."""

    def __init__(self, framing: Framing) -> None:
        super().__init__(framing)
        self.window = bytearray()
        """Bytes in hand that the decoder hasn't been given."""
        self.scanned = 0
        """Bytes in it in which the HTTP head doesn't end."""
        self.reading = _Reading()
        self.finder = MessageFinder(self.window)
        self.masked: bool | None = None
        """Whether frames are masked, as a client's are; None until it is known whose they are."""
        self.upgraded = False
        self.guessed = False
        """Whether the place in the stream was guessed."""
        self.over = ""
        """Why nothing more can be read."""

    @property
    def kept(self) -> int:
        """The memory that is taken by what is in hand, and by the message that isn't whole yet."""
        message = self.reading.message
        return super().kept + len(self.window) + (message.kept if message is not None else 0)

    def feed(self, item: Chunk | Gap) -> Iterator[Batch | Skipped]:
        """Messages and skipped bytes that this item completes."""
        if isinstance(item, Chunk):
            self.window += item.data
            self.finder.allow(len(item.data))
        yield from super().feed(item)

    def close(self) -> Iterator[Batch | Skipped]:
        """What is left when the stream ends: a message without its end, or bytes that are no message."""
        yield from self.cut(final=True)
        yield from self.leave("end")

    def cut(self, final: bool) -> Iterator[Batch | Skipped]:
        """Cuts what is in hand."""
        while self.have and (yield from self.step(final)):
            pass

    def step(self, final: bool) -> Generator[Batch | Skipped, None, bool]:
        """Moves one step on; returns false if that takes more bytes."""
        if self.torn:
            size = min(self.torn, self.have)
            self.torn -= size
            yield self.drop(size, "the rest of a message whose middle isn't in the capture", "torn-batch")
            return True
        if self.over:
            self.window.clear()
            if self.have < MOST_HELD and not final:
                return False
            yield self.drop(self.have, self.over)
            return True
        if self.lost:
            return (yield from self.find(final))
        if not self.upgraded:
            return (yield from self.upgrade(final))
        return (yield from self.read())

    def drop(self, size: int, reason: str, code: str = "websocket") -> Skipped:
        """Skips the first bytes in hand, which no decoder holds."""
        del self.window[:size]
        return self.skip(size, reason, code)

    def leave(self, missing: str) -> Iterator[Batch | Skipped]:
        """Gives up what is being read, with all bytes in hand."""
        yield from self.part(missing)
        if self.have:
            what = "a WebSocket frame" if self.upgraded else "an HTTP head"
            rest = f"the beginning of {what} without the rest"
            code = "resynchronised" if self.lost and not self.over else "websocket"
            yield self.drop(self.have, self.over or self.lost or rest, code)
        self.window.clear()

    def part(self, missing: str) -> Iterator[Batch]:
        """Ends the message that is being read, if there is one, and the reading of frames."""
        message, self.reading = self.reading.message, _Reading()
        self.scanned = 0
        self.finder.reset()
        if message is not None and message.last is not None:
            yield message.batch(missing, self.framing)

    def upgrade(self, final: bool) -> Generator[Skipped, None, bool]:
        """Skips the HTTP head."""
        end = self.window.find(BLANK, max(0, self.scanned - len(BLANK)))
        size = end + len(BLANK)
        self.scanned = len(self.window)
        if not may_be_head(self.window):
            self.lost = "the upgrade to WebSocket isn't in the capture"
        elif end < 0 and len(self.window) < MOST_HEAD:
            self.over = "the stream ends within an HTTP head" if final else ""
            if not final:
                return False
        elif end < 0 or size > MOST_HEAD:
            self.over = f"an HTTP head of more than {MOST_HEAD} bytes"
        else:
            head = bytes(self.window[:size])
            self.upgraded = True
            if is_upgrade(head):
                self.start(masked=head.startswith(b"GET "))
                names = "" if self.masked else header(head, b"sec-websocket-extensions").decode("latin-1")
                note = f" with an extension, whose messages aren't read: {names}" if names else ""
                yield self.drop(size, "HTTP upgrade to WebSocket" + note, "websocket" if names else "")
            else:
                self.over = "HTTP, but no upgrade to WebSocket"
        self.scanned = 0
        return True

    def start(self, masked: bool) -> None:
        """Expects frames from here on."""
        from wsproto.frame_protocol import FrameDecoder

        self.masked = masked
        self.reading.decoder = FrameDecoder(client=not masked)

    def read(self) -> Generator[Batch | Skipped, None, bool]:
        """Reads frames, as far as there are any."""
        from wsproto.frame_protocol import ParseFailed

        decoder = self.reading.decoder
        assert decoder is not None
        decoder.receive_bytes(bytes(self.window))
        self.window.clear()
        while not self.over:
            left = len(decoder.buffer)
            if decoder.header is None:
                try:
                    if not decoder.parse_header():
                        return False
                    fault = self.open(decoder.header)
                except ParseFailed as error:
                    fault = str(error)
                if fault:
                    yield from self.fail(fault)
                    return True
                self.reading.pending = left - len(decoder.buffer)
                left = len(decoder.buffer)
            piece = decoder.process_buffer()
            if piece is None:
                return False
            yield from self.took(piece, left - len(decoder.buffer))
        return True

    def open(self, header: "Header | None") -> str:
        """Notes a frame header; returns what is wrong with it, if anything."""
        assert header is not None
        size, opcode, reading = header.payload_len, header.opcode, self.reading
        reading.reason = ""
        if opcode & CONTROL:
            reading.reason = f"WebSocket {opcode.name.lower()}"
        elif opcode:
            if reading.message or reading.text:
                return "a message starts before the one before it has ended"
            if opcode == BINARY:
                reading.message = WebSocketMessage()
            else:
                reading.text, reading.reason = True, _TEXT
        elif reading.message is None:
            reading.reason = _TEXT if reading.text else _ORPHAN
        if size + (reading.message.cost if reading.message else 0) > MOST_MESSAGE:
            return f"a message of more than {MOST_MESSAGE} bytes"
        return ""

    def took(self, piece: "Payload", used: int) -> Iterator[Batch | Skipped]:
        """Takes a piece of a frame, which was `used` bytes in hand."""
        payload, reading = piece.payload, self.reading
        assert isinstance(payload, bytes)
        header, reading.pending = reading.pending, 0
        if not reading.reason and reading.message is not None:
            reading.message.add(self.take(header + used, ""), header, payload)
            if piece.message_finished and piece.frame_finished:
                message, reading.message = reading.message, None
                yield message.batch("", self.framing)
        elif not piece.frame_finished:
            reading.pending = header + used
        else:
            if reading.reason == "WebSocket close":
                self.over = "bytes after the WebSocket close"
                reading.reason += f" {int.from_bytes(payload[:2])}" if len(payload) > 1 else ""
            elif piece.message_finished and not piece.opcode & CONTROL:
                reading.text = False
            code = "" if piece.opcode & CONTROL else "websocket"
            skipped = self.skip(header + used, reading.reason, code)
            yield skipped._replace(text=payload) if reading.reason == _TEXT else skipped

    def fail(self, fault: str) -> Iterator[Batch]:
        """Gives up after a fault: for good, unless the place in the stream was guessed."""
        rest = self.peek(self.have)
        yield from self.part("end")
        self.window[:] = rest
        if self.guessed:
            self.lost = f"after a WebSocket protocol error ({fault}), up to the next message"
        else:
            self.over = f"WebSocket protocol error: {fault}"

    def gap(self, gap: Gap) -> Iterator[Batch | Skipped]:
        """Takes a gap: it ends the message in hand; the length of its frame tells where the next starts, if known."""
        left = self.torn
        decoder = self.reading.decoder
        if decoder is not None and decoder.header is not None:
            left = decoder.header.payload_len - decoder.payload_consumed - len(decoder.buffer)
        yield from self.leave(gap.reason)
        self.torn = max(0, left - gap.size)
        if not left or gap.size > left:
            self.lost = self.lost or _AFTER_GAP
        elif self.masked is not None:
            self.start(self.masked)
        if gap.size:
            yield skipped_gap(gap)

    def find(self, final: bool) -> Generator[Skipped, None, bool]:
        """Looks for the next message."""
        answer = self.finder.find(self.masked, final)
        if answer is None:
            return False
        size, found = answer
        if size:
            yield self.drop(size, self.lost, "resynchronised")
        if found:
            self.lost, self.upgraded, self.guessed = "", True, True
            self.start(masked=is_masked(self.window))
        return found
