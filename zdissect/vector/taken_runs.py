"""Which batches of a block are in runs of usual messages, and what was said of their messages."""

from functools import cached_property

import numpy as np

from zdissect.engine.templates import Template
from zdissect.vector.arrays import Bools
from zdissect.vector.read_block import ReadBlock
from zdissect.vector.runs import Rows, UsualRun


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
