"""Where network messages may begin behind those that have been read: guesses, which are read all at once.

A guess is a place where three bytes stand that messages have begun with before. It counts only if a message that is
known to be one ends there.
"""

import numpy as np

from zdissect.vector.arrays import Bools, Ints
from zdissect.vector.words import Words

_BEGINNINGS = 4096
"""Beginnings to remember; with more, too many places would look like one."""
_THREE = np.uint64(0xFFFFFF)
_ODD = np.uint64(0x9E3779B97F4A7C15)


class Beginnings:
    """The bytes that network messages have begun with."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forgets them all."""
        self.heads = bytearray(256)
        """1 for each header byte that was met."""
        self.known: Bools = np.zeros(1 << 16, dtype=bool)
        """By a hash of the first three bytes."""

    def learn(self, words: Words) -> None:
        """Takes the words that messages begin with."""
        hashes = _hashed(words)
        if self.known[hashes].all():
            return
        if np.count_nonzero(self.known) > _BEGINNINGS:
            self.forget()
        self.known[hashes] = True
        for head in set((words & np.uint64(0xFF)).tolist()):
            self.heads[head] = 1

    def places(self, data: bytes, words: Words, start: Ints, stop: Ints) -> tuple[Ints, Ints]:
        """Where messages may begin in some regions: their own starts, and guesses.

        Returns:
            The indices of the regions, ascending, and the places, ascending within each.
        """
        pieces = [data[begin + 1 : end] for begin, end in zip(start.tolist(), stop.tolist(), strict=True)]
        hits = np.frombuffer(b"".join(pieces).translate(self.heads), dtype=bool).nonzero()[0]
        size = stop - start - 1
        after = np.cumsum(size)
        region = np.searchsorted(after, hits, side="right")
        place = hits + (stop - after)[region]
        likely = self.known[_hashed(words[place])]
        region = np.concatenate([np.arange(len(start)), region[likely]])
        place = np.concatenate([start, place[likely]])
        order = np.argsort(region, kind="stable")
        return region[order], place[order]


def _hashed(words: Words) -> Ints:
    return (((words & _THREE) * _ODD) >> np.uint64(48)).astype(np.int64)


def chained(region: Ints, start: Ints, stop: Ints) -> Bools:
    """Which messages follow each other from the first of their region on.

    Args:
        region: Their regions, ascending; the first of each is where it begins.
        start: Where they begin, ascending within a region.
        stop: Where they end; -1 if they couldn't be read.
    """
    count = len(start)
    key = (region << 40) + start
    wanted = (region << 40) + stop
    following = np.searchsorted(key, wanted)
    following[(stop < 0) | (key[np.minimum(following, count - 1)] != wanted)] = count
    following = np.append(following, count)
    out = np.zeros(count + 1, dtype=bool)
    out[:count] = region != np.concatenate([[-1], region[:-1]])
    while (following < count).any():  # each turn doubles how far it looks
        out[following[out]] = True
        following = following[following]
    return out[:count]
