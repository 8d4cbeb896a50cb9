"""How capture times are written, by tshark's letters."""

from collections.abc import Callable
from datetime import UTC, datetime

from zdissect.records import Frame

FORMATS = {
    "u": "time of day, UTC (default)",
    "ud": "date and time, UTC",
    "udoy": "the same with the day of the year",
    "a": "time of day, local",
    "ad": "date and time, local",
    "adoy": "the same with the day of the year",
    "e": "seconds since 1970",
    "r": "seconds since the first frame of the capture",
    "d": "seconds since the frame before",
    "dd": "seconds since the frame shown before",
}


_CYCLE_S = 146_097 * 86_400
"""400 years, after which the calendar is the same again."""


class FrameTimes:
    """The times of frames as text, in one of the formats.

    `r` and `d` count from frames that may not be shown: these must be told by `read`, before they are shown.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.reads = kind in ("r", "d")
        """Whether every frame of the capture must be read."""
        self._absolute = formatter(kind) if kind not in ("r", "d", "dd") else None
        self._origin: int | None = None
        """The first time that was read or, of `d` and `dd`, the last one."""
        self._since: dict[tuple[str, int], int] = {}
        """Of the latest frames: the time since the one before."""

    def read(self, frame: Frame | None) -> Frame | None:
        """Takes the next frame of the capture, which may still be to come, and gives it back."""
        if frame is not None and self.kind == "r":
            self._origin = frame.ts_ns if self._origin is None else self._origin
        elif frame is not None and self.kind == "d":
            self._step(frame)
        return frame

    def _step(self, frame: Frame) -> None:
        """Keeps how long after the one before a frame came."""
        since = self._since
        since[frame.source, frame.number] = frame.ts_ns - (frame.ts_ns if self._origin is None else self._origin)
        self._origin = frame.ts_ns
        if len(since) > _KEPT:
            del since[next(iter(since))]

    def text(self, frame: Frame) -> str:
        """The time of a frame that is shown."""
        if self._absolute is not None:
            return self._absolute(frame.ts_ns)
        if self.kind == "r":
            return _seconds(frame.ts_ns - (frame.ts_ns if self._origin is None else self._origin))
        key = (frame.source, frame.number)
        if self.kind == "dd" and key not in self._since:
            self._since.clear()  # what is shown again of a frame stands next to it
            self._step(frame)
        return _seconds(self._since[key]) if key in self._since else "?"


_KEPT = 1 << 16
"""So many frames after it was read a frame is shown at the latest: streams are put in order within a second."""


def formatter(kind: str) -> Callable[[int], str]:
    """A function from nanoseconds since 1970 to text, for the formats that are absolute."""
    if kind == "e":
        return _seconds
    pattern = "%H:%M:%S"
    if "d" in kind:
        pattern = f"{'%Y/%j' if kind.endswith('doy') else '%Y-%m-%d'} {pattern}"
    zone = UTC if kind.startswith("u") else None

    def absolute(ns: int) -> str:
        seconds, fraction = divmod(ns, 1_000_000_000)
        if seconds != cache[0]:
            cache[:] = [seconds, _moment(seconds, pattern, zone)]
        return f"{cache[1]}.{fraction:09d}" if fraction % 1000 else f"{cache[1]}.{fraction // 1000:06d}"

    cache: list[int | str | None] = [None, ""]
    return absolute


def _moment(seconds: int, pattern: str, zone: object) -> str:
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
        return (moment if zone else moment.astimezone()).strftime(pattern)
    except (ValueError, OverflowError, OSError):  # a capture may claim any time, in years that datetime doesn't know
        cycles, rest = divmod(seconds, _CYCLE_S)
        moment = datetime.fromtimestamp(rest, UTC)
        moment = moment if zone else moment.astimezone()
        return moment.strftime(pattern.replace("%Y", str(moment.year + 400 * cycles)))


def _seconds(ns: int) -> str:
    sign = "-" if ns < 0 else ""
    return f"{sign}{abs(ns) // 1_000_000_000}.{abs(ns) % 1_000_000_000:09d}"
