"""The samples of a course, PUSHes with a timestamp whose key is known: each is as new as the one before it."""

import numpy as np

from zdissect.session.message_checks import Timestamps
from zdissect.vector.arrays import Bools, Ints, Stamps

Sample = tuple[str, str]
"""Key and clock."""


class Samples:
    """The samples of a course.

    Args:
        pairs: The (way, template) pair of each message of the course.
        stamped, stamp: Whether it has a timestamp, and this.
        many: Number of pairs of the block.
    """

    def __init__(self, pairs: Ints, stamped: Bools, stamp: Stamps, many: int) -> None:
        self.pairs, self.stamped, self.stamp = pairs, stamped, stamp
        self.numbers: dict[Sample, int] = {}
        self.names: list[Sample] = []
        self.of_pair = np.full(many, -1)
        """The number of the sample of each pair; -1 where it has none."""

    def learn(self, pair: int, sample: Sample | None) -> None:
        """Notes the sample of a pair."""
        number = -1
        if sample is not None:
            number = self.numbers.setdefault(sample, len(self.names))
            if number == len(self.names):
                self.names.append(sample)
        self.of_pair[pair] = number

    def _sorted(self, begin: int, stop: int) -> tuple[Ints, Ints, Stamps]:
        """(places, numbers, timestamps) of the samples among some messages, by sample."""
        places = begin + np.flatnonzero(self.stamped[begin:stop])
        numbers = self.of_pair[self.pairs[places]]
        if (numbers < 0).any():
            places, numbers = places[numbers >= 0], numbers[numbers >= 0]
        order = np.argsort(numbers, kind="stable")
        places = places[order]
        return places, numbers[order], self.stamp[places]

    def old(self, begin: int, stop: int, known: Timestamps) -> int:
        """The first of some messages that is older than the one before it on its key; -1 if none is."""
        places, numbers, stamps = self._sorted(begin, stop)
        if not len(places):
            return -1
        same = numbers[1:] == numbers[:-1]
        old = np.concatenate(([False], same & (stamps[1:] < stamps[:-1])))
        firsts = np.flatnonzero(np.concatenate(([True], ~same)))
        for first, number in zip(firsts.tolist(), numbers[firsts].tolist(), strict=True):
            if int(stamps[first]) < known.newest.get(self.names[number], 0):
                old[first] = True
        return int(places[old].min()) if old.any() else -1

    def take(self, begin: int, stop: int, known: Timestamps) -> None:
        """Remembers the newest samples among some messages."""
        _, numbers, stamps = self._sorted(begin, stop)
        if len(numbers):
            lasts = np.flatnonzero(np.concatenate((numbers[1:] != numbers[:-1], [True])))
            for number, stamp in zip(numbers[lasts].tolist(), stamps[lasts].tolist(), strict=True):
                known.take(self.names[number], stamp)
