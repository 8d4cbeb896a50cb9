"""Blocks: as many frames at once as are worth arrays."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import numpy as np

from zdissect.pipeline import Pipeline
from zdissect.records import Frame
from zdissect.vector.arrays import FrameBlock

LEAST_FRAMES = 200
"""Frames of the smallest block that is worth arrays..."""
LEAST_BYTES = 1 << 18
"""... unless they have so many bytes."""
MOST_FRAMES = 10_000
MOST_TORN = 8
"""Blocks of which one frame in so many, or more, isn't plain are followed by smaller ones."""
MOST_ALONE = 6400
"""Frames that are fed one by one, at most, where that was so even in the smallest blocks: to try costs more than it
gains."""
MOST_MESSAGES = 1 << 17
"""Messages of a block, about: where frames hold more than usual, the blocks that follow have fewer frames."""
MOST_BYTES = 16 << 20
MOST_NS = 1 << 62
"""Times beyond this one, of the year 2116, are left to the scalar way: sums of them might not fit 64 bits."""
_PIECE = 100
"""Frames after which it is looked whether a block is full."""
_SOURCE = itemgetter(0)
"""The file of a frame or moment."""


class BlockSize:
    """How many frames the next block has. Blocks grow while most is plain, and shrink where much isn't: a connection
    isn't read on arrays in a block in which it opens, nor after something of it is lost there.
    """

    def __init__(self) -> None:
        self.most = LEAST_FRAMES - 1
        self.torn = False
        """Whether much of the last block wasn't plain..."""
        self.in_vain = 0
        """... and how many of the smallest ones before it were like that, one after the other."""
        self.alone = 0
        """How many frames are left to be fed one by one."""
        self.fitting = MOST_FRAMES
        """Frames that hold `MOST_MESSAGES`, if they are like those of the last block."""

    def read(self, frames: int, scalar: int, messages: int = 0) -> None:
        """Takes how many frames of a block were fed one by one, and how many messages were read on arrays."""
        self.torn = frames < scalar * MOST_TORN
        self.fitting = frames * MOST_MESSAGES // max(messages, 1)

    @property
    def enough(self) -> int:
        """How many frames are enough."""
        return 1 if self.alone > 0 else self.most

    def next(self, frames: int) -> None:
        """Goes on to what comes after a block of so many frames."""
        if self.alone > 0:
            self.alone -= frames
            return
        self.in_vain = self.in_vain + 1 if self.torn and self.most < LEAST_FRAMES else 0
        if self.in_vain > 1:
            self.alone = min(LEAST_FRAMES << self.in_vain, MOST_ALONE)
        most = self.most // 4 if self.torn else min(4 * self.most + 4, MOST_FRAMES, self.fitting)
        self.most = max(most, LEAST_FRAMES - 1)
        self.torn = False


def blocks(items: Iterable[Any], length: BlockSize) -> Iterator[list[Any]]:
    """Frames in blocks, each of one file; of a group of sessions, with the moments between them.

    A moment is in the block of the frame after it, which it may be about.
    """
    block: list[Any] = []
    size = 0
    rest = iter(items)
    while piece := list(islice(rest, _PIECE)):
        for source, same in groupby(piece, _SOURCE) if len(set(map(_SOURCE, piece))) > 1 else [(piece[0][0], piece)]:
            if block and (len(block) >= length.enough or size >= MOST_BYTES or block[0][0] != source):
                kept = [] if isinstance(block[-1], Frame) else [block.pop()]
                if block:
                    yield block
                length.next(len(block))
                block, size = kept, 0
            added = list(same)
            size += sum([len(item[5]) for item in added if isinstance(item, Frame)])
            block += added
    if block:
        yield block


def of_next(moment: Any, following: Any) -> bool:
    """Whether a moment of a group is about the frame, or moment, that follows: about a frame of that group."""
    return isinstance(following, Frame) and (moment.file, moment.number) == following[:2]


def block_of(pipeline: Pipeline, items: list[Any]) -> FrameBlock | None:
    """The frames and moments of a block; None if it is too small for arrays, or if its times hold a leap or
    are far away.
    """
    frames: list[Frame] = [item for item in items if isinstance(item, Frame)]
    times = [frame[2] for frame in frames]
    if len(frames) < LEAST_FRAMES and sum([len(frame[5]) for frame in frames]) < LEAST_BYTES:
        return None
    if not frames or not pipeline.clock.steady(times):
        return None
    if max(map(abs, times)) >= MOST_NS:
        return None
    moments = []
    if len(frames) < len(items):
        before = 0
        for item in items:
            if isinstance(item, Frame):
                before += 1
            elif item.leap is not None:
                return None
            else:
                moments.append((before, item))
    return FrameBlock(frames, np.array(times, np.int64), moments)
