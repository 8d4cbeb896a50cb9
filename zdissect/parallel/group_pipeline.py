"""The pipeline of a group: its own frames are fed, and it is told of the moments at which others matter."""

from collections.abc import Iterator

from zdissect.dissection import Item, Notice
from zdissect.flow.clock import EARLY_NS, ToldClock
from zdissect.flow.group_streams import GroupStreams
from zdissect.flow.ticks import ToldTicks
from zdissect.parallel.split import Moment, Share
from zdissect.pipeline import Options, Pipeline, due_ns
from zdissect.records import Frame, Segment, StreamItem

Rank = tuple[int, int]
"""Sorts what one frame of a capture brings to several groups."""
Ranked = list[tuple[Rank, list[Item]]]

LEAP, LOOK, OWN, TICK = range(4)
"""First numbers of ranks, in the order of the pipeline; the second is that of a connection or, at a tick, a time."""

_OWN = OWN, 0
"""What the frame itself brings, and the end of connections that it makes room by: if both have something to show, it
isn't known in which order."""


class GroupPipeline(Pipeline):
    """The stages of one group of a split capture, and their state.

    A moment is told either by `before`, if its frame is of this group, or by `elsewhere`.
    """

    def __init__(self, options: Options, share: Share) -> None:
        self.share = share
        self.told_clock, self.told_ticks = ToldClock(), ToldTicks()
        self.partial = GroupStreams(share.numbers)
        super().__init__(options, clock=self.told_clock, streams=self.partial, ticks=self.told_ticks)
        self.latest_ns = EARLY_NS
        """The latest time of the capture of which it was told."""
        self.gave: list[tuple[int, list[Item]]] = []
        """What connections brought that waited until the last moment."""
        self.ticked_at = -1
        """How much a frame had brought when its tick came."""

    def before(self, moment: Moment) -> None:
        """Takes what is to be known of the next frame fed."""
        self.told_clock.next = moment.leap
        if moment.look:
            self.partial.look_next()
        self.partial.make_room(moment.drop)
        self.told_ticks.expected = moment.tick

    def elsewhere(self, moment: Moment) -> Ranked:
        """What a frame of another group brings."""
        if moment.leap is not None:
            self.clock.shift = moment.leap[0]
        self.latest_ns = max(self.latest_ns, moment.latest_ns)
        looked = self.partial.look(moment.now_ns) if moment.look else []
        dropped = self.partial.drop(moment.drop)  # before the others are dissected, as when a segment does both
        out: Ranked = [((LOOK, stream), made) for stream, made in self.waited(looked, moment.now_ns)]
        out += [(_OWN, made) for _, made in self.waited(dropped, moment.now_ns)]
        if moment.tick:
            self.ticks.tick(moment.now_ns)
            out += self.ticked(self.made(self.tick, moment.frame))
        return out

    def waited(self, items: list[StreamItem], now_ns: int) -> Iterator[tuple[int, list[Item]]]:
        """(connection, what it brings) for pieces of TCP streams that have waited until now."""
        for item in self.causal.late(items, now_ns):
            yield item.stream, self.made(self.stream, item)

    @staticmethod
    def ticked(items: list[Item]) -> Ranked:
        """What a tick brings."""
        return [((TICK, due_ns(item)), [item]) for item in items]

    def own(self, frame: Frame, moment: Moment | None) -> Ranked:
        """What a frame of this group brings; the moment, if it is one, hasn't been told yet."""
        if moment is None:
            return [(_OWN, self.feed(frame))]
        self.before(moment)
        self.gave, self.ticked_at = [], -1
        items = self.feed(frame)
        leaps = int(bool(items) and isinstance(items[0], Notice) and items[0].code == "time-leap")
        start, stop = leaps + sum(len(made) for _, made in self.gave), self.ticked_at
        stop = len(items) if stop < 0 else stop
        looked = [((LOOK, stream), made) for stream, made in self.gave]
        return [((LEAP, 0), items[:leaps]), *looked, (_OWN, items[start:stop]), *self.ticked(items[stop:])]

    def segment(self, segment: Segment, out: list[Item]) -> None:
        self.partial.late = 0
        items = self.partial.feed(segment)
        late = self.partial.late
        if late:  # what others waited for comes first
            for stream, made in self.waited(items[:late], segment.frame.now_ns):
                self.gave.append((stream, made))
                out += made
            items = items[late:]
        for item in self.causal.feed(segment, items):
            self.stream(item, out)

    def tick(self, frame: Frame, out: list[Item]) -> None:
        self.ticked_at = len(out)
        super().tick(frame, out)

    def endings(self) -> Iterator[tuple[Rank, list[Item]]]:
        self.latest_ns = max(self.latest_ns, self.share.last.latest_ns)
        self.last = self.share.last.frame  # the capture ends at the same frame for all groups
        yield from super().endings()

    def sound(self) -> bool:
        """Whether its connections are those that were foreseen."""
        return self.partial.exhausted()
