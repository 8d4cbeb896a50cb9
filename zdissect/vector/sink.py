"""What takes that which a block of frames gives."""

from collections.abc import Iterator
from typing import Any, Protocol

from zdissect.dissection import Item, Ranked, RankedPart
from zdissect.vector.runs import UsualRun

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
