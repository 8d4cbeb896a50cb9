"""Ticks: the frames at which deadlines are checked, whatever they carry. (`clock` says what time it is.)

A tick is the first frame of each second that passes (`Frame.now_ns`).
"""

from zdissect.flow.clock import EARLY_NS

TICK_NS = 10**9


class Ticks:
    """Tells which frames are ticks."""

    def __init__(self) -> None:
        self.next_ns = EARLY_NS
        """A frame before this time isn't one."""

    def feed(self, now_ns: int) -> bool:
        """Takes the time of a frame; returns whether it is a tick."""
        if now_ns < self.next_ns:
            return False
        self.tick(now_ns)
        return True

    def tick(self, now_ns: int) -> None:
        """Makes the current frame a tick."""
        self.next_ns = self.after(now_ns)

    @staticmethod
    def after(now_ns: int) -> int:
        """The earliest time of the tick after one at a time."""
        return (now_ns // TICK_NS + 1) * TICK_NS


class ToldTicks(Ticks):
    """The ticks of a capture of which only some frames are here: it is told which of them are ticks."""

    def __init__(self) -> None:
        super().__init__()
        self.expected = False
        """Whether the next frame is a tick."""

    def feed(self, now_ns: int) -> bool:
        """Takes the time of a frame; returns whether it was announced as a tick."""
        if self.expected:
            self.expected = False
            self.tick(now_ns)
            return True
        return False
