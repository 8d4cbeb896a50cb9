"""How much was read: files, frames, and the time from the first to the last."""

from typing import Any

from zdissect.flow.clock import Clock
from zdissect.records import Frame


class Extent:
    """The files, frames and times of a capture."""

    def __init__(self) -> None:
        self.frames = 0
        self.files: dict[str, None] = {}
        """Paths, in the order in which they were read."""
        self.first_ns = self.last_ns = 0
        self.clock = Clock()
        self.began_ns = self.now_ns = 0
        """First and last time, without leaps of the clock."""
        self.latest_ns = 0
        """The time of the most recent frame, without leaps."""

    def frame(self, frame: Frame) -> None:
        """Takes a frame."""
        ts_ns = frame.ts_ns
        if not self.frames:
            self.first_ns = self.last_ns = self.began_ns = self.now_ns = ts_ns
        self.frames += 1
        self.files[frame.source] = None
        now_ns = self.latest_ns = self.clock.feed(frame).now_ns
        if ts_ns > self.last_ns:  # min and max take longer than all else here
            self.last_ns = ts_ns
        elif ts_ns < self.first_ns:
            self.first_ns = ts_ns
        if now_ns > self.now_ns:
            self.now_ns = now_ns
        elif now_ns < self.began_ns:
            self.began_ns = now_ns

    def report(self) -> dict[str, Any]:
        """The entry of a report."""
        return {
            "files": list(self.files),
            "frames": self.frames,
            "first_ts_ns": self.first_ns if self.frames else None,
            "last_ts_ns": self.last_ns if self.frames else None,
            "duration_s": (self.now_ns - self.began_ns) / 1e9,
        }
