"""Large captures shared between tasks: which are split into groups of sessions, and what their readers must know."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from zdissect.export import merging
from zdissect.export.conversion_settings import Settings
from zdissect.parallel import first_look
from zdissect.parallel.split import Lookup, Moment, Share, Split
from zdissect.records import Frame
from zdissect.spark import plan
from zdissect.spark.filesystems import open_input
from zdissect.spark.plan import Planned


class Shared(NamedTuple):
    """A capture in groups."""

    split: Split
    buckets: list[int]
    """The partitions in which the groups are decoded."""


def look(capture: list[Planned], settings: Settings, most: int) -> str:
    """A capture in at most `most` groups, as JSON; empty if it can't be split."""
    return first_look.look(merging.frames(plan.work(capture), {}, open_input), settings.options(), most)


def spread(
    captures: list[list[Planned]], splits: Mapping[str, Split], buckets: int
) -> tuple[list[list[Planned]], dict[str, Shared]]:
    """The captures, and those that are split, by name, with the partitions in which they are decoded.

    The largest come first, each in the partition with the least to do.
    """
    names = [plan.name(capture) for capture in captures]
    sizes = [
        splits[name].sizes if name in splits else [plan.size(capture)]
        for name, capture in zip(names, captures, strict=True)
    ]
    pieces = [(size, index, group) for index, groups in enumerate(sizes) for group, size in enumerate(groups)]
    loads = [0] * max(buckets, 1)
    chosen: dict[tuple[int, int], int] = {}
    for size, index, group in sorted(pieces, key=lambda piece: -piece[0]):
        bucket = chosen[index, group] = loads.index(min(loads))
        loads[bucket] += size + 1
    shared = {
        name: Shared(splits[name], [chosen[index, group] for group in range(len(sizes[index]))])
        for index, name in enumerate(names)
        if name in splits
    }
    return [plan.to_bucket(capture, chosen[index, 0]) for index, capture in enumerate(captures)], shared


def dump(shared: Mapping[str, Shared]) -> str:
    """As text, for an option of the source."""
    return json.dumps({name: (capture.split.json(), capture.buckets) for name, capture in shared.items()})


@lru_cache(maxsize=2)
def load(text: str) -> "dict[str, SplitCapture]":
    """From text, for readers of frames. Workers do it once for all their tasks."""
    captures = json.loads(text).items()
    return {name: SplitCapture(name, Shared(Split.load(split), buckets)) for name, (split, buckets) in captures}


class SplitCapture:
    """A split capture, as its readers know it."""

    def __init__(self, name: str, shared: Shared) -> None:
        self.name = name
        self.split, self.buckets = shared
        self.moments = self.split.told()

    def lookup(self) -> Lookup:
        """The lookup of the groups of frames."""
        return self.split.lookup()

    def shares(self) -> list[Share]:
        """What the groups must know."""
        return [self.split.share(self.name, group) for group in range(len(self.split.sizes))]

    def told(self, frame: Frame) -> list[tuple[int, Moment]]:
        """(group, moment) for everything that groups must be told before this frame."""
        return self.moments.get((frame.source, frame.number), [])
