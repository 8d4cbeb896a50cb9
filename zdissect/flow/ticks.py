"""The time of the capture, in ticks: what doesn't come is looked for when it ticks, whatever the frames carry.

A tick is the first frame of each second. Clocks of captures are set, and single times can be damaged: a frame that is
hours away from the others shows the time only if the next one agrees.
"""

TICK_NS = 10**9
JUMP_NS = 3600 * 10**9
"""What is further away than this is believed only if two frames in a row say so."""


class Ticks:
    """Tells which frames are ticks. A frame whose time is from `low` to below `high` is none, and needn't be fed."""

    def __init__(self) -> None:
        self.now_ns = 0
        """The time of the last tick."""
        self.low = self.high = 0
        self.doubt_ns: int | None = None
        """The time of the last frame that was too far away."""
        self.begun = False

    def feed(self, ts_ns: int) -> bool:
        """Takes the time of a frame; whether it is a tick."""
        if self.begun and not self.near(ts_ns, self.now_ns):
            before, self.doubt_ns = self.doubt_ns, ts_ns
            if before is None or not self.near(ts_ns, before):
                return False
        elif self.begun and ts_ns < self.high:
            return False
        self.tick(ts_ns)
        return True

    def tick(self, ts_ns: int) -> None:
        """It ticks."""
        self.begun = True
        self.doubt_ns = None
        self.now_ns = ts_ns
        self.low, self.high = ts_ns - JUMP_NS, (ts_ns // TICK_NS + 1) * TICK_NS

    @staticmethod
    def near(one_ns: int, other_ns: int) -> bool:
        """Whether two times may belong to frames that follow each other."""
        return -JUMP_NS <= one_ns - other_ns <= JUMP_NS


class ToldTicks(Ticks):
    """Those of a capture of which only some frames are here: which frames are ticks is told."""

    def __init__(self) -> None:
        super().__init__()
        self.expected = False
        """The next frame is one."""

    def feed(self, ts_ns: int) -> bool:
        """Takes the time of a frame, which is a tick only if that was told."""
        if self.expected:
            self.expected = False
            self.tick(ts_ns)
            return True
        return False
