"""Columns of messages of a block: the values that templates leave open."""

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any

import numpy as np

from zdissect.engine.messages import Row
from zdissect.engine.templates import CELL, Cell
from zdissect.vector.arrays import Bools, Ints, Walked


class OpenColumns:
    """Some messages of a block.

    Args:
        messages: Their indices in `Walked`.
    """

    def __init__(self, walked: Walked, messages: Ints) -> None:
        self.walked, self.messages = walked, messages

    @property
    def data(self) -> bytes:
        """The bytes of the block; places in `Walked` count in them."""
        return self.walked.data

    def slices(self, start: Ints, stop: Ints) -> Iterator[bytes]:
        """The bytes at some places."""
        return map(self.data.__getitem__, map(slice, start.tolist(), stop.tolist()))

    def cells(self) -> Iterator[Cell]:
        """The messages as cells, for who looks at one at a time."""
        templates = map(self.walked.templates.__getitem__, self.walked.template[self.messages].tolist())
        return zip(templates, *map(self.column, CELL), strict=True)

    def column(self, name: str, of: Ints | None = None) -> Iterable[Any]:
        """The values of one of the columns that templates leave open; None where a message has none.

        Args:
            of: Which messages; None: all.
        """
        walked, here = self.walked, self.messages if of is None else self.messages[of]
        match name:
            case "offset":
                start: list[int] = (walked.start[here] - walked.origin[walked.batch[here]]).tolist()
                return start
            case "length":
                length: list[int] = (walked.stop[here] - walked.start[here]).tolist()
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
        if not np.count_nonzero(start >= 0):
            return repeat(None, len(start))
        data = self.data
        places = zip(start.tolist(), (start + size).tolist(), strict=True)
        return (data[at:stop] if at >= 0 else None for at, stop in places)

    def extensions(self, here: Ints) -> Iterable[list[Row] | None]:
        """The extensions of messages, of which some have changing values; None where the template's are right."""
        walked = self.walked
        if not walked.bodies:
            return repeat(None, len(here))
        bodies = zip(*(self.pieces(start[here], size[here]) for start, size in walked.bodies), strict=True)
        templates = map(walked.templates.__getitem__, walked.template[here].tolist())
        return (
            template.extensions(tuple([body for body in found if body is not None])) if template.changing else None
            for template, found in zip(templates, bodies, strict=True)
        )


def _or_none(values: Any, there: Bools) -> Iterable[int | None]:
    """Numbers; None where there is none."""
    count = np.count_nonzero(there)
    if not count:
        return repeat(None, len(values))
    out: list[int] = values.tolist()
    if count == len(values):
        return out
    return [value if is_there else None for value, is_there in zip(out, there.tolist(), strict=True)]
