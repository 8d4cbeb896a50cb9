"""Findings that a message has many times: a line with their number instead of hundreds of lines."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

FEW = 3
"""So many of a kind are shown one by one."""

Found = TypeVar("Found")


def gathered(
    found: Sequence[Found], kind: Callable[[Found], Hashable], text: Callable[[Found], str]
) -> Iterator[tuple[Found, str]]:
    """(finding, its text) for all findings; of a kind with more than a few the first one, with their number.

    Args:
        kind: What makes findings of one kind: the rule, and the message that they belong to.
        text: What a finding says.
    """
    if len(found) <= FEW:
        yield from ((one, text(one)) for one in found)
        return
    numbers = Counter(kind(one) for one in found)
    alike = Counter((kind(one), text(one)) for one in found)
    shown = set()
    for one in found:
        here, says = kind(one), text(one)
        number = numbers[here]
        if number <= FEW:
            yield one, says
        elif here not in shown:
            shown.add(here)
            yield one, f"{says} ({number} times)" if alike[here, says] == number else f"{says} (and {number - 1} more)"
