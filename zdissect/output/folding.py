"""Which messages of a tree are shown in full: others are folded to the line of their header."""

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from zdissect.engine.tape import Remark, Span, Tape
from zdissect.grammar.registry import MESSAGES, place


class Folds(NamedTuple):
    """What is left of the spans of a tape."""

    order: Sequence[int]
    """The places of the spans that are shown, in order."""
    stops: Mapping[int, int]
    """For the place of each folded message: the byte up to which nothing else is shown."""


def unfolded(spans: Sequence[Span]) -> Folds:
    """All of them."""
    return Folds(range(len(spans)), {})


def folded(spans: Sequence[Span], unfolds: Callable[[int, Span], bool]) -> Folds:
    """The spans that are shown if only some messages are, and of the others the headers.

    A message that is shown in full is so wherever it stands, in a folded one too.

    Args:
        unfolds: Whether the message at a place among the spans is shown in full.
    """
    order: list[int] = []
    closed: list[int] = []  # of what is shown: folded messages
    around: list[tuple[int, bool]] = []  # the depth of each message around, and whether it is folded
    for index, span in enumerate(spans):
        field, depth = span[:2]
        while around and around[-1][0] >= depth:
            around.pop()
        hides = bool(around) and around[-1][1]
        if field.kind == "message":
            hides = not unfolds(index, span)
            around.append((depth, hides))
            if hides:
                closed.append(index)
        if not hides or field.kind == "message":
            order.append(index)
    following = dict(pairwise(order))
    return Folds(order, {at: spans[following[at]][2] if at in following else spans[0][3] for at in closed})


def divided(tape: Tape, stops: Mapping[int, int]) -> tuple[list[Remark], Counter[int]]:
    """The findings that are shown in full, and of the others, which are in folded messages, how many each has.

    A finding is that of the innermost message that holds its place, or of the last one before it.

    Args:
        stops: Those of the folds, by the place of each folded message.
    """
    places = [place for place, span in enumerate(tape.spans) if span[0].kind == "message"]
    starts = [tape.spans[place][2] for place in places]
    shown: list[Remark] = []
    hidden: Counter[int] = Counter()
    for remark in tape.remarks:
        owner = places[max(bisect(starts, remark[1]) - 1, 0)] if places else None
        if owner is not None and owner in stops:
            hidden[owner] += 1
        else:
            shown.append(remark)
    return shown, hidden


def messages_called(name: str) -> frozenset[str]:
    """The fields of all messages that are called so: `PUSH`, `push`, `zenoh.push`, `INIT_SYN`; `zenoh` are all.

    Raises:
        KeyError: There is none.
    """
    low = name.strip().lower()
    found = frozenset(path for path, labels in _labels() if low in labels)
    if not found:
        raise KeyError(name)
    return found


def message_names() -> Iterator[str]:
    """The fields of all messages."""
    for path, _ in _labels():
        yield path


def _labels() -> Iterator[tuple[str, set[str]]]:
    """The field of each message, and what that message is called, in lower case."""
    for message in MESSAGES:
        path = place(message).field.path
        variants = {label.lower() for pair in message.labels.values() for label in pair}
        yield path, {path, path.removeprefix("zenoh."), message.name.lower(), "zenoh", *variants}
