"""Statistics of a capture whose sessions are dissected in groups, apart from each other (`zdissect/parallel`).

Each group counts what is in its own sessions, and notes where it was: `GroupStats`. What depends on all sessions, such
as which REQUESTs are one query, it passes on, and so it does with its counts in the end. `StatsOfGroups` puts them
together, to the same report as if it had counted everything itself.
"""

from collections import Counter
from typing import NamedTuple

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.pipeline import Pipeline
from zdissect.session.occurrences import Occurrences
from zdissect.stats import Ended, First, Kind, Stats
from zdissect.stats.came import At, Inseparable
from zdissect.stats.keys import Keys
from zdissect.stats.over_time import OverTime
from zdissect.stats.query_messages import QueryMessage
from zdissect.stats.query_stats import MADE_OF
from zdissect.stats.sessions import in_groups


class GroupCounts(NamedTuple):
    """What one group has counted."""

    ended: Ended
    kinds: Counter[Kind]
    sizes: Counter[Kind]
    codes: Counter[str]
    firsts: dict[str, First]
    keys: Keys
    over_time: OverTime | None


class GroupStats(Stats):
    """Counts what is in the sessions of a group; no frames.

    Args:
        whole: Has taken all frames.
    """

    def __init__(self, whole: "StatsOfGroups") -> None:
        self.whole, over_time = whole, whole.over_time
        super().__init__(None if over_time is None else over_time.asked_ns)
        if self.over_time is not None and over_time is not None:
            self.over_time.began_ns = over_time.began_ns
        self.found: list[QueryMessage] = []
        """Messages of queries that weren't passed on yet."""

    def came(self, at: At) -> None:
        """Tells it where all comes that it is fed next."""
        self.at = self.keys.at = self.sessions.at = at

    def asked(self, item: Dissection, row: Row, counts: bool) -> None:
        if row["message"] in MADE_OF:
            self.found.append(QueryMessage.of(item, row, counts))

    def counts(self, pipeline: Pipeline) -> GroupCounts:
        """What was counted, once the pipeline of the group has ended."""
        ended = self.ended(pipeline, self.whole.extent.now_ns)
        return GroupCounts(ended, self.kinds, self.sizes, self.codes, self.firsts, self.keys, self.over_time)


class StatsOfGroups(Stats):
    """Takes all frames; and of each group messages of queries, in the order of the capture, and what it has counted.

    Args:
        every_ns: As of `Stats`.
        choice: Whether only chosen messages count.
    """

    def __init__(self, every_ns: int | None, choice: bool) -> None:
        super().__init__(every_ns)
        self.choice = choice
        self.whole = Ended({}, Counter(), Counter(), [], Occurrences())

    def passed_on(self, messages: list[QueryMessage], refused: Occurrences) -> None:
        """Takes the next messages of queries, and connections that were refused."""
        for message in messages:
            self.asked(message.item, message.row, message.chosen)
        self.whole.refused.merge(refused)

    def add(self, part: GroupCounts) -> None:
        """Takes what a group has counted. Raises Inseparable if that isn't enough to say what all of them have."""
        self.kinds += part.kinds
        self.sizes += part.sizes
        self.codes += part.codes
        for code, first in part.firsts.items():
            known = self.firsts.get(code, first)
            if known.at == first.at and known != first:
                raise Inseparable("two groups have the same finding at the same place")
            self.firsts[code] = min(known, first)
        self.keys.add(part.keys)
        if self.over_time is not None and part.over_time is not None:
            self.over_time.add(part.over_time)
        before, ended = self.whole, part.ended
        self.whole = Ended(
            {name: before.accounting.get(name, 0) + size for name, size in ended.accounting.items()},
            before.unopened + ended.unopened,
            before.conversations + ended.conversations,
            in_groups(before.sessions, ended.sessions),
            before.refused,
        )
