"""Findings that a message has many times: a line with their number instead of hundreds of lines."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

FEW = 3
"""So many of a kind are shown one by one."""

Found = TypeVar("Found")


def gathered(
    findings: Sequence[Found], kind: Callable[[Found], Hashable], text: Callable[[Found], str]
) -> Iterator[tuple[Found, str]]:
    """(finding, its text) for all findings; of a kind with more than a few the first one, with their number.

    Args:
        kind: What makes findings of one kind: the rule, and the message that they belong to.
        text: What a finding says.
    """
    if len(findings) <= FEW:
        yield from ((finding, text(finding)) for finding in findings)
        return
    numbers = Counter(kind(finding) for finding in findings)
    alike = Counter((kind(finding), text(finding)) for finding in findings)
    shown = set()
    for finding in findings:
        here, says = kind(finding), text(finding)
        number = numbers[here]
        if number <= FEW:
            yield finding, says
        elif here not in shown:
            shown.add(here)
            yield (
                finding,
                f"{says} ({number} times)" if alike[here, says] == number else f"{says} (and {number - 1} more)",
            )
