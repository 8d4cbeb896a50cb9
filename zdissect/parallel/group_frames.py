"""One group of a capture, dissected from all frames of the capture: what it brings, and at which of them."""

from bisect import bisect
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from zdissect.dissection import Item
from zdissect.parallel.group_pipeline import GroupPipeline, Ranked
from zdissect.parallel.split import ALL, Moment, Split
from zdissect.pipeline import Options
from zdissect.records import Frame

_EVERY = 1024
"""Frames after which it is said how far it has come, at the latest."""


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

    def dissected(self, frames: Iterable[Frame], pipeline: GroupPipeline) -> Iterator[tuple[int, Ranked]]:
        """(place, what the frame there brings to this group) in order; the end of the capture has a place after all
        frames. Raises UnsoundSplit if the frames aren't those that were looked at before.
        """
        lookup = self.split.lookup()
        moments = iter([moment for group, moment in self.split.moments if group in (self.number, ALL)])
        moment = next(moments, _NONE)
        place = 0
        for place, frame in enumerate(frames, 1):
            now = None
            if place == moment.place:
                now, moment = moment, next(moments, _NONE)
            if lookup.group(frame) == self.number:
                yield place, pipeline.own(frame, now)
            elif now is not None:
                yield place, pipeline.elsewhere(now)
            elif not place % _EVERY:
                yield place, []
        if place != self.split.last.place:
            raise UnsoundSplit("the file has changed")
        yield place + 1, [*pipeline.endings()]

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
