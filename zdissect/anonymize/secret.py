"""What all replacements are made from: functions of a secret that nobody can turn around.

The secret and what is replaced decide everything, so that the same is replaced by the same wherever it stands.
"""

import hashlib
from functools import lru_cache
from secrets import token_bytes

_CACHED = 1 << 15


class Secret:
    """A secret: a random one, or one made of a seed, with which the same capture gives the same."""

    def __init__(self, seed: str | None = None) -> None:
        self._key = token_bytes(32) if seed is None else hashlib.sha256(seed.encode()).digest()
        self.other = lru_cache(_CACHED)(self._other)
        """`other(alphabet, place, char)`: see `_other`."""
        self._cycle = lru_cache(_CACHED)(self._shuffle)

    def random(self, what: str, data: bytes, size: int) -> bytes:
        """So many bytes that depend on `data`, which is a `what`."""
        key = hashlib.blake2b(what.encode(), key=self._key).digest()
        return hashlib.shake_128(key + data).digest(size)

    def number(self, what: str, data: bytes, limit: int) -> int:
        """A number below `limit` that depends on `data`."""
        return int.from_bytes(self.random(what, data, 8)) % limit

    def cycle(self, alphabet: str, place: str) -> dict[str, str]:
        """For each character another one: different ones for different ones, and none for itself."""
        return self._cycle(alphabet, place)

    def _other(self, alphabet: str, place: str, char: str) -> str:
        """The character that stands for one of the alphabet at a place, which is told by what stands before it."""
        return self._cycle(alphabet, place)[char]

    def _shuffle(self, alphabet: str, place: str) -> dict[str, str]:
        chars = list(alphabet)
        data = f"{alphabet}\0{place}".encode(errors="surrogatepass")
        rolls = self.random("cycle", data, 4 * len(chars))
        for index in range(len(chars) - 1, 0, -1):  # Sattolo's algorithm: one cycle through all
            swap = int.from_bytes(rolls[4 * index : 4 * index + 4]) % index
            chars[index], chars[swap] = chars[swap], chars[index]
        return dict(zip(alphabet, chars, strict=True))
