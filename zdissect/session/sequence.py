"""Sequence numbers: one space per side, channel and priority; which are missing or repeated (notes 1.9, 4.5).

The findings `sn-gap`, `sn-gap-captured`, `sn-first`, `sn-duplicate`, `sn-backward`, `sn-other-channel` and `sn-range`
are made here.
"""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from zdissect.engine.messages import DecodedMessage
from zdissect.session.handshake import ASSUMED_MASK, Parameters

NONE, AFTER_LAST, AFTER_OPEN = range(3)

Space = tuple[int, bool, int]
"""Side, reliable, priority: a space of sequence numbers."""


class Step(Enum):
    """How a sequence number follows the one before."""

    FIRST = "first"
    NEXT = "next"
    EXTRA = "extra"
    """One number was left out after a fragmented message, which is normal."""
    GAP = "gap"
    DUPLICATE = "duplicate"
    BACKWARD = "backward"


@dataclass(slots=True)
class Channel:
    """The sequence numbers of one space."""

    mask: int
    last: int = -1
    expected: int = -1
    """The number that should come next; -1 if unknown."""
    spare: int = NONE
    """Whether the sender may leave one number out after the last one."""
    gaps: int = 0
    """Gaps of the capture before the last number."""
    astray: bool = False
    """Whether the last message that claims to be in this channel had the next number of the other one."""

    def start(self, sn: int) -> None:
        """Anchors the space: `sn` comes next."""
        self.expected = sn & self.mask

    def follows(self, sn: int, starts: bool) -> tuple[Step, int]:
        """(how a number follows, how many are missing).

        Args:
            sn: The number.
            starts: Whether it starts a message: a FRAME, or a first fragment.
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
            spare: Whether the sender may leave a number out after it: NONE; AFTER_LAST; or AFTER_OPEN, a fragment with
                more to come: its chain may be given up, but a number missing inside it is a gap.
        """
        self.last = sn
        self.expected = (sn + 1) & self.mask
        self.spare = spare


class Numbered(NamedTuple):
    """A FRAME or FRAGMENT with its sequence number."""

    message: DecodedMessage
    space: Space
    sn: int
    gaps: int
    """Gaps of the capture in its stream so far."""

    @property
    def field(self) -> str:
        """The field that holds the number."""
        return f"{self.message.row['message'].lower()}.sn"

    def spare(self) -> tuple[int, bool]:
        """(whether a number may be left out after it, whether it starts a message)."""
        if self.message.row["message"] != "FRAGMENT":
            return NONE, True
        return AFTER_OPEN if self.message.flag("M") else AFTER_LAST, self.message.has("fragment.ext_first")


def out_of_range(numbered: Numbered, terms: Parameters | None) -> bool:
    """Notes 9, rule 16: reports a number above the agreed resolution, which is then ignored; returns whether it is."""
    sn = numbered.sn
    if terms is None or sn <= terms.sn_mask or sn <= terms.sn_limit:
        return False
    numbered.message.remark("sn-range", f"sn {sn} is above 0x{terms.sn_limit:x}", numbered.field)
    return True


def open_channel(terms: Parameters | None, initial_sn: int | None) -> Channel:
    """A new channel, which expects the side's first number if that is known."""
    channel = Channel(terms.sn_mask if terms is not None else ASSUMED_MASK)
    if initial_sn is not None:
        channel.start(initial_sn)
    return channel


def follow(channels: dict[Space, Channel], numbered: Numbered, ordered: bool) -> Step:
    """Notes 9, rules 17 to 19: how a number follows the one before it in its channel; reports what is wrong.

    Args:
        channels: All channels of the session, including that of the number.
        numbered: The message.
        ordered: The session has only one link, so its messages come in the order in which they were sent.
    """
    message, space, sn, gaps = numbered
    channel = channels[space]
    spare, starts = numbered.spare()
    begins = channel.last < 0
    expected = channel.expected
    step, missing = channel.follows(sn, starts)
    lossy = channel.gaps != gaps
    channel.gaps = gaps
    astray, channel.astray = channel.astray, False
    if step in _ODD and not lossy:
        other = channels.get(other_channel(space))
        if other is not None and other.follows(sn, starts)[0] in (Step.NEXT, Step.EXTRA):
            other.take(sn, spare)
            channel.astray = True
            if not astray:
                message.remark("sn-other-channel", _astray(space, sn, expected), numbered.field)
            return Step.NEXT
    if step not in (Step.DUPLICATE, Step.BACKWARD):
        channel.take(sn, spare)
    if not ordered:
        return step
    if step is Step.DUPLICATE:
        message.remark("sn-duplicate", f"sn {sn} is repeated", numbered.field)
    elif step is Step.BACKWARD:
        message.remark("sn-backward", f"sn {sn} is older than {expected}, the next one expected", numbered.field)
    elif step is Step.GAP:
        code = "sn-gap-captured" if lossy else "sn-first" if begins else "sn-gap"
        message.remark(code, f"sn {sn}, expected {expected}: {missing} missing", numbered.field)
    return step


_ODD = (Step.GAP, Step.BACKWARD, Step.DUPLICATE)
_CHANNELS = ("best effort", "reliable")


def other_channel(space: Space) -> Space:
    """The space of the other channel with the same side and priority."""
    side, reliable, number = space
    return side, not reliable, number


def _astray(space: Space, sn: int, expected: int) -> str:
    own, other = _CHANNELS[space[1]], _CHANNELS[not space[1]]
    return f"sn {sn} is next in {other}, not in {own}, where {expected} is: flag R is inverted, here or before"
