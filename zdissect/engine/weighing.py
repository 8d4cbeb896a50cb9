"""Lengths in doubt: which of two ends an extension has, where its declared length isn't that of its structure.

Either may be wrong: a length that the sender computed wrongly, a forged number inside. So what follows decides. The
message is read in each of the ways (a `Reading`), and the one is kept in which most makes sense: the message itself,
then the message after it. If that doesn't tell, it is what receivers do; if no way leads to the end of the message,
the declared length counts.
"""

from abc import abstractmethod
from typing import NamedTuple, Self

from zdissect.engine.lengths import DECLARED, Lengths
from zdissect.engine.malformed import Malformed
from zdissect.engine.program import Program, Table
from zdissect.engine.tape import Remark, Span

READINGS = (1, 2, 3, DECLARED)
"""The ways to read a message but that of receivers. Bit n is set where the n-th length in doubt is decided against what
they do; a message with more than two such lengths isn't worth trying all combinations."""
_MOST = 4


class Reading(NamedTuple):
    """A message read in one way."""

    spans: list[Span]
    remarks: list[Remark]
    doubts: int
    declared: bool
    """All declared lengths count in it."""
    end: int
    problem: Malformed | None
    rank: tuple[bool, bool, int]
    """The smaller, the more sense it makes: whether the message fails, whether the next one does, findings."""


class Weighing(Lengths):
    """Reads messages that stand for themselves."""

    __slots__ = ("outer", "trial")

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.trial = False
        """This is a trial: nothing that it meets is worth another one."""
        self.outer: Table | None = None
        """The messages that a batch may hold."""

    @abstractmethod
    def message(self, program: Program, pos: int, stop: int, cut: bool, depth: int) -> int:
        """A message from its header byte on."""

    def weighed(
        self, mark: tuple[int, int], end: int, problem: Malformed | None, table: Table, many: str, pos: int, stop: int,
        cut: bool, depth: int,
    ) -> int:  # fmt: skip
        """Puts the best reading of a message in the place of the one after a mark; where it ends."""
        best = self.best(self.outcome(mark, end, problem, table, many, stop, cut), table, many, pos, stop, cut, depth)
        self.spans += best.spans
        self.remarks += best.remarks
        self.doubts, self.declared = 0, True
        if best.problem is not None:
            raise best.problem
        return best.end

    def best(self, first: Reading, table: Table, many: str, pos: int, stop: int, cut: bool, depth: int) -> Reading:
        """The reading of a message that makes most sense."""
        found, doubts = [first], first.doubts
        if first.rank <= (False, False, doubts):
            return first  # what receivers do, and nothing else is wrong
        for reading in READINGS:
            if (reading if reading > 0 else _MOST) < 1 << doubts:
                run = self.another(reading)
                problem, end = run.attempt(table, pos, stop, cut, depth)
                found.append(run.outcome((0, 0), end, problem, table, many, stop, cut))
                doubts = max(doubts, run.doubts)
        return min(found, key=lambda one: (one.rank, one.rank[0] and not one.declared))

    def outcome(
        self, mark: tuple[int, int], end: int, problem: Malformed | None, table: Table, many: str, stop: int, cut: bool
    ) -> Reading:
        """The result of reading a message, which is undone again."""
        fails = problem is not None and not (cut and problem.short)
        wrong = len(self.remarks) - mark[1] + (fails and problem is not None and bool(problem.code))
        stuck = False
        if problem is None and end < stop:
            stuck, more = self.behind(table, end, stop, cut) if many else (True, 1)
            wrong += more
        spans, remarks = self.back(mark)
        return Reading(spans, remarks, self.doubts, self.declared, end, problem, (fails, stuck, wrong))

    def behind(self, table: Table, pos: int, stop: int, cut: bool) -> tuple[bool, int]:
        """What a message that begins here would be like: whether it fails, and how many findings it has."""
        ident = self.data[pos] & 31
        following = table if ident in table.messages else self.outer
        if following is None or ident not in following.messages:
            return True, 1
        run = self.another(0)
        problem, _ = run.attempt(following, pos, stop, cut, 0)
        fails = problem is not None and not (cut and problem.short)
        return fails, len(run.remarks) + fails

    def attempt(self, table: Table, pos: int, stop: int, cut: bool, depth: int) -> tuple[Malformed | None, int]:
        """Reads a message: why that failed, if it did, and the position after it."""
        try:
            return None, self.message(table[self.data[pos] & 31], pos, stop, cut, depth)
        except Malformed as problem:
            return problem, stop

    def another(self, reading: int) -> Self:
        """A run over the same bytes, to try something."""
        run = type(self)(self.data)
        run.reading, run.trial, run.outer = reading, True, self.outer
        return run
