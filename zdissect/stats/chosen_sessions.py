"""Sessions, and how many of the messages that somebody has chosen they carry."""

from collections.abc import Sequence
from itertools import compress

from zdissect.dissection import Dissection, Skip
from zdissect.stats.sessions import SessionStats


class ChosenSessions(SessionStats):
    """Counts chosen messages only; all else that it tells of sessions is that of all messages."""

    chosen: Sequence[bool] | None = None

    def size(self, item: Dissection | Skip) -> int:
        if self.chosen is None:
            return super().size(item)
        if isinstance(item, Skip):
            return len(item.data) if all(self.chosen) else 0
        size = stop = 0
        for message in compress(item.messages, self.chosen):  # what is inside of a chosen FRAME counts with that
            start = message.offset
            if start >= stop:
                size += message.length
                stop = start + message.length
        return size

    def count(self, item: Dissection) -> int:
        return super().count(item) if self.chosen is None else sum(map(bool, self.chosen[: len(item.messages)]))
