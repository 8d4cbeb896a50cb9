"""Usual batches of a block as columns: what forms of output make texts of, without an object for each message.

A column is a list, or another iterable, with an entry for each message; it is made when somebody asks for it. What
messages have in common is found out once for each *kind*: those of one direction of a connection that share a row.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple, cast

import numpy as np

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.engine.templates import CELL, Template
from zdissect.records import Frame
from zdissect.vector.arrays import Bools, Ints
from zdissect.vector.read_block import ReadBlock
from zdissect.vector.runs import Rows, UsualRun


class UsualKind(NamedTuple):
    """What messages have in common that share a row, in one direction of a connection."""

    template: Template
    """Has the columns that they share; those that it leaves open are in columns of `UsualBatches`."""
    way: int
    """Index in `UsualBatches.ways`."""
    batch: int
    """The first batch with such a message."""


class Tally(NamedTuple):
    """How many messages of a kind there are."""

    messages: int
    size: int
    """Their bytes."""
    payloads: int
    """Bytes of their payloads."""
    last: int
    """The batch with the last one, counted in `UsualBatches`."""


class TakenRuns:
    """The runs of a block: which of its batches they hold, and what was said of their messages."""

    def __init__(self, block: ReadBlock, rows: Rows, runs: list[UsualRun]) -> None:
        self.block, self.rows = block, rows.rows
        self.usual: Bools = np.zeros(len(block.batches.start), np.bool_)
        many = len(block.walked.batch) + 1  # one more for batches without messages
        self.row, self.place, self.number = (np.full(many, -1) for _ in range(3))
        for run in runs:
            self.usual[run.batches] = True
            self.row[run.messages], self.place[run.messages] = run.rows, run.place
            self.number[run.messages] = run.number

    @cached_property
    def alike(self) -> Bools:
        """The usual batches all of whose messages have templates, and sequence numbers."""
        alike, own = (
            self.usual.copy(),
            np.array([not isinstance(one, Template) for one in [*self.rows, None]], np.bool_),
        )
        walked = self.block.walked
        alike[walked.batch[own[self.row[:-1]] | (walked.sn < 0)]] = False
        return alike


class UsualBatches:
    """Usual batches of a block, in their order.

    Args:
        batches: Their indices in the block.
        messages: The indices in `Walked` of their messages, or of those that are chosen; each batch has some.
    """

    def __init__(self, runs: TakenRuns, batches: Ints, messages: Ints) -> None:
        self.runs, self.block = runs, runs.block
        self.data = self.block.walker.data
        self.batches, self.messages = batches, messages
        self.batch = np.searchsorted(batches, self.block.walked.batch[messages])
        """The batch of each message, counted here."""
        self.counts: Ints = np.bincount(self.batch, minlength=len(batches))
        self.first = np.cumsum(self.counts) - self.counts
        """The first message of each batch."""
        self.row = runs.row[self.messages]
        """For each message, the index of its row in `runs.rows`."""
        self.ways = [(way.conversation.flow, way.direction) for way in self.block.batches.ways]
        self.way: Ints = self.block.batches.way[self.batches]
        self._of: UsualBatches | None = None
        self.mask = np.ones(len(messages), np.bool_)
        """Which messages of `whole` these are."""

    @property
    def whole(self) -> "UsualBatches":
        """All messages, where some are chosen."""
        return self._of or self

    @classmethod
    def of(cls, runs: TakenRuns, which: Bools) -> "UsualBatches":
        """Batches with all of their messages.

        Args:
            which: For each batch of the block, whether it is one of them.
        """
        return cls(runs, np.flatnonzero(which), np.flatnonzero(which[runs.block.walked.batch]))

    def chosen(self, mask: list[bool]) -> tuple["UsualBatches", list[bool]]:
        """Those of the messages that are chosen, in the batches that have such ones; and which batches these are."""
        chosen = np.array(mask, np.bool_)
        has = np.zeros(len(self.batches), np.bool_)
        has[self.batch[chosen]] = True
        out = UsualBatches(self.runs, self.batches[has], self.messages[chosen])
        out._of, out.mask = self, chosen
        return out, has.tolist()

    @cached_property
    def frames(self) -> list[Frame]:
        """The frame of each batch."""
        return [self.block.frames[number] for number in self.block.batches.frame[self.batches].tolist()]

    @cached_property
    def kinds(self) -> tuple[list[UsualKind], Ints]:
        """(kinds, the index of the kind of each message), where all have templates; the first one is that of the first
        message."""
        many = len(self.ways)
        found, first, kind = np.unique(self.row * many + self.way[self.batch], return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        each = zip((found[order] // many).tolist(), (found[order] % many).tolist(), strict=True)
        kinds = [
            UsualKind(cast(Template, self.runs.rows[row]), way, batch)
            for (row, way), batch in zip(each, self.batch[first[order]].tolist(), strict=True)
        ]
        return kinds, rank[kind]

    def places(self) -> tuple[Ints, Ints]:
        """`message_index` and `message_number` of the first message of each batch; those after it count on."""
        first = self.block.facts.first[self.batches]
        return self.runs.place[first], self.runs.number[first]

    def numbers(self) -> tuple[list[int], list[int]]:
        """`message_index` and `message_number` of each message."""
        return self.runs.place[self.messages].tolist(), self.runs.number[self.messages].tolist()

    @property
    def sizes(self) -> list[int]:
        """The bytes of each batch, with its length prefix."""
        sizes: list[int] = self.block.facts.size[self.batches].tolist()
        return sizes

    def tallies(self) -> list[Tally]:
        """How many messages there are of each kind."""
        kinds, kind = self.kinds
        walked, here = self.block.walked, self.messages
        last = np.zeros(len(kinds), np.int64)
        last[kind] = self.batch  # of several, the last one stays
        sums = (
            np.bincount(kind, values, len(kinds)).astype(np.int64)
            for values in (None, walked.stop[here] - walked.start[here], np.maximum(walked.payload_size[here], 0))
        )
        return list(map(Tally, *(column.tolist() for column in (*sums, last))))

    def folded(self, frames: list[bool]) -> tuple[Ints, Ints, list[int]]:
        """The messages that have a line of their own: all but FRAMEs around chosen ones.

        Args:
            frames: For each kind of `whole`, whether it is one of FRAMEs.

        Returns:
            Their indices in `whole`; for each of them the kind of the FRAME that begins with it or that it is, else -1;
            how many of them each batch has.
        """
        whole, (_, kind) = self.whole, self.whole.kinds
        frame = np.array(frames, np.bool_)[kind]
        around = np.maximum.accumulate(np.where(frame, np.arange(len(kind)), 0))
        inside = np.flatnonzero(self.mask & ~frame)
        first = inside[np.diff(around[inside], prepend=-1) != 0]
        lines = self.mask.copy()
        lines[around[inside]] = False
        begins = np.where(frame, kind, -1)
        begins[first] = kind[around[first]]
        count = np.bincount(whole.batch[lines], minlength=len(whole.batches))
        return np.flatnonzero(lines), begins[lines], count[np.searchsorted(whole.batches, self.batches)].tolist()

    def rows(self, of: list[int]) -> Iterator[Row]:
        """The rows of some messages, by their indices; with the columns that messages have of their own."""
        kinds, kind = self.kinds
        here = np.array(of, np.int64)
        templates = map([one.template for one in kinds].__getitem__, kind[here].tolist())
        cells = zip(templates, *(self.column(name, here) for name in CELL), strict=True)
        return (cell[0].complete(cell) for cell in cells)

    def item(self, way: int) -> Dissection:
        """Stands for the batches of a way where nothing matters but which way it is."""
        return self.block.item(int(self.batches[(self.way == way).argmax()]))

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
            case "sn" | "source_sn":
                numbers = getattr(walked, name)[here]
                return _or_none(numbers, numbers >= 0)
            case "payload" | "attachment":
                return self.pieces(getattr(walked, name)[here], getattr(walked, f"{name}_size")[here])
        return self.extensions(here)

    def pieces(self, start: Ints, size: Ints) -> Iterable[bytes | None]:
        """The bytes at some places; None where a place is negative."""
        data = self.data
        if not (start >= 0).any():
            return repeat(None, len(start))
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
        templates, template = self.block.walker.templates, walked.template.tolist()
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
