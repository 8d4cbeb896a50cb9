"""The fields that change in usual messages: where they are and what they hold, in columns."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from zdissect.engine.messages import Row
from zdissect.vector.arrays import Ints
from zdissect.vector.open_columns import OpenColumns
from zdissect.vector.words import integers, words_of

Holes = Sequence[tuple[int, bool]]
"""For each field that changes: how many bytes there are between the one before, or the start of the message, and this
one; and whether its integer is the length of bytes that follow."""


class GroupFields(NamedTuple):
    """The fields of the messages of one group.

    Places are *anchors*: 0 is the start of a message, 2n + 1 the end of the integer in its n-th hole (from 0), 2n + 2
    the end of that hole.
    """

    all: "ChangingFields"
    begin: int
    end: int

    def places(self, anchor: int) -> list[int]:
        """Where an anchor of each message is, counted from the start of its batch."""
        return self.all.places(anchor)[self.begin : self.end]

    def stretches(self, first: int, last: int) -> list[int]:
        """How many bytes there are between two anchors of each message."""
        pairs = zip(self.places(first), self.places(last), strict=True)
        return [stop - start for start, stop in pairs]

    @property
    def sizes(self) -> list[int]:
        """The bytes of each message, with those of messages inside it."""
        return self.all.sizes[self.begin : self.end]

    def values(self, hole: int) -> list[int]:
        """The integer in a hole of each message."""
        return self.all.values[hole][self.begin : self.end]

    def raw(self, hole: int) -> Iterable[bytes]:
        """The bytes of that integer."""
        all_ = self.all
        return all_.bytes(all_.starts[hole][self.begin : self.end], all_.stops(2 * hole + 1)[self.begin : self.end])

    def contents(self, hole: int) -> Iterable[bytes]:
        """The bytes in a hole whose integer is their length."""
        start, stop = (self.all.stops(2 * hole + number)[self.begin : self.end] for number in (1, 2))
        return self.all.bytes(start, stop)

    def rows(self) -> Iterator[Row]:
        """The row of each message."""
        return self.all.rows(self.all.order[self.begin : self.end].tolist())


class ChangingFields:
    """The fields of all messages of usual batches, group by group.

    Args:
        usual: The messages.
        rows: Makes the rows of some of them, by their indices.
        group: The group of each message.
        holes: The fields that change in the messages of each group.
    """

    def __init__(
        self, usual: OpenColumns, rows: Callable[[list[int]], Iterator[Row]], group: Ints, holes: Sequence[Holes]
    ) -> None:
        self.usual, self.rows = usual, rows
        self.order = order = np.argsort(group, kind="stable")
        """The messages, those of each group together."""
        group = group[order]
        walked, here = usual.walked, usual.messages[order]
        self._origin = walked.origin[walked.batch[here]]
        self.sizes: list[int] = (walked.stop[here] - walked.start[here]).tolist()
        self._anchors: list[Ints] = [walked.start[here]]
        self._places: dict[int, list[int]] = {}
        self._stops: dict[int, list[int]] = {}
        self.starts: list[list[int]] = []
        """By hole: where its integer begins, in the bytes of the block, and..."""
        self.values: list[list[int]] = []
        """... what it is."""
        arena = np.frombuffer(usual.data, np.uint8)
        words = words_of(arena)
        for number in range(max(map(len, holes), default=0)):
            of_group = [one[number] if number < len(one) else (0, False) for one in holes]
            gap, measured = (np.array(values)[group] for values in zip(*of_group, strict=True))
            start = self._anchors[-1] + gap
            value, size = integers(arena, words, start)
            after = start + size
            self.starts.append(start.tolist())
            self.values.append(value.tolist())
            self._anchors += [after, np.where(measured, after + value.astype(np.int64), after)]

    def groups(self, sizes: list[int]) -> list[GroupFields]:
        """Those of each group, by the numbers of their messages."""
        return [GroupFields(self, begin, end) for begin, end in pairwise([0, *accumulate(sizes)])]

    def places(self, anchor: int) -> list[int]:
        """Where an anchor of each message is, counted from the start of its batch."""
        if anchor not in self._places:
            self._places[anchor] = (self._anchors[anchor] - self._origin).tolist()
        return self._places[anchor]

    def stops(self, anchor: int) -> list[int]:
        """The same, in the bytes of the block."""
        if anchor not in self._stops:
            self._stops[anchor] = self._anchors[anchor].tolist()
        return self._stops[anchor]

    def bytes(self, start: list[int], stop: list[int]) -> Iterable[Any]:
        """The bytes at some places."""
        return map(self.usual.data.__getitem__, map(slice, start, stop))
