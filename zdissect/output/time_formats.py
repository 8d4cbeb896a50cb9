"""How capture times are written, by tshark's letters."""

from collections.abc import Callable
from datetime import UTC, datetime

FORMATS = {
    "u": "time of day, UTC (default)",
    "ud": "date and time, UTC",
    "a": "time of day, local",
    "ad": "date and time, local",
    "e": "seconds since 1970",
    "r": "seconds since the first frame shown",
    "d": "seconds since the frame shown before",
}


_CYCLE_S = 146_097 * 86_400
"""400 years, after which the calendar is the same again."""


def formatter(kind: str) -> Callable[[int], str]:
    """A function from nanoseconds since 1970 to text; `r` and `d` remember what they saw."""
    if kind in ("r", "d"):
        return _Relative(kind == "d")
    if kind == "e":
        return _seconds
    pattern = "%Y-%m-%d %H:%M:%S" if "d" in kind else "%H:%M:%S"
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


class _Relative:
    """Time since the first frame, or since the one before."""

    def __init__(self, delta: bool) -> None:
        self.delta = delta
        self.origin: int | None = None

    def __call__(self, ns: int) -> str:
        since = ns - (ns if self.origin is None else self.origin)
        if self.origin is None or self.delta:
            self.origin = ns
        return _seconds(since)
