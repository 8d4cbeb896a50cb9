"""Keys: the bytes that tell messages apart, compared for many messages at once.

All messages that took the same way through their program (a *shape*) have as many chunks of such bytes. They are
compared as words of eight bytes: a hash finds the candidate, then all words decide. What is new, or long, is looked up
one by one.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from zdissect.vector.arrays import Ints
from zdissect.vector.words import MASKS, Words

DECLINED = -1
"""In place of a template: messages with this key aren't read here."""
FEW = 12
"""As few messages as this are looked up one by one."""
WIDEST = 20
"""Words of the longest chunk that is compared as words."""

Key = tuple[Any, ...]
Find = Callable[[Ints], list[int]]
"""Finds, or makes, the templates of messages that aren't in the table, by their indices among those looked up."""

_RANDOM = np.frombuffer(os.urandom(8 * 65 * WIDEST), dtype=np.uint64) | np.uint64(1)
_ODD: Words = _RANDOM[WIDEST:].reshape(64, WIDEST)
_MIX = _RANDOM[0]
"""Multipliers of hashes; random, so that nobody can make many keys with the same hash."""


class Shape:
    """Messages that took the same way through their program, and the templates of their keys."""

    def __init__(self, runs: int) -> None:
        self.templates: dict[Key, int] = {}
        """Indices of templates, by the flag and the bytes of all chunks."""
        self.widths = [0] * runs
        """Words of each run, enough for all keys in the table."""
        self.words: Words = np.zeros((1, 0), dtype=np.uint64)
        """The table: words of keys, shape (1 + sum of `widths`, keys); the first of a key is its flag."""
        self.hashes: Words = np.zeros(0, dtype=np.uint64)
        """Their hashes, ascending."""
        self.indices: Ints = np.zeros(0, dtype=np.int64)
        self.tabled: set[int] = set()
        self.hashed()

    def find(self, words: Words, starts: Ints, sizes: Ints, flags: Ints, find: Find) -> Ints:
        """Indices of templates of some messages, or `DECLINED`.

        Args:
            words: The words of the arena.
            starts: Where each chunk of each message begins, shape (chunks, messages).
            sizes: How long it is.
            flags: One more number for each message that is part of its key.
            find: Finds those that aren't in the table.
        """
        count = len(flags)
        need = (sizes.max(axis=1) + 7) >> 3
        if count <= FEW or len(self.widths) > len(_ODD):
            return np.array(find(np.arange(count)), dtype=np.int64)
        if need.max() > WIDEST:
            long = sizes.max(axis=0) > 8 * WIDEST
            out = np.empty(count, dtype=np.int64)
            out[long] = find(np.flatnonzero(long))
            short = np.flatnonzero(~long)
            if len(short):
                rest = starts[:, short], sizes[:, short], flags[short]
                out[short] = self.find(words, *rest, lambda index: find(short[index]))
            return out
        self.widen(need.tolist())
        key = self.gather(words, starts, sizes, flags)
        hashes = self.hash(key)
        out = self.look(key, hashes)
        missing = (out < DECLINED).nonzero()[0]
        if len(missing):
            new = missing[_firsts(hashes[missing])]
            out[new] = found = find(new)
            self.add(key, hashes, new.tolist(), found)
            if len(new) < len(missing):
                out[missing] = self.look(key[:, missing], hashes[missing])
                left = (out < DECLINED).nonzero()[0]  # declined, or another key with the same hash
                out[left] = find(left)
        return out

    def look(self, key: Words, hashes: Words) -> Ints:
        """Indices of templates; less than `DECLINED` for keys that aren't in the table."""
        if not len(self.hashes):
            return np.full(len(hashes), DECLINED - 1)
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        same = (self.words[:, at] == key).all(axis=0)
        return np.where(same, self.indices[at], DECLINED - 1)

    def gather(self, words: Words, starts: Ints, sizes: Ints, flags: Ints) -> Words:
        """The keys of messages as words, shape (words, messages)."""
        first = sizes[:, :1]
        if (sizes == first).all():
            sizes = first
        at = starts[self.chunk] + self.offset
        np.minimum(at, len(words) - 1, out=at)
        out = np.empty((len(at) + 1, len(flags)), dtype=np.uint64)
        out[0] = flags
        out[1:] = words[at]
        out[1:] &= MASKS[np.clip(sizes[self.chunk] - self.offset, 0, 8)]
        return out

    def hash(self, key: Words) -> Words:
        """A hash of each key, to which words of zero add nothing."""
        mixed = key * self.odd
        mixed ^= mixed >> np.uint64(32)
        mixed *= _MIX
        out: Words = np.bitwise_xor.reduce(mixed, axis=0)
        return out

    def hashed(self) -> None:
        """Makes what gathering and hashing need to know of the widths."""
        self.chunk = np.repeat(np.arange(len(self.widths)), self.widths)
        number = np.concatenate([np.arange(width) for width in self.widths]).astype(np.int64)
        self.offset = (8 * number)[:, None]
        self.odd = np.concatenate([_ODD[-1:, :1], _ODD[self.chunk, number][:, None]])

    def widen(self, need: list[int]) -> None:
        """Makes room for longer chunks; the keys in the table get words of zero, and keep their hashes."""
        widths = [max(pair) for pair in zip(self.widths, need, strict=True)]
        if widths == self.widths:
            return
        old = np.concatenate([[True], *(np.arange(new) < had for had, new in zip(self.widths, widths, strict=True))])
        self.widths = widths
        self.hashed()
        words = np.zeros((len(self.odd), self.words.shape[1]), dtype=np.uint64)
        words[old] = self.words
        self.words = words

    def add(self, key: Words, hashes: Words, places: list[int], found: list[int]) -> None:
        """Puts new keys into the table."""
        new = []
        for place, index in zip(places, found, strict=True):
            if index != DECLINED and index not in self.tabled:
                self.tabled.add(index)
                new.append((place, index))
        if not new:
            return
        columns = np.array([place for place, _ in new])
        hashes = np.concatenate([self.hashes, hashes[columns]])
        order = np.argsort(hashes)
        self.hashes = hashes[order]
        self.words = np.concatenate([self.words, key[:, columns]], axis=1)[:, order]
        self.indices = np.concatenate([self.indices, np.array([index for _, index in new], dtype=np.int64)])[order]


def _firsts(values: Words) -> Ints:
    """Where each value is for the first time."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    out: Ints = order[np.append(True, ordered[1:] != ordered[:-1])]
    return out
