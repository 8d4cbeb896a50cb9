"""Other texts of the same length and form: key expressions, parameters, names.

A character is replaced by one of its kind: a letter by a letter, a digit by a digit; punctuation stays, and with it the
wildcards and the chunks of a key expression. Which one it is depends on the chunk up to there. So the same beginning of
a chunk gives the same beginning, different chunks stay different, and a key that is sent in two parts, wherever it is
cut, gives what it would in one piece.
"""

import re
from collections.abc import Callable

from zdissect.anonymize.secret import Secret

_LOWER, _UPPER, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
_ALPHABETS = {char: alphabet for alphabet in (_LOWER, _UPPER, _DIGITS) for char in alphabet}
_RANGES = ((0xC0, 0x250), (0x4E00, 0x9FA0), (0x1F300, 0x1F5F0))
"""Characters that stand for those of two, three and four bytes of UTF-8: first and last but one."""
_INVALID = "\udcff"
"""The byte ff, which is never UTF-8, as `surrogateescape` has it."""

WELL_KNOWN = frozenset(
    {"@", "@adv", "@ros2_lv", "@ros2", "@xcdr", "router", "peer", "client", "pub", "sub", "session", "transport",
     "link", "unicast", "multicast", "status", "config", "metrics", "linkstate", "subscriber", "publisher", "queryable",
     "querier", "token", "plugins", "storages", "route", "successor"}
)  # fmt: skip
"""Chunks of Zenoh itself, its plugins and its adminspace: kept in a key that has a verbatim chunk (`@...`)."""
_ROS2 = re.compile(
    r".*::(msg|srv|action)::.*_|RIHS01_[0-9a-f]+|TypeHashNotSupported|(NN|MP|MS|SS|SC)|(\d*:)*[\d,]*:.*,"
)
"""Types of ROS 2 as rmw_zenoh writes them, their hashes, kinds of entities, qualities of service."""
_LONGEST_ROS2 = 1024
"""Characters of the longest such chunk."""
_LONGEST_PLACE = 128
"""Characters of what a character stands behind; of longer words something else stands for it."""
_ID = re.compile(r"[0-9a-f]{16,32}")
_PARAMETER = re.compile(r"(_\w+)(=.*)?", re.DOTALL)


class Texts:
    """Replaces texts.

    Args:
        ids: Gives for a ZenohID, as Zenoh writes it, the other one; None for a text that is none.
        ros2: Types of ROS 2 in keys stay.
    """

    def __init__(self, secret: Secret, ids: Callable[[str], str | None], ros2: bool = False) -> None:
        self.secret = secret
        self.ids = ids
        self.ros2 = ros2

    def key(self, text: str) -> str:
        """Another key expression, of as many bytes."""
        chunks = text.split("/")
        own = any(chunk.startswith("@") for chunk in chunks)
        return "/".join(self._chunk(chunk, own) for chunk in chunks)

    def suffix(self, key: str | None, suffix: str) -> str:
        """Another suffix, where the full key is known: the end of what stands for the key."""
        if not key or not key.endswith(suffix):
            return self.key(suffix)
        new = self.key(key)
        return new[len(new) - len(suffix) :] if suffix else ""

    def parameters(self, text: str) -> str:
        """Other parameters of a selector; the names that Zenoh itself has begin with `_`, and stay."""
        return ";".join(self._parameter(part) for part in text.split(";"))

    def text(self, text: str, what: str = "") -> str:
        """Another text; parts between slashes, and other separators, are replaced one by one."""
        parts = re.split(r"([/;=&,\s]+)", text)
        return "".join(part if index % 2 else self.word(part, what) for index, part in enumerate(parts))

    def word(self, word: str, what: str = "") -> str:
        """Another word."""
        out = []
        place = what
        for char in word:
            out.append(self._char(char, place))
            place += char
            if len(place) > _LONGEST_PLACE:  # else a long word would take time, and memory, by the square of its length
                place = self.secret.random("place", place.encode(errors="surrogatepass"), 16).hex()
        return "".join(out)

    def _chunk(self, chunk: str, own: bool) -> str:
        if own and chunk in WELL_KNOWN:
            return chunk
        if self.ros2 and len(chunk) <= _LONGEST_ROS2 and _ROS2.fullmatch(chunk):
            return chunk
        if _ID.fullmatch(chunk) and (known := self.ids(chunk)) is not None:
            return known
        return self.word(chunk)

    def _parameter(self, part: str) -> str:
        match = _PARAMETER.fullmatch(part)
        return (match[1] + self.text(match[2] or "")) if match else self.text(part)

    def _char(self, char: str, place: str) -> str:
        alphabet = _ALPHABETS.get(char)
        if alphabet is not None:
            return self.secret.other(alphabet, place, char)
        code = ord(char)
        if code < 0x80:
            return char
        if 0xD800 <= code < 0xE000:
            return _INVALID
        first, stop = _RANGES[0 if code < 0x800 else 1 if code < 0x10000 else 2]
        within = code - first if first <= code < stop else code % (stop - first)
        shift = 1 + self.secret.number("character", place.encode(errors="surrogatepass"), stop - first - 1)
        return chr(first + (within + shift) % (stop - first))
