"""Lengths in doubt: decides where an extension ends if its declared length isn't that of its structure.

Either may be wrong: the sender may have computed the length wrongly, or a number inside may be forged. So what follows
decides. The message is read in each way (a `Candidate`), and the candidate is kept that makes most sense: first the
message itself, then the one after it. If they are equal, what receivers do counts; if no candidate reaches the end of
the message, the declared length does.
"""

from abc import abstractmethod
from typing import NamedTuple, Self

from zdissect.engine.lengths import DECLARED, Lengths
from zdissect.engine.malformed import Malformed
from zdissect.engine.program import Program, ProgramTable
from zdissect.engine.tape import Remark, Span

ALTERNATIVES = (1, 2, 3, DECLARED)
"""The ways to read a message other than receivers do, see `Lengths.decisions`. For a message with more than two lengths
in doubt it isn't worth trying all combinations."""
_MOST = 4


class Doubtful(NamedTuple):
    """A message with lengths in doubt: where it begins, and which messages may stand there."""

    table: ProgramTable
    many: str
    """As `Choice.many`: whether another message of the table may follow."""
    pos: int
    stop: int
    """End of the region around it."""
    cut: bool
    depth: int


class Candidate(NamedTuple):
    """A message, read in one way."""

    spans: list[Span]
    remarks: list[Remark]
    doubts: int
    declared: bool
    """Whether all declared lengths count."""
    end: int
    problem: Malformed | None
    rank: tuple[bool, bool, int]
    """Whether the message fails, whether the next one does, findings; the smaller, the more sense it makes."""


class Weighing(Lengths):
    """Reads messages, and weighs their candidates."""

    __slots__ = ("outer", "trial")

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.trial = False
        """Whether this is a trial, which starts no further trials."""
        self.outer: ProgramTable | None = None
        """The messages that a batch may hold."""

    @abstractmethod
    def message(self, program: Program, pos: int, stop: int, cut: bool, depth: int) -> int:
        """A message from its header byte on."""

    def weighed(self, message: Doubtful, mark: tuple[int, int], end: int, problem: Malformed | None) -> int:
        """Replaces what was read of a message since a mark by its best candidate; returns the position after it.

        Args:
            end: Where the message ended when it was read as receivers read it.
            problem: Why that failed, if it did.
        """
        best = self.best(self.candidate(message, mark, end, problem), message)
        self.spans += best.spans
        self.remarks += best.remarks
        self.doubts, self.declared = 0, True
        if best.problem is not None:
            raise best.problem
        return best.end

    def best(self, first: Candidate, message: Doubtful) -> Candidate:
        """The candidate that makes most sense; `first` is what receivers read."""
        candidates, doubts = [first], first.doubts
        if first.rank <= (False, False, doubts):
            return first  # as receivers read it, and nothing else is wrong
        for decisions in ALTERNATIVES:
            if (decisions if decisions > 0 else _MOST) < 1 << doubts:
                run = self.another(decisions)
                problem, end = run.attempt(message.table, message.pos, message.stop, message.cut, message.depth)
                candidates.append(run.candidate(message, (0, 0), end, problem))
                doubts = max(doubts, run.doubts)
        return min(candidates, key=lambda candidate: (candidate.rank, candidate.rank[0] and not candidate.declared))

    def candidate(self, message: Doubtful, mark: tuple[int, int], end: int, problem: Malformed | None) -> Candidate:
        """The result of reading a message, taken off the tape again."""
        fails = problem is not None and not (message.cut and problem.short)
        wrong = len(self.remarks) - mark[1] + (fails and problem is not None and bool(problem.code))
        stuck = False
        if problem is None and end < message.stop:
            stuck, more = self.after(message, end) if message.many else (True, 1)
            wrong += more
        spans, remarks = self.back(mark)
        return Candidate(spans, remarks, self.doubts, self.declared, end, problem, (fails, stuck, wrong))

    def after(self, message: Doubtful, pos: int) -> tuple[bool, int]:
        """(whether it fails, how many findings it has) for the next message, if it begins here."""
        ident = self.data[pos] & 31
        following = message.table if ident in message.table.messages else self.outer
        if following is None or ident not in following.messages:
            return True, 1
        run = self.another(0)
        problem, _ = run.attempt(following, pos, message.stop, message.cut, 0)
        fails = problem is not None and not (message.cut and problem.short)
        return fails, len(run.remarks) + fails

    def attempt(self, table: ProgramTable, pos: int, stop: int, cut: bool, depth: int) -> tuple[Malformed | None, int]:
        """Reads a message; returns why that failed, if it did, and the position after it."""
        try:
            return None, self.message(table[self.data[pos] & 31], pos, stop, cut, depth)
        except Malformed as problem:
            return problem, stop

    def another(self, decisions: int) -> Self:
        """Another run over the same bytes, for a trial."""
        run = type(self)(self.data)
        run.decisions, run.trial, run.outer = decisions, True, self.outer
        return run
