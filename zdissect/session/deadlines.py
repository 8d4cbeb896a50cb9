"""Deadlines: answers that must come, sides that must be heard.

A deadline is registered once and checked when it has passed. Only then is it found out whether it still matters: most
of what is awaited arrives, and removing each entry would cost more than keeping it.
"""

import heapq
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from zdissect.grammar.primitives import ENDLESS_MS

Awaited = TypeVar("Awaited")
NEVER = float("inf")
ROOM = 64
"""Entries that are kept before those that no longer matter are removed."""


class Deadlines(Generic[Awaited]):
    """What is awaited, the earliest first."""

    def __init__(self) -> None:
        self.heap: list[tuple[int, int, Awaited]] = []
        """By time, then in the order in which they were registered."""
        self.added = 0
        self.room = ROOM
        self.due_ns: float = NEVER
        """When the next entry is due."""

    def add(self, due_ns: int, awaited: Awaited) -> None:
        """Registers something that is due at a time."""
        self.added += 1
        heapq.heappush(self.heap, (due_ns, self.added, awaited))
        self.due_ns = self.heap[0][0]

    def keep(self, matters: Callable[[int, Awaited], bool]) -> None:
        """Removes what no longer matters, if there are many entries: with long deadlines they would stay for long.

        Args:
            matters: Says so of an entry, by when it is due, and what is awaited.
        """
        if len(self.heap) > self.room:
            self.heap = [entry for entry in self.heap if matters(entry[0], entry[2])]
            heapq.heapify(self.heap)
            self.due_ns = self.heap[0][0] if self.heap else NEVER
            self.room = max(ROOM, 2 * len(self.heap))

    def clear(self) -> None:
        """Removes everything."""
        self.heap, self.room, self.due_ns = [], ROOM, NEVER

    def skip(self, matters: Callable[[int, Awaited], bool]) -> None:
        """Removes what comes first and no longer matters."""
        while self.heap and not matters(self.heap[0][0], self.heap[0][2]):
            heapq.heappop(self.heap)
        self.due_ns = self.heap[0][0] if self.heap else NEVER

    def passed(self, now_ns: int) -> Iterator[tuple[int, Awaited]]:
        """Removes and yields what is due by now, each with its time."""
        while self.due_ns <= now_ns:
            due_ns, _, awaited = heapq.heappop(self.heap)
            self.due_ns = self.heap[0][0] if self.heap else NEVER
            yield due_ns, awaited


def due(since_ns: int, wait_ms: int, slack_ms: int) -> int | None:
    """When a wait ends, with some slack for networks and timers; None if it never ends (notes 7.3)."""
    return None if wait_ms >= ENDLESS_MS else since_ns + (wait_ms + slack_ms) * 1_000_000
