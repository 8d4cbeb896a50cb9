"""Where in a capture something came first, so that what was counted in several groups of its sessions can be put in the
order in which one would have met it.
"""

from itertools import islice
from operator import itemgetter
from typing import TypeVar

from zdissect.dissection import ITSELF, Rank

At = tuple[int, Rank]
"""The place of a frame among all of the capture, and the rank of what it brings."""
NOWHERE: At = (0, ITSELF)
"""For who counts everything: then the order is that in which it came."""

Name = TypeVar("Name")


class Inseparable(Exception):
    """What groups of sessions have counted apart doesn't say what one who counts all of them would have."""


def first_come(one: dict[Name, At], other: dict[Name, At], most: int) -> dict[Name, At]:
    """The first of what two groups have met, in order; of both the same number has been kept at most.

    Raises Inseparable if it isn't known which came first.
    """
    if not {*one.values()}.isdisjoint(other.values()):
        raise Inseparable("two groups met something at the same place")
    out: dict[Name, At] = {}
    for name, at in sorted((*one.items(), *other.items()), key=itemgetter(1)):
        out.setdefault(name, at)
    return dict(islice(out.items(), most))
