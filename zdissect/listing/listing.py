"""What all listings have in common: columns, the messages that were chosen, a bound on the rows."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from zdissect.dissection import Dissection, Item
from zdissect.engine.messages import DecodedMessage
from zdissect.pipeline import Pipeline
from zdissect.records import Frame
from zdissect.stats.extent import Extent
from zdissect.stats.sessions import SessionStats

MOST_ROWS = 100_000
"""Rows that are kept; what comes after them is only counted."""

Entry = dict[str, Any]
"""A row of a listing: a value for each of its columns, and None where there is none."""


class ListColumn(NamedTuple):
    """A column of a listing."""

    name: str
    kind: str
    """`text` (a word or an address), `long` (text of any length, which gives way first), `said` (the same,
    with quotes of its own), `zid`, `list` (of texts),
    `number`, `bytes`, `rate` (a second), `time` (nanoseconds since 1970), `duration` (nanoseconds), `flag`, or `rows`
    (a list of entries, which only JSON shows)."""
    doc: str
    title: str
    """The head of the column in a table for people; empty if it isn't shown there."""
    vital: bool
    """It is shown there however narrow that is."""


def columns(text: str) -> tuple[ListColumn, ...]:
    """Columns from lines of name, kind, title and description.

    In a title, `-` stands for none, `_` for a space; `!` after it makes the column vital.
    """
    rows = (line.split(None, 3) for line in text.strip().splitlines())
    return tuple(
        ListColumn(name, kind, doc, "" if title == "-" else title.rstrip("!").replace("_", " "), title.endswith("!"))
        for name, kind, title, doc in rows
    )


class Listing(ABC):
    """Collects the rows of one table. Fed with frames and with the items of a pipeline, which must keep its history."""

    name: ClassVar[str]
    columns: ClassVar[tuple[ListColumn, ...]]
    shown_as: ClassVar[str] = "table"
    """How people see it at first: `table`, `trees`, `summary`; the last two need `summary`."""

    def __init__(self) -> None:
        self.extent = Extent()
        self.unlisted = 0
        """Rows that there would be, beyond the bound."""
        self.sessions = SessionStats()

    def frame(self, frame: Frame) -> None:
        """Takes a frame, whatever is in it."""
        self.extent.frame(frame)

    def feed(self, item: Item, chosen: Sequence[bool] | None = None) -> None:
        """Takes what a pipeline gave.

        Args:
            item: What it gave.
            chosen: Whether each message of it is wanted, or the item where it has none; None: all are.
        """
        self.sessions.feed(item)
        self.take(item, chosen)

    @abstractmethod
    def take(self, item: Item, chosen: Sequence[bool] | None) -> None:
        """Takes what is to be listed of an item."""

    @abstractmethod
    def rows(self, pipeline: Pipeline) -> list[Entry]:
        """The rows, after the pipeline's end. What columns of kind `rows` hold is made by `whole`."""

    def whole(self, row: Entry) -> Entry:
        """One of the rows, with the entries of its columns of kind `rows`: only who shows these has them made."""
        return row

    def summary(self) -> dict[str, Any]:
        """Numbers of all rows, after `rows` was called: lists of entries, by name. Only some listings have it."""
        raise NotImplementedError

    def session_numbers(self, pipeline: Pipeline) -> dict[str, int]:
        """The numbers of the sessions, by flow: those that the listing of sessions gives them."""
        report = self.sessions.report(pipeline.all_links(), self.extent.now_ns)
        return {link["flow_id"]: session["session"] for session in report for link in session["links"]}


def wanted(item: Dissection, chosen: Sequence[bool] | None) -> list[DecodedMessage]:
    """The messages of an item that were chosen."""
    if chosen is None:
        return item.messages
    return [message for message, is_chosen in zip(item.messages, chosen, strict=False) if is_chosen]
