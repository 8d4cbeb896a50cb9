"""A distribution of times in bounded memory."""

import math
from array import array
from random import Random
from typing import Any

EXACT = 1_000_000
"""Most values that are kept; of more, a random sample of this size, the same for the same values."""

_MOST = (1 << 63) - 1


class Distribution:
    """Times in nanoseconds: how many, the extremes, and enough of them for quantiles."""

    __slots__ = ("count", "highest", "limit", "lowest", "random", "values")

    def __init__(self, limit: int = EXACT) -> None:
        self.limit = limit
        self.count = 0
        self.lowest = self.highest = 0
        self.values = array("q")
        self.random: Random | None = None

    def add(self, value: int) -> None:
        """Takes a value."""
        self.lowest = min(self.lowest, value) if self.count else value
        self.highest = max(self.highest, value) if self.count else value
        self.count += 1
        if not self.limit:
            return
        value = max(-_MOST, min(value, _MOST))  # only forged captures exceed it
        if len(self.values) < self.limit:
            self.values.append(value)
            return
        self.random = self.random or Random(0)
        index = self.random.randrange(self.count)  # every value is equally likely to be in the sample
        if index < self.limit:
            self.values[index] = value

    def report(self) -> dict[str, Any] | None:
        """Count, min, median, p95 and max in nanoseconds; None without a value. Quantiles are values that occurred."""
        if not self.count:
            return None
        ordered = sorted(self.values)
        return {
            "count": self.count,
            "min": self.lowest,
            "median": _rank(ordered, 0.5),
            "p95": _rank(ordered, 0.95),
            "max": self.highest,
        }


def _rank(ordered: list[int], share: float) -> int:
    """The nearest rank: the smallest value such that at least this share of all values isn't above it."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
