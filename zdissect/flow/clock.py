"""The clock of a capture, which gives each frame its time: capture times without leaps. (`ticks` says when to look.)

A file can hold any time. One flipped bit moves a frame by minutes or by centuries, a clock may be set, two interfaces
may have two clocks, files of several days may be put together. What waits for time to pass goes by `Frame.now_ns`: a
step of more than `LEAP_NS` from one frame to the next, in either direction, counts as no time at all, unless it may
have been a silence and the next frame agrees. A clock that was seen before goes on where it was, so that a single odd
time doesn't affect the frames after it.
"""

from operator import sub
from typing import Any

from zdissect.records import Frame, Leapt

LEAP_NS = 3600 * 10**9
"""Most time between two frames that is believed without a second frame to confirm it."""
MOST_SILENCE_NS = 366 * 24 * 3600 * 10**9
"""Most time that is believed to have passed if two frames in a row say so; if they say more, a clock was set."""
MOST_CLOCKS = 8
"""Clocks that are remembered, the most recent ones."""

EARLY_NS = -(1 << 200)
"""Earlier than any frame."""
_NONE = 1 << 200
"""Further from any time than any leap."""


class Clock:
    """The clock of a capture, whose frames are fed in order. Sans-IO, picklable."""

    def __init__(
        self, last_ns: int = _NONE, shift: int = 0, clocks: tuple[tuple[int, int], ...] = (),
        doubt: tuple[int, str] | None = None,
    ) -> None:  # fmt: skip
        """Without arguments, or with those that `state` gave."""
        self.last_ns = last_ns
        """Time of the last frame."""
        self.shift = shift
        """How far its clock is ahead of the time that has passed."""
        self.clocks = dict(clocks)
        """Last times by the shifts of other clocks."""
        self.doubt = doubt
        """If the last frame may have come after a silence: the shift if it did, and the finding's text if it didn't."""
        self.told = ""
        """Text of a finding about the time of the last frame, or of the one before it; empty if there is none."""
        self.odd = doubt is not None
        """Whether the last frame was a leap."""

    def state(self) -> tuple[Any, ...]:
        """What another `Clock` needs to go on from here, as JSON types."""
        return self.last_ns, self.shift, tuple(self.clocks.items()), self.doubt

    def feed(self, frame: Frame) -> Frame:
        """The frame with `now_ns`, the time that deadlines go by."""
        if -LEAP_NS <= frame[2] - self.last_ns <= LEAP_NS:
            self.last_ns = frame[2]
            if self.odd:
                self.agree()
            return Leapt(frame, frame[2] - self.shift) if self.shift else frame
        return self.leap(frame)

    def steady(self, times_ns: list[int]) -> bool:
        """Whether the next frames, with these times, hold no leap, and none is in doubt."""
        if self.odd or self.shift or self.last_ns == _NONE:
            return False
        steps = map(sub, times_ns, [self.last_ns, *times_ns])
        return all(-LEAP_NS <= step <= LEAP_NS for step in steps)

    def agree(self) -> None:
        """Handles a frame whose time is near that of the leap before it."""
        self.odd, self.told = False, ""
        if self.doubt is not None:  # it was a silence after all
            self.shift = self.doubt[0]
            self.clocks.pop(self.shift, None)
            self.doubt = None

    def leap(self, frame: Frame) -> Frame:
        """Handles a frame whose time is far from that of the one before it, or the first frame."""
        ts_ns, before, doubt = frame.ts_ns, self.last_ns, self.doubt
        known = next((shift for shift, last_ns in self.clocks.items() if abs(ts_ns - last_ns) <= LEAP_NS), None)
        self.last_ns, self.odd, self.doubt = ts_ns, True, None
        leap = doubt[1] if doubt else ""
        if before != _NONE:
            own = self.shift
            self.turn(known, ts_ns - (before - own), before)
            if known is None:
                text = f"the time of frame {frame.number} is {_span(ts_ns - before)} that of the frame before"
                text = text if frame.number > 1 else ""  # a later file may well be from another day
                if LEAP_NS < ts_ns - before <= MOST_SILENCE_NS:
                    self.doubt = own, text
                else:
                    leap = text or leap
        if not -(1 << 63) <= ts_ns < 1 << 63:
            leap = f"the time of frame {frame.number} doesn't fit 64 bits of nanoseconds (the years 1677 to 2262)"
        self.told = leap
        return Leapt(frame, ts_ns - self.shift) if self.shift else frame

    def turn(self, known: int | None, shift: int, before: int) -> None:
        """Switches to another clock: one that was seen before, or a new one."""
        self.clocks[self.shift] = before
        self.shift = shift if known is None else known
        self.clocks.pop(self.shift, None)
        if len(self.clocks) > MOST_CLOCKS:
            del self.clocks[next(iter(self.clocks))]


class ToldClock(Clock):
    """The clock where some of the frames are elsewhere: it is told of leaps, and finds none itself."""

    next: tuple[int, str] | None = None
    """The leap of the next frame, as its shift and a text about it."""

    def steady(self, times_ns: list[int]) -> bool:
        return not self.shift and self.next is None

    def feed(self, frame: Frame) -> Frame:
        self.told = ""
        if self.next is not None:
            (self.shift, self.told), self.next = self.next, None
        return Leapt(frame, frame[2] - self.shift) if self.shift else frame


def _span(step_ns: int) -> str:
    """`3 hours after`, `53000 days before`."""
    hours = abs(step_ns) // (3600 * 10**9)
    number, unit = (hours, "hour") if hours < 48 else (hours // 24, "day")
    return f"{number} {unit}{'s' if number > 1 else ''} {'after' if step_ns > 0 else 'before'}"
