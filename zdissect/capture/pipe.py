"""The reading end of a pipe, which can tell whether more has come than was read."""

import io
import os
import select
from collections.abc import Callable

_PIECE = 1 << 18


class Pipe:
    """A pipe as a file with the few methods that are needed to read a capture.

    Args:
        raw: The open pipe, unbuffered. It is closed with it, if it closes its descriptor.
    """

    def __init__(self, raw: io.FileIO) -> None:
        self.raw = raw
        self.data = b""
        self.at = 0
        """Up to where `data` was read."""

    def wait(self, seconds: float) -> bool:
        """Waits for more bytes than were taken, or the end; returns whether either has come."""
        return bool(select.select([self.raw], [], [], seconds)[0])

    def ready(self, complete: Callable[[bytes, int], bool]) -> bool:
        """Takes what has come, until that is complete; returns whether it is, or has ended. Doesn't wait.

        Args:
            complete: Whether the bytes from a place on hold what is to be read next: see `Reader.complete`.
        """
        while not complete(self.data, self.at):
            if not select.select([self.raw], [], [], 0)[0]:
                return False
            if not self.more():
                return True
        return True

    def more(self) -> bool:
        """Reads what has come, and waits if that is nothing; returns false at the end."""
        piece = os.read(self.raw.fileno(), _PIECE)
        self.data = self.data[self.at :] + piece
        self.at = 0
        return bool(piece)

    def read(self, size: int) -> bytes:
        """Returns `size` bytes, or fewer at the end."""
        while len(self.data) - self.at < size and self.more():
            pass
        start, self.at = self.at, min(self.at + size, len(self.data))
        return self.data[start : self.at]

    def read1(self, size: int) -> bytes:
        """Returns `size` bytes or fewer, what has come; none at the end."""
        if self.at == len(self.data):
            self.more()
        return self.read(min(size, len(self.data) - self.at))

    def fileno(self) -> int:
        """The descriptor."""
        return self.raw.fileno()

    @property
    def closed(self) -> bool:
        """Whether it can't be read any more."""
        return self.raw.closed

    def close(self) -> None:
        """Closes it."""
        self.raw.close()
