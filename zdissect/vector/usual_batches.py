"""Usual batches of a block as columns: what forms of output make texts of, without an object for each message.

A column is a list, or another iterable, with an entry for each message; it is made when somebody asks for it. What
messages have in common is found out once for each *kind*: those of one direction of a connection that share a row.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import cast

import numpy as np

from zdissect.dissection import Dissection
from zdissect.engine.lazy_messages import own_spans
from zdissect.engine.messages import Row
from zdissect.engine.tape import Span
from zdissect.engine.templates import CELL, Template
from zdissect.records import Frame
from zdissect.vector.arrays import Bools, Ints
from zdissect.vector.changing_fields import ChangingFields, GroupFields, Holes
from zdissect.vector.open_columns import OpenColumns
from zdissect.vector.runs import TakenRuns
from zdissect.vector.usual_kinds import Tally, UsualKind


class UsualBatches(OpenColumns):
    """Usual batches of a block, in their order.

    Args:
        batches: Their indices in the block.
        messages: The indices in `Walked` of their messages, or of those that are chosen; each batch has some.
    """

    def __init__(self, runs: TakenRuns, batches: Ints, messages: Ints) -> None:
        super().__init__(runs.block.walked, messages)
        self.block, self.runs, self.batches = runs.block, runs, batches
        self.batch = np.searchsorted(batches, self.walked.batch[messages])
        """The batch of each message, counted here."""
        self.counts: Ints = np.bincount(self.batch, minlength=len(batches))
        self.first = np.cumsum(self.counts) - self.counts
        """The first message of each batch."""
        self.row = runs.row[self.messages]
        """For each message, the index of its row in `runs.rows`."""
        self.ways = [(way.conversation.flow, way.direction) for way in self.block.batches.ways]
        self.framings = [way.framing for way in self.block.batches.ways]
        """How the batches of each way are framed."""
        self.way: Ints = self.block.batches.way[self.batches]
        self._of: UsualBatches | None = None
        self.mask = np.ones(len(messages), np.bool_)
        """Which messages of `whole` these are."""

    @property
    def whole(self) -> "UsualBatches":
        """All messages, where some are chosen."""
        return self._of or self

    def in_full(self) -> tuple["UsualBatches", Bools]:
        """The same batches with all of their messages, and which of these are chosen."""
        if self._of is None:
            return self, self.mask
        mine = np.zeros(len(self.runs.usual), np.bool_)
        mine[self.batches] = True
        full = UsualBatches.of(self.runs, mine)
        return full, self.mask[mine[self.walked.batch[self.whole.messages]]]

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

    def kind_groups(self, chosen: Bools) -> tuple[list[tuple[Template, bool, int]], Ints]:
        """Messages with the same template, those that are chosen apart from the others.

        Returns:
            (template, whether they are chosen, index of the first message) of each group; the group of each message.
        """
        codes, first, group = np.unique(2 * self.row + chosen, return_index=True, return_inverse=True)
        each = zip(codes.tolist(), first.tolist(), strict=True)
        pairs = [(divmod(code, 2), at) for code, at in each]
        return [(cast(Template, self.runs.rows[row]), shown == 1, at) for (row, shown), at in pairs], group

    @cached_property
    def is_outer(self) -> Bools:
        """Whether each message is one of transport, which no other is around, of those with templates."""
        rows = self.runs.rows
        outer = np.array([isinstance(one, Template) and one.row["layer"] == "transport" for one in rows], np.bool_)
        out: Bools = outer[self.row]
        return out

    @cached_property
    def around(self) -> Ints:
        """The index of the FRAME around each message, or of itself if none is."""
        out: Ints = np.maximum.accumulate(np.where(self.is_outer, np.arange(len(self.row)), 0))
        return out

    def with_frames(self) -> "UsualBatches":
        """The chosen messages, and the FRAMEs around them."""
        full, chosen = self.in_full()
        shown = chosen.copy()
        shown[full.around[chosen]] = True
        return UsualBatches(self.runs, self.batches, full.messages[shown])

    def spans(self, message: int) -> list[Span]:
        """The spans of a message, without those of messages inside it; their places count in `data`."""
        walked, here = self.walked, int(self.messages[message])
        batch, start, stop = int(walked.batch[here]), int(walked.start[here]), int(walked.stop[here])
        following = here + 1
        inside = following < len(walked.batch) and walked.batch[following] == batch
        after = walked.start[following] if inside else self.block.batches.stop[batch]
        template = cast(Template, self.runs.rows[int(self.row[message])])
        return own_spans(template.row["message"], self.data, (start, stop), int(after))

    def carriers(self) -> Iterator[tuple[int, ...]]:
        """For each batch, the numbers of the frames that it came in."""
        front = self.block.front
        columns = self.batches.tolist(), front.offsets()[self.batches].tolist()
        for frame, batch, offset in zip(self.frames, *columns, strict=True):
            yield (frame[1],) if offset >= 0 else front.buffer(batch)[1]

    def bytes(self, most: int | None = None) -> Iterator[bytes]:
        """The bytes of each batch, with its length prefix if it has one; or `most` of them, which it has."""
        start = self.block.batches.start[self.batches]
        stop = self.block.batches.stop[self.batches] if most is None else start + most
        return self.slices(start, stop)

    @property
    def first_rows(self) -> list[Row]:
        """The row of the template of the first message of each batch."""
        return [cast(Template, self.runs.rows[row]).row for row in self.row[self.first].tolist()]

    def places(self) -> tuple[Ints, Ints]:
        """`message_index` and `message_number` of the first message of each batch; those after it count on."""
        first = self.block.facts.first[self.batches]
        return self.runs.place[first], self.runs.number[first]

    def numbers(self) -> tuple[list[int], list[int]]:
        """`message_index` and `message_number` of each message."""
        return self.runs.place[self.messages].tolist(), self.runs.number[self.messages].tolist()

    @property
    def sizes(self) -> list[int]:
        """The bytes of each batch, with its length prefix if it has one."""
        sizes: list[int] = self.block.facts.size[self.batches].tolist()
        return sizes

    def message_sizes(self) -> list[int]:
        """The bytes of the messages of each batch; of FRAMEs with what they carry, which counts once."""
        whole, walked, here = self.whole, self.walked, self.messages
        counts = (whole.is_outer | ~self.mask[whole.around])[self.mask]
        out = np.bincount(self.batch, np.where(counts, walked.stop[here] - walked.start[here], 0), len(self.batches))
        sizes: list[int] = out.astype(np.int64).tolist()
        return sizes

    def tallies(self) -> list[Tally]:
        """How many messages there are of each kind."""
        kinds, kind = self.kinds
        walked, here = self.walked, self.messages
        sums = (
            np.bincount(kind, values, len(kinds)).astype(np.int64)
            for values in (None, walked.stop[here] - walked.start[here], np.maximum(walked.payload_size[here], 0))
        )
        return list(map(Tally, *(column.tolist() for column in (*sums, self.last))))

    @property
    def last(self) -> Ints:
        """The last message of each kind."""
        kinds, kind = self.kinds
        last = np.zeros(len(kinds), np.int64)
        last[kind] = np.arange(len(kind))  # of several, the last one stays
        return last

    def endings(self) -> dict[int, list[int]]:
        """By batch: the kinds whose last message is in it, in the order of these."""
        out = defaultdict[int, list[int]](list)
        order = np.argsort(self.last)
        for number, batch in zip(order.tolist(), self.batch[self.last[order]].tolist(), strict=True):
            out[batch].append(number)
        return out

    def folded(self, brief: bool) -> tuple[Ints, Ints, list[int]]:
        """The messages that have a line of their own: all but FRAMEs around chosen ones and, to be brief, KEEP_ALIVEs.

        Returns:
            Their indices in `whole`; for each of them the kind of the FRAME that begins with it, or of itself if it is
            one of transport, else -1; how many of them each batch has.
        """
        whole, (_, kind), outer, around = self.whole, self.whole.kinds, self.whole.is_outer, self.whole.around
        inside = np.flatnonzero(self.mask & ~outer)
        first = inside[np.diff(around[inside], prepend=-1) != 0]
        lines = self.mask.copy()
        lines[around[inside]] = False
        if brief:
            lines &= self.walked.sn[whole.messages] >= 0
        begins = np.where(outer, kind, -1)
        begins[first] = kind[around[first]]
        count = np.bincount(whole.batch[lines], minlength=len(whole.batches))
        return np.flatnonzero(lines), begins[lines], count[np.searchsorted(whole.batches, self.batches)].tolist()

    def changing(self, group: Ints, holes: Sequence[Holes]) -> list[GroupFields]:
        """The fields that change in the messages of each group.

        Args:
            group: The group of each message.
            holes: What changes in those of each group.
        """
        found = ChangingFields(self, self.rows, group, holes)
        return found.groups(np.bincount(group, minlength=len(holes)).tolist())

    def portions(self, chosen: Bools, most: int) -> Iterator[tuple["UsualBatches", Bools]]:
        """The batches in portions of about so many messages, with all of these, and which of them are chosen."""
        first = 0
        while first < len(self.batches):
            last = max(first + 1, int(np.searchsorted(self.first, self.first[first] + most)))
            own = slice(self.first[first], self.first[last - 1] + self.counts[last - 1])
            yield UsualBatches(self.runs, self.batches[first:last], self.messages[own]), chosen[own]
            first = last

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
