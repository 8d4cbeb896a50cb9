"""Finds the next message in a WebSocket stream after its place was lost: frame headers chain, and messages decode."""

from zdissect.flow import detect_datagram
from zdissect.flow.resync import Sequence
from zdissect.flow.websocket_frames import PLAUSIBLE, frame_at, is_binary, unmasked
from zdissect.grammar.batch import COMPRESSED
from zdissect.grammar.structures import DEFAULT_BATCH_SIZE

MOST_HELD = 1 << 20
"""Unreadable bytes that are kept, so that they are reported in one piece."""
_LARGEST = DEFAULT_BATCH_SIZE
"""Size of the largest batch, and so of the messages that are looked for."""
_CHAIN, _LONG_CHAIN = 3, 16
"""Frames in a row that prove a place in a stream, with a message of some size, and without one."""
_WEIGHT = 4
"""A smaller message proves nothing."""
_ALONE = 16
"""A message of so many bytes that is unlikely by chance proves its place by itself, if what follows it is damaged."""
_CREDIT = 2
_COMPRESSED = bytes([COMPRESSED.mask])
_SAMPLE = 64
"""First bytes of a message, which are enough to rule out most wrong places."""


class MessageFinder:
    """Looks for a message in a window of bytes, which its owner fills and empties."""

    def __init__(self, window: bytearray) -> None:
        self.window = window
        self.scanned = 0
        """Bytes at its beginning that start no message."""
        self.need = 0
        """Bytes in it that the next guess needs."""
        self.credit = 4 * _LARGEST
        """Bytes that may still be decoded for guesses: a budget per byte received, so that no stream takes forever."""

    def allow(self, size: int) -> None:
        """Notes that `size` bytes have come."""
        self.credit = min(self.credit + _CREDIT * size, MOST_HELD)

    def reset(self) -> None:
        """Begins anew: other bytes are in the window."""
        self.scanned = self.need = 0

    def find(self, masked: bool | None, final: bool) -> tuple[int, bool] | None:
        """(size, found): how many bytes to skip at the beginning, and whether a message starts after them; None if it
        takes more bytes to tell.

        Args:
            masked: Whether frames are masked; None if that isn't known.
            final: No more bytes will come.
        """
        data = self.window
        if len(data) < self.need and not final:
            return None
        found: bool | None = False
        while found is False:
            hit = PLAUSIBLE.search(data, self.scanned)
            self.scanned = hit.start() if hit else len(data)
            if hit is None:
                break
            found, self.need = self.chain(masked, final)
            self.scanned += found is False
        if not found and not final and self.scanned < MOST_HELD:
            return None
        size, self.scanned = self.scanned, 0
        self.need -= size
        return size, bool(found)

    def chain(self, masked: bool | None, final: bool) -> tuple[bool | None, int]:
        """(whether messages chain from `scanned` on, bytes needed to tell); None for the first if more must come."""
        data, pos = self.window, self.scanned
        links = weight = 0
        whole: list[tuple[int, int, bytes]] = []
        while pos < len(data) and not (links >= _CHAIN and weight) and links < _LONG_CHAIN:
            head = frame_at(data, pos, masked)
            start, stop, key = head or (0, len(data) + 1, b"")
            if stop < 0:
                return self.tells(whole), 0
            if stop > len(data) and final:
                return weight > 0, 0
            binary = is_binary(data, pos)
            if head and binary and not self.decodes(start, stop, key):
                return self.tells(whole), 0
            if stop > len(data):
                return None, stop
            if binary and stop - start >= _ALONE:
                whole.append((start, stop, key))
            weight += binary and stop - start >= _WEIGHT
            links += 1
            pos, masked = stop, bool(key)
        return (True, 0) if weight or links == _LONG_CHAIN else (False, 0) if final else (None, len(data) + 1)

    def tells(self, whole: list[tuple[int, int, bytes]]) -> bool:
        """Whether messages that chain prove their place, whatever follows them: one of them is unlikely by chance.
        Those of low-latency links aren't: network messages begin with many bytes, and have no FRAME around them.

        Args:
            whole: Starts, stops and masking keys of their payloads.
        """
        sequence: Sequence = {}
        for start, stop, key in whole:
            payload = unmasked(self.window[start:stop], key)
            self.credit -= stop - start
            framing = detect_datagram.transport(payload) if self.credit >= 0 else None
            if framing is not None and not framing.low_latency and detect_datagram.tells(payload, framing, sequence):
                return True
        return False

    def decodes(self, start: int, stop: int, key: bytes) -> bool:
        """Whether a payload is a batch, judged by its first bytes and, if it is whole, by all."""
        cut = stop > len(self.window)
        for size in (_SAMPLE,) if cut else sorted({_SAMPLE, max(_SAMPLE, stop - start)}):
            payload = unmasked(self.window[start : min(start + size, stop)], key)
            part = start + len(payload) < stop
            # Only a whole compressed batch tells anything.
            if (payload[:1] in (b"", _COMPRESSED) or len(payload) < _WEIGHT) if part else not payload:
                continue
            self.credit -= max(_SAMPLE, len(payload))
            if self.credit < 0 or not detect_datagram.transport(payload, cut=part):
                return False
        return True
