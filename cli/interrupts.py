"""Ctrl-C while files are read for a report: the frames that were read until then still count."""

import signal
from collections.abc import Iterable, Iterator
from typing import Any

from zdissect.records import Frame


class UntilInterrupted:
    """Frames up to Ctrl-C, for a `with` statement. A second Ctrl-C ends everything, as the first one does elsewhere."""

    def __init__(self, frames: Iterable[Frame]) -> None:
        self.frames = frames
        self.interrupted = False
        self._reading = False
        """Whether it waits for a frame, which may never come."""

    def __enter__(self) -> "UntilInterrupted":
        self._before = signal.getsignal(signal.SIGINT)
        if self._before is signal.default_int_handler:  # else Ctrl-C is ignored, or somebody else's
            signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._before)

    def _interrupt(self, *_: Any) -> None:
        again, self.interrupted = self.interrupted, True
        if self._reading or again:
            raise KeyboardInterrupt

    def __iter__(self) -> Iterator[Frame]:
        frames = iter(self.frames)
        while not self.interrupted:
            self._reading = True
            try:
                frame = next(frames, None)
            except KeyboardInterrupt:
                self.interrupted = True
                return
            finally:
                self._reading = False
            if frame is None:
                return
            yield frame
