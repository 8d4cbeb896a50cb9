"""A fault that is planted to see whether the tests notice."""

from typing import NamedTuple


class Fault(NamedTuple):
    """A fault."""

    name: str
    why: str
    """What goes wrong with it."""
    file: str
    """Below zdissect/."""
    before: str
    """Text that stands there once."""
    after: str
    tests: tuple[str, ...] = ()
    """The tests that notice it; those of the fast ways of reading, where there are none."""
