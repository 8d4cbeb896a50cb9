"""Single messages of a block as cells: for the rules, which look at one message at a time."""

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from zdissect.engine.templates import Cell, Template
from zdissect.vector.arrays import Walked


class Cells:
    """The messages of a block that was walked.

    Args:
        data: The bytes that were walked.
        templates: The templates that were known then.
    """

    def __init__(self, data: bytes, templates: list[Template], walked: Walked) -> None:
        self.data, self.templates = data, templates
        view: Callable[[Any], memoryview] = memoryview  # gives single numbers three times as fast as an array
        self.template, self.start, self.stop = view(walked.template), view(walked.start), view(walked.stop)
        self.sn, self.stamp, self.stamped = view(walked.sn), view(walked.stamp), view(walked.stamped)
        self.payload, self.payload_size = view(walked.payload), view(walked.payload_size)
        self.attachment, self.attachment_size = view(walked.attachment), view(walked.attachment_size)
        self.source_sn, self.request_id = view(walked.source_sn), view(walked.request_id)
        self.bodies = [(view(some), view(starts), view(sizes)) for some, starts, sizes in walked.bodies]

    def cell(self, index: int, first: int) -> Cell:
        """A message as a cell. Its offset counts from `first`."""
        data, template, start = self.data, self.templates[self.template[index]], self.start[index]
        sn, source_sn, request_id = self.sn[index], self.source_sn[index], self.request_id[index]
        payload, attachment = self.payload[index], self.attachment[index]
        return (
            template,
            start - first,
            self.stop[index] - start,
            sn if sn >= 0 else None,
            self.stamp[index] if self.stamped[index] else None,
            data[payload : payload + self.payload_size[index]] if payload >= 0 else None,
            data[attachment : attachment + self.attachment_size[index]] if attachment >= 0 else None,
            source_sn if source_sn >= 0 else None,
            request_id if request_id >= 0 else None,
            template.extensions(self.changing(index)) if template.changing else None,
        )

    def changing(self, index: int) -> tuple[bytes, ...]:
        """The bodies of its extensions with changing values."""
        out = []
        for some, starts, sizes in self.bodies:
            place = bisect_left(some, index)
            if place < len(some) and some[place] == index:
                out.append(self.data[starts[place] : starts[place] + sizes[place]])
        return tuple(out)
