"""Where bytes of units are in frames: what is written to a unit gets into every place that it came from."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from zdissect.anonymize.fills import ONES
from zdissect.anonymize.lz4size import compress


class FramePlace(NamedTuple):
    """A piece of a unit: its bytes from `start` on are `size` bytes of a frame, from `offset` on."""

    start: int
    frame: int
    """Its place in the capture, from 0."""
    offset: int
    size: int


class Store(Protocol):
    """Frames, and the bytes that take their place."""

    def old(self, place: int, offset: int, size: int) -> bytes: ...
    def new(self, place: int, offset: int, size: int) -> bytes: ...
    def write(self, place: int, offset: int, data: bytes) -> None: ...


class UnitTarget(Protocol):
    """What bytes of a unit are written to."""

    def write(self, start: int, data: bytes) -> None: ...


class InFrames:
    """A unit whose bytes are in frames, as they are or masked."""

    def __init__(self, store: Store, data: bytes, places: list[FramePlace], masked: bool = False) -> None:
        self.store = store
        self.data = data
        self.places = places
        self.masked = masked

    def write(self, start: int, data: bytes) -> None:
        """Writes bytes from `start` on."""
        for place in self.places:
            low, high = max(start, place.start), min(start + len(data), place.start + place.size)
            if low >= high:
                continue
            piece, offset = data[low - start : high - start], place.offset + low - place.start
            if self.masked:  # the mask is what makes the old bytes of the unit into those of the frame
                piece = _xor(piece, _xor(self.data[low:high], self.store.old(place.frame, offset, high - low)))
            self.store.write(place.frame, offset, piece)


class Compressed:
    """A unit that is an LZ4 block in another one: it is compressed again, to the size that it had."""

    def __init__(self, outer: UnitTarget, start: int, size: int, plain: bytes, failed: Callable[[], None]) -> None:
        self.outer = outer
        self.start = start
        self.size = size
        self.plain = bytearray(plain)
        self.failed = failed
        """What to do when it can't be."""

    def fits(self, data: bytes) -> bool:
        """Takes the whole content, if it can be compressed to that size."""
        block = compress(data, self.size)
        if block is None:
            return False
        self.plain[:] = data
        self.outer.write(self.start, block)
        return True

    def write(self, start: int, data: bytes) -> None:
        """Writes bytes from `start` on; if they can't be, the whole unit is overwritten."""
        content = bytes(self.plain[:start]) + data + bytes(self.plain[start + len(data) :])
        if not self.fits(content):
            self.overwrite()

    def overwrite(self) -> None:
        """Leaves nothing of it."""
        self.outer.write(self.start, ONES * self.size)
        self.failed()


class FragmentPiece(NamedTuple):
    """Bytes of a message that are in another unit."""

    target: UnitTarget
    start: int
    data: bytes
    frame: int
    """Number of the frame that completes that unit."""


class InPieces:
    """A message in fragments."""

    def __init__(self, pieces: list[FragmentPiece]) -> None:
        self.pieces = pieces

    def write(self, start: int, data: bytes) -> None:
        """Writes bytes from `start` on."""
        at = 0
        for target, place, old, _ in self.pieces:
            low, high = max(start, at), min(start + len(data), at + len(old))
            if low < high:
                target.write(place + low - at, data[low - start : high - start])
            at += len(old)


def _xor(left: bytes, right: bytes) -> bytes:
    size = min(len(left), len(right))
    return (int.from_bytes(left[:size]) ^ int.from_bytes(right[:size])).to_bytes(size)
