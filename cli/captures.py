"""The frames that a command is given, of files in order or of an interface; what is wrong is kept for the end."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from zdissect.capture import CaptureError, open_capture
from zdissect.records import Frame

from .file_progress import file_progress
from .options import CaptureOptions, LiveOptions

if TYPE_CHECKING:
    from .interface import Interface


class Captures:
    """The frames of files: may be iterated over once.

    Args:
        files: Their paths; - is standard input.
        limit: So many frames at most; None: all.
    """

    endless = False

    def __init__(self, files: tuple[str, ...], limit: int | None = None) -> None:
        self.files = files
        self.limit = limit
        self.frames = 0
        """How many were read so far."""
        self.signal = 0
        """The signal that has ended them: none does, but Ctrl-C everything."""
        self.problems: list[CaptureError] = []
        """Why files couldn't be read, or not to their end."""

    @property
    def live(self) -> bool:
        """Whether frames may come as they are captured."""
        return "-" in self.files

    def __iter__(self) -> Iterator[Frame]:
        progress = file_progress(self.files)
        for name in self.files:
            try:
                with open_capture(name) as capture:
                    for frame in capture if progress is None else progress.through(capture):
                        self.frames += 1
                        yield frame
                        if self.frames == self.limit:
                            return
            except CaptureError as problem:
                self.problems.append(problem)

    @property
    def now_ns(self) -> None:
        """The time, where it passes without frames."""
        return None

    def greeting(self) -> str:
        """What is said before the first frame: nothing."""
        return ""

    def summary(self) -> str:
        """What is said of the capture at the end: nothing."""
        return ""

    def __enter__(self) -> "Captures":
        return self

    def __exit__(self, *_: object) -> None:
        pass


def captured(capture: CaptureOptions, live: LiveOptions) -> "Captures | Interface":
    """The frames of files or of an interface, whichever was asked for. Raises click.UsageError if it is neither."""
    if live.interface is not None:
        if capture.files:
            raise click.UsageError("give files to read, or -i to capture, not both")
        from .interface import Interface  # only here: it takes what starts programs

        return Interface(live, capture.frames)
    if live.exact:
        raise click.UsageError("--exact needs -w, and files to choose frames from")
    for option, given in (("-f", live.capture_filter), ("-a", live.autostop), ("-b", live.ring)):
        if given:
            raise click.UsageError(f"{option} needs -i INTERFACE: it is about live captures")
    if not capture.files:
        raise click.UsageError("give a FILE, or -i INTERFACE to capture on")
    return Captures(capture.files, capture.frames)
