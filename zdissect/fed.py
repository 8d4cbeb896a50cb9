"""Frames fed to a pipeline, with what each completes: in blocks where that is worth it, else one by one."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, cast

from zdissect.dissection import InTurn, Item, Of
from zdissect.pipeline import Pipeline
from zdissect.records import Frame

if TYPE_CHECKING:
    from zdissect.vector.dissections import Show

Fed = tuple[Frame, list[Item]]
"""A frame that was fed, and what it completes."""
WORTH_FRAMES = 5_000
"""Frames from which on it pays to load what reads blocks."""
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


def dissected(pipeline: Pipeline, frames: Iterable[Frame]) -> Iterator[Item]:
    """All items of files, up to their end."""
    for _, items in fed(pipeline, frames):
        yield from items
    yield from pipeline.close()
