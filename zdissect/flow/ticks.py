"""Ticks: the frames at which what is overdue is looked for, whatever they carry. (`clock` says what time it is.)

A tick is the first frame of each second that passes (`Frame.now_ns`).
"""

from zdissect.flow.clock import EARLY_NS

TICK_NS = 10**9


class Ticks:
    """Tells which frames are ticks. One whose time is below `next_ns` is none, and needn't be fed."""

    def __init__(self) -> None:
        self.next_ns = EARLY_NS

    def feed(self, now_ns: int) -> bool:
        """Takes the time of a frame; whether it is a tick."""
        if now_ns < self.next_ns:
            return False
        self.tick(now_ns)
        return True

    def tick(self, now_ns: int) -> None:
        """It ticks."""
        self.next_ns = (now_ns // TICK_NS + 1) * TICK_NS


class ToldTicks(Ticks):
    """Those of a capture of which only some frames are here: which frames are ticks is told."""

    def __init__(self) -> None:
        super().__init__()
        self.expected = False
        """The next frame is one."""

    def feed(self, now_ns: int) -> bool:
        """Takes the time of a frame, which is a tick only if that was told."""
        if self.expected:
            self.expected = False
            self.tick(now_ns)
            return True
        return False
