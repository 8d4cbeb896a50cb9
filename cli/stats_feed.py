"""Feeds statistics with what a pipeline gives: all of it, or the messages that a display filter selects."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from zdissect.dissection import InTurn, Item
from zdissect.filters.first_frame import told_when_it_began
from zdissect.records import Frame
from zdissect.stats import Stats

if TYPE_CHECKING:
    from zdissect.filters import Filter
    from zdissect.vector.dissections import Show
    from zdissect.vector.usual_batches import UsualBatches


class StatsFeed:
    """Feeds statistics.

    Args:
        wanted: Selects messages; None: all count.
    """

    def __init__(self, stats: Stats, wanted: "Filter | None") -> None:
        self.stats, self.wanted = stats, wanted

    def frames(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        """The frames of a capture; the filter is told when the first one was."""
        return iter(frames) if self.wanted is None else told_when_it_began(frames, (self.wanted,))

    @property
    def usual(self) -> "Show[None] | None":
        """What counts the messages of usual batches by their columns; None if these don't do for the filter."""
        if self.wanted is None:
            return self.stats.usual
        return None if self.wanted.needs_tape else self.chosen

    def chosen(self, usual: "UsualBatches") -> Iterator[None]:
        """Counts those messages of usual batches that the filter selects."""
        assert self.wanted is not None
        return self.stats.usual(usual, self.wanted.select_usual(usual))

    def feed(self, items: Iterable[Item | InTurn[None]]) -> None:
        """Feeds items, in order."""
        for item in items:
            if isinstance(item, InTurn):
                item.take()
            else:
                self.stats.feed(item, None if self.wanted is None else self.wanted.select(item))
