"""Frames fed to a pipeline, with what each completes: in blocks where that is worth it, else one by one."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Generic, cast

from zdissect.dissection import InTurn, Item, Of
from zdissect.pipeline import Pipeline
from zdissect.records import Frame

if TYPE_CHECKING:
    from zdissect.vector.dissections import Show
    from zdissect.vector.feed import BlockFeed

Fed = tuple[Frame, list[Item]]
"""A frame that was fed, and what it completes."""
WORTH_FRAMES = 3_000
"""Frames from which on it pays to load what reads blocks."""
MOST_WAITING = 2_000
"""Frames that have come together from which on they are read in blocks, and most that are: this is done in the time in
which nobody notices that he waits."""
MOST_BYTES = 16 << 20
"""Bytes of frames from which on it isn't waited for more."""


def fed(pipeline: Pipeline, frames: Iterable[Frame]) -> Iterator[Fed]:
    """Feeds the frames of files: each, and what it completes.

    Frames are read ahead of those that are yielded: what is asked of the pipeline may be from later, what items say
    isn't.
    """
    return cast(Iterator[Fed], fed_as(pipeline, frames, None))


def fed_as(
    pipeline: Pipeline, frames: Iterable[Frame], show: "Show[Of] | None"
) -> Iterator[tuple[Frame, Sequence[Item | InTurn[Of]]]]:
    """The same, where batches needn't become dissections.

    Args:
        show: What is made of the columns of usual batches that were read together; None: dissections, as of others.
    """
    rest, first, size = iter(frames), list[Frame](), 0
    for frame in rest:
        first.append(frame)
        size += len(frame[5])
        if len(first) >= WORTH_FRAMES or size >= MOST_BYTES:
            from zdissect.vector.dissections import fed_in_blocks  # slow to load, and most captures are small

            yield from fed_in_blocks(pipeline, chain(first, rest), show)
            return
    for frame in first:
        yield frame, pipeline.feed(frame)


def one_by_one(pipeline: Pipeline, frames: Iterable[Frame]) -> Iterator[Fed]:
    """The same, without reading ahead."""
    return ((frame, pipeline.feed(frame)) for frame in frames)


def as_they_come(
    pipeline: Pipeline, frames: Iterable[Frame | None], show: "Show[Of] | None" = None
) -> Iterator[Sequence[Item | InTurn[Of]]]:
    """Feeds frames of a pipe or an interface: what those complete that have come together, without waiting for more.

    Args:
        pipeline: What they are fed to. It is where the items are that were given last.
        frames: The frames, and None where no more has come yet.
        show: What is made of the columns of usual batches, see `fed_as`.
    """
    together, waiting = _Together(pipeline, show), list[Frame]()
    for frame in chain(frames, [None]):
        if frame is not None:
            waiting.append(frame)
            if len(waiting) < MOST_WAITING:
                continue
        yield together.feed(waiting)
        waiting = []


class _Together(Generic[Of]):
    """Feeds frames that have come together."""

    def __init__(self, pipeline: Pipeline, show: "Show[Of] | None") -> None:
        self.pipeline, self.show = pipeline, show
        self.blocks: BlockFeed | None = None

    def feed(self, frames: list[Frame]) -> Sequence[Item | InTurn[Of]]:
        """What some frames complete: in blocks, as soon as there were enough of them once to load what reads these."""
        if self.blocks is None:
            if len(frames) < MOST_WAITING:
                return [item for frame in frames for item in self.pipeline.feed(frame)]
            from zdissect.vector.feed import BlockFeed

            self.blocks = BlockFeed(self.pipeline)
        from zdissect.vector.dissections import ranked_of

        same = [list(some) for _, some in groupby(frames, itemgetter(0))]
        brought = chain.from_iterable(ranked_of(self.blocks, some, self.show) for some in same)
        return [item for _, ranked in brought for _, items in ranked for item in items]


def dissected(pipeline: Pipeline, frames: Iterable[Frame]) -> Iterator[Item]:
    """All items of files, up to their end."""
    for _, items in fed(pipeline, frames):
        yield from items
    yield from pipeline.close()
