"""Where network messages may begin behind those that have been read: guesses, which are read all at once.

A guess is a place with a header byte, and two bytes a little later, that messages have begun with before. It counts
only if a message that is known to be one ends there.
"""

from typing import Any

import numpy as np

from zdissect.grammar.columns import CARRIED
from zdissect.grammar.network import NETWORK
from zdissect.grammar.types import Vle
from zdissect.vector.arrays import Bools, Bytes, Ints
from zdissect.vector.lane_reader import SUBSTITUTED

_BEGINNINGS = 4096
"""Beginnings to remember; with more, too many places would look like one."""
_ODD = np.array([0x9E37, 0x85EB, 0xC2B1], dtype=np.uint16)

_SKIPPED: Bytes = np.zeros(256, dtype=np.uint8)
"""For each header byte, how many integers behind it say nothing of the next message with that header."""
for _message in NETWORK:
    _columns = [getattr(_field, "column", "") for _field in _message.fields if isinstance(_field, Vle)]
    _SKIPPED[_message.id :: 32] = len(set(_columns) & {*SUBSTITUTED, *CARRIED})
_LONGEST = 5
"""Bytes of the longest of these integers."""
_BEHIND = 2 * _LONGEST + 2
"""Bytes behind a header byte that may be looked at."""


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

    def learn(self, arena: Bytes, start: Ints) -> None:
        """Takes messages that begin at some places."""
        hashes = _hashed(arena, start)
        if self.known[hashes].all():
            return
        if np.count_nonzero(self.known) > _BEGINNINGS:
            self.forget()
        self.known[hashes] = True
        for head in set(bytes(arena[start])):
            self.heads[head] = 1

    def places(self, data: bytes, arena: Bytes, start: Ints, stop: Ints) -> tuple[Ints, Ints]:
        """Where messages may begin in regions with these starts and stops: at their starts, and where guesses say.

        Returns:
            The indices of the regions, ascending, and the places, ascending within each.
        """
        pieces = [data[begin:end] for begin, end in zip(start.tolist(), stop.tolist(), strict=True)]
        joined = b"".join((*pieces, bytes(_BEHIND)))
        hits = np.frombuffer(joined.translate(self.heads), dtype=bool)[:-_BEHIND].nonzero()[0]
        hits = hits[self.known[_hashed(np.frombuffer(joined, dtype=np.uint8), hits)]]
        after = np.cumsum(stop - start)
        region = np.searchsorted(after, hits, side="right")
        place = hits + (stop - after)[region]
        inside = place > start[region]
        region = np.concatenate([np.arange(len(start)), region[inside]])
        place = np.concatenate([start, place[inside]])
        order = np.argsort(region, kind="stable")
        return region[order], place[order]


def _hashed(arena: Bytes, start: Ints) -> Any:
    """A hash of 16 bits of what messages begin with: the header byte, and two more behind what is skipped."""
    head = arena[start]
    at, skipped = start + 1, _SKIPPED[head]
    for number in range(skipped.max(initial=0)):
        some = (skipped > number).nonzero()[0]
        for _ in range(_LONGEST):  # all but the last byte of an integer are over 127, see engine/vle.py
            places = at[some]
            at[some] = places + 1
            some = some[arena[places] > 127]
    first, second = arena[at].astype(np.uint16), arena[at + 1].astype(np.uint16)
    return head * _ODD[0] + first * _ODD[1] + second * _ODD[2]


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
