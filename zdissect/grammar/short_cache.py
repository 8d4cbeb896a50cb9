"""What is found out about a short text is remembered; a long one would take the memory of many."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

LONGEST = 512
"""Characters, at most, of a text about which something is remembered."""
_T = TypeVar("_T")


def short_cache(most: int) -> Callable[[Callable[[str], _T]], Callable[[str], _T]]:
    """A decorator for a function of a text alone: its last results are remembered, those for short texts.

    Args:
        most: How many, at most.
    """

    def remembering(function: Callable[[str], _T]) -> Callable[[str], _T]:
        known = lru_cache(most)(function)

        @wraps(function)
        def ask(text: str) -> _T:
            return known(text) if len(text) <= LONGEST else function(text)

        return ask

    return remembering
