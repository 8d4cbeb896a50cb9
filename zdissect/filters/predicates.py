"""What is asked of one value: frozen and typed, so that each back end can answer in its own way."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Among:
    """It is one of these."""

    values: frozenset[Any]


@dataclass(frozen=True, slots=True)
class Between:
    """It is in a range of numbers, texts or bytes; None: without bound. `above`, `below`: without the bound itself."""

    low: Any = None
    high: Any = None
    above: bool = False
    below: bool = False


@dataclass(frozen=True, slots=True)
class AddressRange:
    """It is an IP address in a range, both ends included, of the same version: packed."""

    low: bytes
    high: bytes


@dataclass(frozen=True, slots=True)
class Holds:
    """This text, or these bytes, are part of it."""

    part: Any


@dataclass(frozen=True, slots=True)
class Begins:
    """Its text begins with this one."""

    text: str


@dataclass(frozen=True, slots=True)
class Matches:
    """A regular expression (RE2's) matches somewhere in it; case doesn't matter."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Relates:
    """A key expression relates to this one: `intersects`, `includes` or `within`."""

    word: str
    key: str


@dataclass(frozen=True, slots=True)
class Nonzero:
    """It isn't 0."""


@dataclass(frozen=True, slots=True)
class Either:
    """It fulfils one of these at least."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True, slots=True)
class Unless:
    """It doesn't fulfil this."""

    inner: "Predicate"


Predicate = Among | Between | AddressRange | Holds | Begins | Matches | Relates | Nonzero | Either | Unless

NEVER = Among(frozenset())
