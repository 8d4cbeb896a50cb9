"""The frames of the files that a command is given, in order; what is wrong with a file is kept for the end."""

from collections.abc import Iterator

from zdissect.capture import CaptureError, open_capture
from zdissect.records import Frame


class Captures:
    """The frames of files: may be iterated over once.

    Args:
        files: Their paths; - is standard input.
        limit: So many frames at most; None: all.
    """

    def __init__(self, files: tuple[str, ...], limit: int | None = None) -> None:
        self.files = files
        self.limit = limit
        self.frames = 0
        """How many were read so far."""
        self.problems: list[CaptureError] = []
        """Why files couldn't be read, or not to their end."""

    @property
    def live(self) -> bool:
        """Whether frames may come as they are captured."""
        return "-" in self.files

    def __iter__(self) -> Iterator[Frame]:
        for name in self.files:
            try:
                with open_capture(name) as capture:
                    for frame in capture:
                        self.frames += 1
                        yield frame
                        if self.frames == self.limit:
                            return
            except CaptureError as problem:
                self.problems.append(problem)
