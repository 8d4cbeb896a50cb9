"""Where network messages may begin behind those that have been read: guesses, which are read all at once.

A guess is a place with a header byte, and two bytes a little later, that messages have begun with before. It counts
only if a message that is known to be one ends there.
"""

import numpy as np

from zdissect.engine.program import VLE, message_program
from zdissect.grammar.registry import MESSAGES
from zdissect.vector.arrays import Bools, Bytes, Ints
from zdissect.vector.words import Words, integers

_BEGINNINGS = 4096
"""Beginnings to remember; with more, too many places would look like one."""
_ODD = np.uint64(0x9E3779B97F4A7C15)

_NUMBERED: Bools = np.zeros(256, dtype=bool)
"""The header bytes of messages that begin with a number of their own, which says nothing of the next one's."""
for _message in MESSAGES:
    if _message.layer == "network":
        _op, *_, _field, _, _, _, _ = message_program(_message).steps[0]
        _NUMBERED[_message.id :: 32] = _op == VLE and _field.column == "request_id"


class Beginnings:
    """What network messages have begun with."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forgets them all."""
        self.heads = bytearray(256)
        """1 for each header byte that was met."""
        self.known: Bools = np.zeros(1 << 16, dtype=bool)
        """By a hash of the bytes."""

    def learn(self, arena: Bytes, words: Words, start: Ints) -> None:
        """Takes messages that begin at some places."""
        hashes = _hashed(arena, words, start)
        if self.known[hashes].all():
            return
        if np.count_nonzero(self.known) > _BEGINNINGS:
            self.forget()
        self.known[hashes] = True
        for head in set(bytes(arena[start])):
            self.heads[head] = 1

    def places(self, data: bytes, arena: Bytes, words: Words, regions: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        """Where messages may begin in regions with these starts and ends: at their starts, and where guesses say.

        Returns:
            The indices of the regions, ascending, and the places, ascending within each.
        """
        start, stop = regions
        pieces = [data[begin + 1 : end] for begin, end in zip(start.tolist(), stop.tolist(), strict=True)]
        hits = np.frombuffer(b"".join(pieces).translate(self.heads), dtype=bool).nonzero()[0]
        after = np.cumsum(stop - start - 1)
        region = np.searchsorted(after, hits, side="right")
        place = hits + (stop - after)[region]
        likely = self.known[_hashed(arena, words, place)]
        region = np.concatenate([np.arange(len(start)), region[likely]])
        place = np.concatenate([start, place[likely]])
        order = np.argsort(region, kind="stable")
        return region[order], place[order]


def _hashed(arena: Bytes, words: Words, start: Ints) -> Ints:
    """A hash of 16 bits of what messages begin with: the header byte and two more, those behind the number if any."""
    head = arena[start]
    at = start + 1
    numbered = _NUMBERED[head].nonzero()[0]
    if len(numbered):
        at[numbered] += integers(arena, words, at[numbered])[1]
    three = head.astype(np.uint64) << np.uint64(16) | arena[at].astype(np.uint64) << np.uint64(8) | arena[at + 1]
    return (three * _ODD >> np.uint64(48)).astype(np.int64)


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
