"""Frames, messages, bytes and findings in intervals of equal length, including empty ones."""

from collections.abc import Sequence
from typing import Any

from zdissect.dissection import Dissection, Item, Notice, Skip

MOST = 100_000
"""Most intervals; if a capture would have more, their length is doubled as often as necessary."""

_MADE = ("decompressed", "reassembled")
"""Buffers made from bytes that are counted already."""

_Counts = list[int]
"""Frames, messages, bytes, findings."""


class OverTime:
    """Counts by time without leaps: a leap of the capture's clock makes no intervals.

    Args:
        every_ns: Length of an interval, nanoseconds.
    """

    def __init__(self, every_ns: int) -> None:
        self.asked_ns = self.every_ns = every_ns
        self.began_ns: int | None = None
        self.counted: dict[int, _Counts] = {}
        """By the number of the interval."""
        self.first = self.last = 0

    def at(self, now_ns: int) -> _Counts:
        """The counters of the interval at a time."""
        if self.began_ns is None:
            self.began_ns = now_ns
        number = (now_ns - self.began_ns) // self.every_ns
        counts = self.counted.get(number)
        if counts is None:
            self.first, self.last = min(self.first, number), max(self.last, number)
            while self.last - self.first >= MOST:
                self.merge()
                number //= 2
            counts = self.counted.setdefault(number, [0, 0, 0, 0])
        return counts

    def merge(self) -> None:
        """Makes the intervals twice as long."""
        before, self.counted = self.counted, {}
        for number, counts in before.items():
            into = self.counted.setdefault(number // 2, [0, 0, 0, 0])
            for index, count in enumerate(counts):
                into[index] += count
        self.every_ns *= 2
        self.first, self.last = self.first // 2, self.last // 2

    def frame(self, now_ns: int) -> None:
        """Takes a frame, whatever is in it."""
        self.at(now_ns)[0] += 1

    def feed(self, item: Item, findings: int, chosen: Sequence[bool] | None = None, size: int | None = None) -> None:
        """Takes an item of the pipeline, with the number of its findings; of a choice of its messages, their size."""
        counts = self.at(item.frame.now_ns)
        counts[3] += findings
        if isinstance(item, Dissection):
            counts[1] += len(item.messages) if chosen is None else sum(chosen[: len(item.messages)])
            if item.buffer.name not in _MADE:
                counts[2] += len(item.buffer.data) if size is None else size
        elif isinstance(item, Skip):
            counts[2] += len(item.data) if size is None else size
        else:
            assert isinstance(item, Notice)

    def batch(self, now_ns: int, size: int, messages: int) -> None:
        """Takes a batch in which nothing was found."""
        counts = self.at(now_ns)
        counts[1] += messages
        counts[2] += size

    def add(self, other: "OverTime") -> None:
        """Adds what was counted elsewhere, from the same beginning. Longer intervals there, which reach farther, make
        these as long."""
        for number, counts in other.counted.items():
            into = self.at((self.began_ns or 0) + number * other.every_ns)
            for index, count in enumerate(counts):
                into[index] += count

    def report(self, first_ts_ns: int | None) -> dict[str, Any]:
        """The intervals, from the first to the last.

        Args:
            first_ts_ns: Time of the first frame, nanoseconds since 1970.
        """
        listed = []
        for number in range(self.first, self.last + 1) if self.counted else ():
            frames, messages, size, findings = self.counted.get(number, (0, 0, 0, 0))
            start_ns = number * self.every_ns
            listed.append({
                "start_s": start_ns / 1e9, "ts_ns": (first_ts_ns or 0) + start_ns, "frames": frames,
                "messages": messages, "bytes": size, "findings": findings,
            })  # fmt: skip
        return {"every_s": self.every_ns / 1e9, "asked_s": self.asked_ns / 1e9, "listed": listed}
