"""The types of what filters compare, and how the values of each are represented, alike in all back ends.

| kind | values |
|---|---|
| none | no value: the name can only be asked for by itself |
| bool | bool |
| number | int; with `names` its values can be given by name |
| label | str, one of `names` (or a number as text, where the wire held one without a name) |
| text, key | str; a key expression can be related to others |
| bytes | bytes |
| zid | str, as Zenoh's logs write it |
| duration, time | int, in units of `unit` nanoseconds |
| ip | str |
| mac | bytes |
| real | int or float |
| content | what a message of ROS 2 has: the value that it is compared with says what it must be |
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from zdissect.filters.filter_error import Fault, nearest

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
MICROSECOND = 1_000


@dataclass(frozen=True, eq=False)
class ClosedSet:
    """All values that something can have, with their numbers if they have an order."""

    title: str
    numbers: Mapping[str, int | None]

    @cached_property
    def spellings(self) -> dict[str, str]:
        """The labels by their spelling in lower case."""
        return {label.lower(): label for label in self.numbers}

    @cached_property
    def ordered(self) -> bool:
        """Whether each label has a number."""
        return None not in self.numbers.values()

    def label(self, word: str) -> str | None:
        """The label that a word spells, in any case."""
        return self.spellings.get(word.lower())

    def labels_of(self, number: int) -> set[str]:
        """The labels that a number has; the number itself if there are none."""
        return {label for label, one in self.numbers.items() if one == number} or {str(number)}

    def unknown(self, word: str) -> Fault:
        """The fault of a word that is none of the labels."""
        few = f": {', '.join(self.numbers)}" if len(self.numbers) <= _FEW else ""
        return Fault(f"{word!r} is no {self.title}{few}", nearest(word, self.numbers))


_FEW = 12


@dataclass(frozen=True, slots=True)
class ValueType:
    """A type. `unit` is what a stored duration or time counts, `bare` what a number without a unit does, both in ns."""

    kind: str
    names: ClosedSet | None = None
    unit: int = 1
    bare: int = 1
    unsigned: bool = False
    """A number of up to 64 bits, which tables hold in a signed column."""
    begins: str = ""
    """What all its texts begin with."""

    @property
    def textual(self) -> bool:
        """Whether its values are str."""
        return self.kind in ("text", "key", "zid", "ip", "label")

    @property
    def binary(self) -> bool:
        """Whether its values are bytes."""
        return self.kind in ("bytes", "mac")

    @property
    def numeric(self) -> bool:
        """Whether its values are whole numbers."""
        return self.kind in ("number", "duration", "time")

    @property
    def words(self) -> str:
        """What it is, for people."""
        if self.names is not None:
            return f"a {self.names.title}"
        return WORDS[self.kind]


WORDS = {
    "none": "nothing: it has no value of its own",
    "bool": "true or false",
    "number": "a whole number (12, 0x0c, 0b1100)",
    "label": "a name",
    "text": "text",
    "key": "a key expression",
    "bytes": "bytes (00:01:ff, 0001ff) or quoted text",
    "zid": "a ZenohID, as logs write it or in wire order with colons",
    "duration": "a duration (10ms, 1.5s, 2min)",
    "time": "a time (2026-01-31T12:00:00Z, or seconds since 1970)",
    "ip": "an address or a network (10.0.0.1, 10.0.0.0/8, fe80::1)",
    "mac": "a MAC address",
    "real": "a number (12, 0.25, 1e3)",
    "content": "a value in a message of ROS 2",
}

NONE = ValueType("none")
BOOL = ValueType("bool")
NUMBER = ValueType("number")
TEXT = ValueType("text")
KEY = ValueType("key")
BYTES = ValueType("bytes")
ZID = ValueType("zid")
IP = ValueType("ip")
MAC = ValueType("mac")
REAL = ValueType("real")
CONTENT = ValueType("content")


def closed(title: str, labels: Iterable[str]) -> ValueType:
    """The type of text that is one of some words, without an order."""
    return ValueType("label", ClosedSet(title, dict.fromkeys(labels)))


def ranked(title: str, labels: Iterable[str]) -> ValueType:
    """The type of text that is one of some words, which ascend."""
    return ValueType("label", ClosedSet(title, {label: rank for rank, label in enumerate(labels)}))
