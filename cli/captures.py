"""The frames that a command is given, of files in order or of an interface; what is wrong is kept for the end."""

import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from zdissect.capture import Capture, CaptureError, open_capture
from zdissect.capture.capture_file import regular
from zdissect.parallel.split import SPLIT_BYTES
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
        self.reading: Capture | None = None
        """The file that is being read."""
        self.before = 0
        """Bytes of those before it."""
        self.problems: list[CaptureError] = []
        """Why files couldn't be read, or not to their end."""

    @property
    def size(self) -> int:
        """Bytes of all files; 0 if some aren't regular ones."""
        try:
            known = [os.stat(name) for name in self.files]
        except OSError:
            return 0
        regular = not self.live and all(stat.S_ISREG(one.st_mode) for one in known)
        return sum(one.st_size for one in known) if regular else 0

    @property
    def large(self) -> bool:
        """Whether several processes are worth a first look at all files."""
        return self.size >= SPLIT_BYTES

    @property
    def live(self) -> bool:
        """Whether frames may come as they are captured."""
        return not all(map(regular, self.files))

    def __iter__(self) -> Iterator[Frame]:
        return (frame for frame in self.arriving() if frame is not None)

    def arriving(self) -> Iterator[Frame | None]:
        """The frames, and None where no more has come yet."""
        progress, live = file_progress(self.files), self.live
        for name in self.files:
            try:
                with open_capture(name) as capture:
                    self.reading = capture
                    for frame in capture if progress is None else progress.through(capture):
                        self.frames += 1
                        yield frame
                        if self.frames == self.limit:
                            return
                        if live and not capture.ready():
                            yield None
            except CaptureError as problem:
                self.problems.append(problem)
            if self.reading is not None:
                self.before, self.reading = self.position, None

    @property
    def position(self) -> int:
        """How many bytes of the files have been read."""
        return self.before + ((self.reading.position if self.reading is not None else None) or 0)

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
