"""Runs of usual messages, and what a course needs of the block around it."""

from typing import NamedTuple, Protocol

from zdissect.engine.lazy_messages import LazyMessage, LazyTape
from zdissect.engine.messages import DecodedMessage
from zdissect.engine.templates import Template
from zdissect.records import Frame
from zdissect.session.model import Link
from zdissect.session.state import Sessions
from zdissect.vector.arrays import BlockBatches, Ints, Walked
from zdissect.vector.facts import Facts


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


class Around(Protocol):
    """The block that a course is part of."""

    sessions: Sessions
    frames: list[Frame]
    batches: BlockBatches
    walked: Walked
    facts: Facts
    rows: Rows

    def event(self, link: Link, batch: int) -> None:
        """Takes a batch by the rules."""

    def message(self, batch: int, number: int, tape: LazyTape | None) -> LazyMessage:
        """A message of a batch that was read on arrays; several of them have one tape."""

    def remarked(self, batch: int, ruled: list[LazyMessage], rows: Ints, first: tuple[int, int]) -> None:
        """Passes on a batch in which rules have found something.

        Args:
            ruled: Its messages that went through rules.
            rows: The indices of the rows of usual messages, by pair.
            first: `message_index` and `message_number` of its first message.
        """

    def passed(self, run: UsualRun) -> None:
        """Passes on a run."""
