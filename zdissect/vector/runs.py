"""Runs of usual messages: what takes them, and the block that they are of."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from zdissect.dissection import Item, Ranked, RankedPart
from zdissect.engine.lazy_messages import LazyMessage
from zdissect.engine.messages import DecodedMessage
from zdissect.engine.templates import Template
from zdissect.session.model import Link
from zdissect.vector.arrays import Bools, Ints
from zdissect.vector.read_block import ReadBlock


class UsualRun(NamedTuple):
    """Usual messages of one link, in order, and those among them that only the rules about requests saw."""

    link: Link
    batches: Ints
    messages: Ints
    """Their indices in `Walked`."""
    rows: Ints
    """Indices of their rows, see `Rows`."""
    place: Ints
    """`message_index` and..."""
    number: Ints
    """... `message_number` of each."""


class Rows:
    """The rows of the messages of a block: those that many have in common, and those of one message."""

    def __init__(self) -> None:
        self.rows: list[Template | DecodedMessage] = []
        self.known: dict[Template, int] = {}

    def of(self, template: Template) -> int:
        """The index of a template."""
        index = self.known.get(template)
        if index is None:
            index = self.known[template] = len(self.rows)
            self.rows.append(template)
        return index

    def add(self, message: DecodedMessage) -> int:
        """The index of the row of one message."""
        self.rows.append(message)
        return len(self.rows) - 1


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
        """The usual batches all of whose messages have templates."""
        alike = self.usual.copy()
        own = np.array([not isinstance(one, Template) for one in [*self.rows, None]], np.bool_)
        alike[self.block.walked.batch[own[self.row[:-1]]]] = False
        return alike


Step = tuple[int, Iterator[RankedPart] | None]
"""The index of a frame before which all has been passed on; if that frame isn't plain, the rest of what it brings."""


class Sink(Protocol):
    """Takes what a block gives."""

    @property
    def full(self) -> bool:
        """Whether it holds so much that it is to be emptied before it takes more: see `Progress.steps`."""

    def items(self, frame: int, items: list[Item], batch: int = -1) -> None:
        """Takes what a frame of the block, or a batch of it, completes."""

    def ranked(self, frame: int, ranked: Ranked) -> None:
        """Takes what a frame brings that isn't plain, or at which time has passed."""

    def moment(self, frame: int, moment: Any, ranked: Ranked) -> None:
        """Takes what a group of sessions learns of others before a frame: see `parallel.split.Moment`."""

    def run(self, run: UsualRun) -> None:
        """Takes usual messages; they may come later than items of frames after them."""


class Around(ReadBlock, ABC):
    """The block that a course is part of."""

    rows: Rows
    sink: Sink

    @abstractmethod
    def event(self, link: Link, batch: int) -> None:
        """Takes a batch by the rules."""

    @abstractmethod
    def remarked(self, batch: int, ruled: list[LazyMessage], rows: Ints, first: tuple[int, int]) -> None:
        """Passes on a batch in which rules have found something.

        Args:
            ruled: Its messages that went through rules.
            rows: The indices of the rows of usual messages, by pair.
            first: `message_index` and `message_number` of its first message.
        """
