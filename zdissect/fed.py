"""Frames fed to a pipeline, with what each completes: in blocks where that is worth it, else one by one."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, cast

from zdissect.dissection import InTurn, Item, Of, memory_of
from zdissect.pipeline import Pipeline
from zdissect.records import Frame

if TYPE_CHECKING:
    from zdissect.vector.dissections import Show
    from zdissect.vector.feed import BlockFeed

Fed = tuple[Frame, Iterable[Item]]
"""A frame that was fed, and what it completes: to be taken before the next one, as it may be made meanwhile."""
WORTH_FRAMES = 3_000
"""Frames from which on it pays to load what reads blocks..."""
WORTH_MESSAGES = 12_000
"""... and messages that a file of fewer frames may have left, if it goes on as it began."""
_LOOK = 16
"""Frames after which these are counted again, and..."""
_TELLING = 500
"""... messages that tell how it goes on."""
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
) -> Iterator[tuple[Frame, Iterable[Item | InTurn[Of]]]]:
    """The same, where batches needn't become dissections.

    Args:
        show: What is made of the columns of usual batches that were read together; None: dissections, as of others.
    """
    for frame, ranked in _ranked(pipeline, frames, show):
        if isinstance(ranked, list) and len(ranked) == 1:  # most are
            yield frame, ranked[0][1]
            continue
        items = (item for _, items in ranked for item in items)
        yield frame, items
        deque(items, 0)  # what nobody has taken is fed, too


def in_parts(
    pipeline: Pipeline, frames: Iterable[Frame], show: "Show[Of] | None"
) -> Iterator[Sequence[Item | InTurn[Of]]]:
    """What frames complete, in parts: one frame may bring far more than it takes itself."""
    return _gathered(items for _, ranked in _ranked(pipeline, frames, show) for _, items in ranked)


def _ranked(
    pipeline: Pipeline, frames: Iterable[Frame], show: "Show[Of] | None"
) -> Iterator[tuple[Frame, Iterable[tuple[Any, Sequence[Item | InTurn[Of]]]]]]:
    """Feeds frames: each, and what it brings, in parts; in blocks from where on these are worth it."""
    rest, first, size = iter(frames), list[Frame](), 0
    for frame in rest:
        first.append(frame)
        size += len(frame[5])
        if len(first) >= WORTH_FRAMES or size >= MOST_BYTES:
            break
    else:
        done = before = 0
        for frame in first:
            if not done % _LOOK and _many_follow(pipeline, before, size):
                break
            yield frame, pipeline.ranked(frame)
            done += 1
            before += len(frame[5])
        first = first[done:]
        if not first:
            return
    from zdissect.vector.dissections import ranked_in_blocks  # slow to load, and most captures are small

    for _, brought in ranked_in_blocks(pipeline, chain(first, rest), show):
        yield from brought


def _many_follow(pipeline: Pipeline, before: int, size: int) -> bool:
    """Whether many messages may follow in a file, of which so many bytes have been fed."""
    messages = sum(sum(link.messages) for link in pipeline.sessions.links.values())  # of links that haven't ended
    return messages > _TELLING and messages * (size - before) > WORTH_MESSAGES * before


def one_by_one(pipeline: Pipeline, frames: Iterable[Frame]) -> Iterator[Fed]:
    """The same as `fed`, without reading ahead."""
    for frame in frames:
        items = pipeline.begun(frame)
        yield frame, items
        deque(items, 0)  # what nobody has taken is fed, too


def as_they_come(
    pipeline: Pipeline,
    frames: Iterable[Frame | None],
    show: "Show[Of] | None" = None,
    between: Callable[[], list[Item]] = list,
) -> Iterator[Sequence[Item | InTurn[Of]]]:
    """Feeds frames of a pipe or an interface: what those complete that have come together, in parts, without waiting
    for more.

    Args:
        pipeline: What they are fed to. It is where the items are that were given last.
        frames: The frames, and None where no more has come yet.
        show: What is made of the columns of usual batches, see `fed_as`.
        between: Gives what else there is to say each time when all that came together has been fed.
    """
    together, waiting = _Together(pipeline, show), list[Frame]()
    for frame in chain(frames, [None]):
        if frame is not None:
            waiting.append(frame)
            if len(waiting) < MOST_WAITING:
                continue
        yield from _gathered(together.feed(waiting))
        waiting = []
        yield between()


_TOGETHER = 1 << 17
"""Memory of items that are gathered. Of more, what is looked at for garbage again and again would take time."""
_IN_TURN = 5000
"""Memory of the text of a batch that was read together with others, about."""


def _gathered(parts: Iterable[Sequence[Item | InTurn[Of]]]) -> Iterator[Sequence[Item | InTurn[Of]]]:
    """Small parts put together."""
    out, size = list[Item | InTurn[Of]](), 0
    for part in filter(None, parts):
        out += part
        for item in part:
            size += _IN_TURN if isinstance(item, InTurn) else memory_of(item)
        if size >= _TOGETHER:
            yield out
            out, size = [], 0
    yield out


class _Together(Generic[Of]):
    """Feeds frames that have come together."""

    def __init__(self, pipeline: Pipeline, show: "Show[Of] | None") -> None:
        self.pipeline, self.show = pipeline, show
        self.blocks: BlockFeed | None = None

    def feed(self, frames: list[Frame]) -> Iterator[Sequence[Item | InTurn[Of]]]:
        """What some frames complete, in parts: in blocks, as soon as there were enough of them once to load what reads
        these."""
        if self.blocks is None:
            if len(frames) < MOST_WAITING:
                return (items for frame in frames for _, items in self.pipeline.ranked(frame))
            from zdissect.vector.feed import BlockFeed

            self.blocks = BlockFeed(self.pipeline)
        from zdissect.vector.dissections import ranked_of

        same = [list(some) for _, some in groupby(frames, itemgetter(0))]
        brought = chain.from_iterable(ranked_of(self.blocks, some, self.show) for some in same)
        return (items for _, ranked in brought for _, items in ranked)


def dissected(pipeline: Pipeline, frames: Iterable[Frame]) -> Iterator[Item]:
    """All items of files, up to their end."""
    for _, items in fed(pipeline, frames):
        yield from items
    for _, left in pipeline.endings():
        yield from left
