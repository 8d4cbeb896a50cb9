"""A large capture shared between tasks: what the readers of its frames must know of its groups."""

from functools import lru_cache

from zdissect.parallel.split import Lookup, Moment, Split
from zdissect.records import Frame


class SplitCapture:
    """A split capture, as the readers of its frames know it."""

    def __init__(self, split: Split) -> None:
        self.split = split
        self.groups = range(len(split.sizes))
        self.moments = split.told()

    def lookup(self) -> Lookup:
        """The lookup of the groups of frames."""
        return self.split.lookup()

    def told(self, frame: Frame) -> list[tuple[int, Moment]]:
        """(group, moment) for everything that groups must be told before this frame."""
        return self.moments.get((frame.source, frame.number), [])


@lru_cache(maxsize=2)
def load(text: str) -> SplitCapture | None:
    """From the JSON of a split, for readers of frames; None if it is empty. Workers do it once for all their tasks."""
    return SplitCapture(Split.load(text)) if text else None
