"""`--at TIME|FRAME`: the time that is meant, once the capture is read."""

import re
from datetime import UTC, datetime

import click

from zdissect.output.time_formats import formatter
from zdissect.records import Frame
from zdissect.stats.extent import Extent

_DAY_NS = 24 * 3600 * 10**9


class AtMoment:
    """A moment that the user names. Raises click.BadParameter for what is neither a time nor a frame.

    Args:
        text: A frame's number; `+3.2` (seconds after the first frame), `06:12:30.5` (UTC, on the day of the first
            frame, or after midnight), or ISO 8601. Empty: none is named.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.number = int(text) if text.isascii() and text.isdecimal() else None
        self.at_frame: int | None = None
        self.after_ns: int | None = None
        """Since the first frame."""
        self.of_day_ns: int | None = None
        self.absolute_ns: int | None = None
        if text and self.number is None:
            self.parse(text)

    def parse(self, text: str) -> None:
        """Reads a time."""
        if match := re.fullmatch(r"\+(\d+(?:\.\d+)?)s?", text):
            self.after_ns = _nanoseconds(match[1])
        elif match := re.fullmatch(r"(\d\d?):(\d\d):(\d\d(?:\.\d+)?)", text):
            self.of_day_ns = (int(match[1]) * 3600 + int(match[2]) * 60) * 10**9 + _nanoseconds(match[3])
        else:
            try:
                when = datetime.fromisoformat(text)
            except ValueError:
                raise click.BadParameter(
                    f"{text!r} is neither a frame nor a time: 120, +3.2, 06:12:30.5, 2026-11-28T06:12:30",
                    param_hint="'--at'",
                ) from None
            aware = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
            since = aware - datetime(1970, 1, 1, tzinfo=UTC)
            self.absolute_ns = (since.days * 86400 + since.seconds) * 10**9 + since.microseconds * 1000

    def frame(self, frame: Frame) -> None:
        """Takes a frame."""
        if frame.number == self.number and self.at_frame is None:
            self.at_frame = frame.ts_ns

    def ts_ns(self, extent: Extent) -> int | None:
        """The time, nanoseconds since 1970; None if none is named. Raises click.BadParameter where the capture has no
        such frame.
        """
        if self.number is not None:
            if self.at_frame is None:
                there = f"; there are {extent.frames}" if extent.frames else ""
                raise click.BadParameter(f"there is no frame {self.number}{there}", param_hint="'--at'")
            return self.at_frame
        return self.of_text(extent)

    def outside(self, extent: Extent) -> str:
        """That the capture was over by then, or hadn't begun; empty where it was there, or no time is named."""
        when = self.ts_ns(extent)
        if when is None or not extent.frames or extent.first_ns <= when <= extent.last_ns:
            return ""
        utc = formatter("ud")
        return f"{self.text} is {'before' if when < extent.first_ns else 'after'} the capture, which lasts from " + (
            f"{utc(extent.first_ns)} to {utc(extent.last_ns)} UTC, {(extent.last_ns - extent.first_ns) / 1e9:.3f} s"
        )

    def of_text(self, extent: Extent) -> int | None:
        """The time that the text stands for."""
        if self.after_ns is not None:
            return extent.first_ns + self.after_ns
        if self.of_day_ns is not None:
            when = extent.first_ns // _DAY_NS * _DAY_NS + self.of_day_ns
            after_midnight = when + 10**9 < extent.first_ns and when + _DAY_NS <= extent.last_ns
            return when + _DAY_NS * after_midnight
        return self.absolute_ns


def _nanoseconds(seconds: str) -> int:
    whole, _, rest = seconds.partition(".")
    return int(whole) * 10**9 + int(rest[:9].ljust(9, "0") or 0)
