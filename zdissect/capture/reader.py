"""What the readers of both formats share: their input, their counts, and their error messages."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from zdissect.capture.errors import CaptureError, Defect
from zdissect.records import Frame

MAX_RECORD = 16 << 20
"""Longest record believed, in bytes. No network has such frames: a larger length is damage, and is not allocated."""

_SKIP_STEP = 1 << 16


class Reader:
    """Reads frames in file order by `read(n)`, which gives n bytes, or fewer at the end of the data.

    The four bytes of `magic` by which the format was recognised have been read already. Iterating (once) raises
    `CaptureError` after the last good frame where the data are damaged or cut.
    """

    format: ClassVar[str]
    record: ClassVar[str] = "record"
    """What the standard of the format calls an entry of its files, for messages."""

    def __init__(self, read: Callable[[int], bytes], magic: bytes, name: str, unit: str = "byte") -> None:
        self.read = read
        self.magic = magic
        self.name = name
        self.unit = unit
        """What an offset counts, for messages: `byte`, or `unpacked byte` in packed files."""
        self.link_types: set[int] = set()
        """LINKTYPE_ values of the interfaces described so far."""
        self.frames = 0
        """Frames read so far."""
        self.bytes = 0
        """Captured bytes of those frames, without the headers of the file format."""
        self.others = 0
        """Records read so far that hold no frame."""

    def __iter__(self) -> Iterator[Frame]:
        raise NotImplementedError

    def complete(self, data: bytes, at: int) -> bool:
        """Whether the bytes from a place on hold the next frame whole, or damage: then it can be read without waiting.

        It may say no in rare cases where they do.
        """
        raise NotImplementedError

    def mark(self) -> list[Any]:
        """Where in the file the next record starts, and what a reader must know there: for `resume`, as JSON types.

        Valid between two frames only.
        """
        raise NotImplementedError

    def resume(self, mark: list[Any]) -> None:
        """Take over what another reader of the same file knew; the next bytes to be read are those at `mark[0]`."""
        raise NotImplementedError

    def skip(self, size: int) -> int:
        """Read `size` bytes, a little at a time, and discard them; return how many there were."""
        left = size
        while left and (piece := self.read(min(left, _SKIP_STEP))):
            left -= len(piece)
        return size - left

    def short(self, size: int) -> CaptureError:
        """The error for data that end after `size` bytes, inside the file header."""
        return CaptureError(
            self.name,
            f"cut short: it starts as {self.format} but ends at {self.unit} {size}, inside the file header; "
            "there is no frame in it; capture or copy it again",
            Defect.CUT,
        )

    def cut(self, start: int, end: int) -> CaptureError:
        """The error for data that end at offset `end`, inside the record that starts at `start`."""
        return CaptureError(
            self.name,
            f"cut short: it ends at {self.unit} {end}, inside {self._where(start)}; {self.progress()}; "
            "to get the rest, copy it again when the capture has been stopped",
            Defect.CUT,
        )

    def damaged(self, start: int, why: str) -> CaptureError:
        """The error for a record at offset `start` that cannot be right."""
        return CaptureError(
            self.name,
            f"damaged in {self._where(start)}: {why}; {self.progress()}; what follows cannot be found: copy it again",
            Defect.DAMAGED,
        )

    def progress(self) -> str:
        """What was read before the error, for the message."""
        if self.frames == 0:
            return "no frame comes before that"
        return f"the {self.frames} frames before that were read" if self.frames > 1 else "the frame before was read"

    def _where(self, start: int) -> str:
        return f"{self.record} {self.frames + self.others + 1}, which starts at {self.unit} {start}"
