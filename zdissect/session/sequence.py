"""Sequence numbers: one space per direction, channel and priority (notes 1.9 and 4.5)."""

from dataclasses import dataclass
from enum import Enum

NONE, AFTER_LAST, AFTER_OPEN = range(3)


class Step(Enum):
    """How a sequence number follows the one before."""

    FIRST = "first"
    NEXT = "next"
    EXTRA = "extra"
    """One was left out after a fragmented message: normal."""
    GAP = "gap"
    DUPLICATE = "duplicate"
    BACKWARD = "backward"


@dataclass(slots=True)
class Channel:
    """The sequence numbers of one space."""

    mask: int
    last: int = -1
    expected: int = -1
    """The number that should come next; -1 if nothing is known."""
    spare: int = NONE
    """Whether the sender may leave one number out after the last one."""
    holes: int = 0
    """Holes of the capture known when the last number came."""
    astray: bool = False
    """The last message that claims to be in it had the next number of the other channel."""

    def start(self, sn: int) -> None:
        """Anchors the space: `sn` comes next."""
        self.expected = sn & self.mask

    def follows(self, sn: int, starts: bool) -> tuple[Step, int]:
        """(how a number follows, how many are missing).

        Args:
            sn: The number.
            starts: It starts a message: a FRAME, or a first fragment.
        """
        if self.expected < 0:
            return Step.FIRST, 0
        missing = (sn - self.expected) & self.mask
        if not missing:
            return Step.NEXT, 0
        if missing == 1 and (self.spare == AFTER_LAST or (self.spare == AFTER_OPEN and starts)):
            return Step.EXTRA, 0
        if self.last >= 0 and sn == self.last:
            return Step.DUPLICATE, 0
        return (Step.BACKWARD, 0) if missing > self.mask // 2 else (Step.GAP, missing)

    def take(self, sn: int, spare: int) -> None:
        """Takes a number that is neither a duplicate nor old.

        Args:
            sn: The number.
            spare: Whether the sender may leave a number out after it: NONE, AFTER_LAST, or AFTER_OPEN, which is a
                fragment with more to come: its chain may be given up, but a hole in it is a hole.
        """
        self.last = sn
        self.expected = (sn + 1) & self.mask
        self.spare = spare
