"""One group of a capture, dissected from all frames of the capture: what it brings, and at which of them."""

from bisect import bisect
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from zdissect.dissection import InTurn, Item, Of, Rank
from zdissect.parallel.group_pipeline import GroupPipeline
from zdissect.parallel.split import ALL, Moment, Split
from zdissect.pipeline import Options
from zdissect.records import Frame

if TYPE_CHECKING:
    from zdissect.vector.dissections import Show


Made = TypeVar("Made")
Parts = Iterable[tuple[Rank, Sequence[Made]]]
"""What is brought, in parts."""


class UnsoundSplit(Exception):
    """A group isn't what it was foreseen to be, or not independent of another one: the capture can't be split so."""


class SessionGroup(NamedTuple):
    """One group of a capture: can be dissected as often as needed."""

    split: Split
    number: int
    capture: str
    """The name of its first file."""
    opened: list[int]
    """Where each of its connections opens: see `FirstLook.places`."""

    def pipeline(self, options: Options) -> GroupPipeline:
        """A new pipeline for it."""
        return GroupPipeline(options, self.split.share(self.capture, self.number))

    def dissected(self, frames: Iterable[Frame], pipeline: GroupPipeline) -> Iterator[tuple[int, Parts[Item]]]:
        """As `dissected_as`, where all become items."""
        return cast(Iterator[tuple[int, Parts[Item]]], self.dissected_as(frames, pipeline, None))

    def dissected_as(
        self, frames: Iterable[Frame], pipeline: GroupPipeline, show: "Show[Of] | None"
    ) -> Iterator[tuple[int, Parts[Item | InTurn[Of]]]]:
        """(place, what the frame there brings to this group) in order; the end of the capture has a place after all
        frames. Frames are read ahead of what is given.

        Raises UnsoundSplit if the frames aren't those that were looked at before, or it hasn't opened the connections
        that it should have, or a block brings more than can be held until that is known; what was given before is
        right, as far as this group can tell.

        Args:
            show: What usual batches become, as in `fed_as`.
        """
        from zdissect.vector.dissections import TooMuch, ranked_in_blocks  # slow to load, and most captures are small

        places = deque[int]()
        try:
            for block, brought in ranked_in_blocks(pipeline, self.own(frames, places), show, whole=True):
                own = sum(isinstance(item, Frame) for item in block)
                self.check(pipeline, places[own - 1] if isinstance(block[-1], Frame) else block[-1].place)
                for item, ranked in brought:
                    yield places.popleft() if isinstance(item, Frame) else item.place, ranked
        except TooMuch:
            raise UnsoundSplit("a block of frames brings too much") from None
        place = self.split.last.place + 1
        endings = pipeline.endings()
        first = [*islice(endings, 1)]
        self.check(pipeline, place)
        yield place, chain(first, endings)

    def own(self, frames: Iterable[Frame], places: "deque[int]") -> Iterator[Frame | Moment]:
        """The frames of the group, and the moments that it is told of, in order. Adds the places of its frames."""
        lookup = self.split.lookup()
        moments = iter([moment for owner, moment in self.split.moments if owner in (self.number, ALL)])
        moment = next(moments, _NONE)
        place = 0
        for place, (group, frame) in enumerate(lookup.grouped(frames), 1):
            if place == moment.place:
                yield moment
                moment = next(moments, _NONE)
            if group == self.number:
                places.append(place)
                yield frame
        if place != self.split.last.place:
            raise UnsoundSplit("the file has changed")

    def items(self, frames: Iterable[Frame], options: Options) -> Iterator[Item]:
        """All that it brings, in order."""
        for _, ranked in self.dissected(frames, self.pipeline(options)):
            for _, items in ranked:
                yield from items

    def check(self, pipeline: GroupPipeline, place: int) -> None:
        """Raises UnsoundSplit if it hasn't opened the connections by now that it should have."""
        if pipeline.partial.count != bisect(self.opened, place):
            raise UnsoundSplit("a connection that wasn't foreseen")


_NONE = Moment("", 0, 0, 0, 0)
"""Comes after the last moment."""
