"""Columns of messages of a block: the values that templates leave open."""

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any

from zdissect.engine.messages import Row
from zdissect.vector.arrays import Bools, Ints
from zdissect.vector.read_block import ReadBlock


class OpenColumns:
    """Some messages of a block.

    Args:
        messages: Their indices in `Walked`.
    """

    def __init__(self, block: ReadBlock, messages: Ints) -> None:
        self.block, self.messages = block, messages
        self.data = block.data
        """The bytes of the block; places in `Walked` count in them."""

    def slices(self, start: Ints, stop: Ints) -> Iterator[bytes]:
        """The bytes at some places."""
        return map(self.data.__getitem__, map(slice, start.tolist(), stop.tolist()))

    def column(self, name: str, of: Ints | None = None) -> Iterable[Any]:
        """The values of one of the columns that templates leave open; None where a message has none.

        Args:
            of: Which messages; None: all.
        """
        walked, here = self.block.walked, self.messages if of is None else self.messages[of]
        match name:
            case "offset":
                start: list[int] = (walked.start - self.block.batches.start[walked.batch])[here].tolist()
                return start
            case "length":
                length: list[int] = (walked.stop - walked.start)[here].tolist()
                return length
            case "timestamp_ntp64":
                return _or_none(walked.stamp[here], walked.stamped[here])
            case "sn" | "source_sn" | "request_id":
                numbers = getattr(walked, name)[here]
                return _or_none(numbers, numbers >= 0)
            case "payload" | "attachment":
                return self.pieces(getattr(walked, name)[here], getattr(walked, f"{name}_size")[here])
        return self.extensions(here)

    def pieces(self, start: Ints, size: Ints) -> Iterable[bytes | None]:
        """The bytes at some places; None where a place is negative."""
        if not (start >= 0).any():
            return repeat(None, len(start))
        data = self.data
        places = zip(start.tolist(), (start + size).tolist(), strict=True)
        return (data[at:stop] if at >= 0 else None for at, stop in places)

    def extensions(self, here: Ints) -> Iterable[list[Row] | None]:
        """The extensions of messages, of which some have changing values; None where the template's are right."""
        walked = self.block.walked
        if not walked.bodies:
            return repeat(None, len(here))
        found: list[tuple[bytes, ...]] = [()] * len(walked.batch)
        for messages, start, size in walked.bodies:
            for index, body in zip(messages.tolist(), self.pieces(start, size), strict=True):
                found[index] += (body,)  # none is negative
        templates, template = self.block.templates, walked.template.tolist()
        return (
            templates[template[index]].extensions(found[index]) if found[index] else None for index in here.tolist()
        )


def _or_none(values: Any, there: Bools) -> Iterable[int | None]:
    """Numbers; None where there is none."""
    if there.all():
        out: list[int] = values.tolist()
        return out
    if not there.any():
        return repeat(None, len(values))
    return [value if is_there else None for value, is_there in zip(values.tolist(), there.tolist(), strict=True)]
