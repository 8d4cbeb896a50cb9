"""How capture times are written, by tshark's letters."""

import time
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


def formatter(kind: str) -> Callable[[int], str]:
    """A function from nanoseconds since 1970 to text; `r` and `d` remember what they saw."""
    if kind in ("r", "d"):
        return _Relative(kind == "d")
    if kind == "e":
        return lambda ns: f"{ns // 1_000_000_000}.{ns % 1_000_000_000:09d}"
    pattern = "%Y-%m-%d %H:%M:%S" if "d" in kind else "%H:%M:%S"
    zone = UTC if kind.startswith("u") else None

    def absolute(ns: int) -> str:
        seconds, fraction = divmod(ns, 1_000_000_000)
        if seconds != cache[0]:
            cache[:] = [seconds, _moment(seconds, pattern, zone)]
        return f"{cache[1]}.{fraction:09d}" if fraction % 1000 else f"{cache[1]}.{fraction // 1000:06d}"

    cache: list[int | str] = [-1, ""]
    return absolute


def _moment(seconds: int, pattern: str, zone: object) -> str:
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
        return (moment if zone else moment.astimezone()).strftime(pattern)
    except (ValueError, OverflowError, OSError):  # a capture may claim any time
        return time.strftime(pattern, time.gmtime(0))


class _Relative:
    """Time since the first frame, or since the one before."""

    def __init__(self, delta: bool) -> None:
        self.delta = delta
        self.origin: int | None = None

    def __call__(self, ns: int) -> str:
        since = ns - (ns if self.origin is None else self.origin)
        if self.origin is None or self.delta:
            self.origin = ns
        sign = "-" if since < 0 else ""
        return f"{sign}{abs(since) // 1_000_000_000}.{abs(since) % 1_000_000_000:09d}"
