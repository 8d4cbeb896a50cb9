"""The pipeline of a group: its own frames are fed, and it is told of the moments at which others matter."""

from collections.abc import Iterator

from zdissect.dissection import ITSELF, Ranked, RankedPart, parts_of, ticked
from zdissect.flow.clock import EARLY_NS, ToldClock
from zdissect.flow.group_streams import GroupStreams
from zdissect.flow.ticks import ToldTicks
from zdissect.parallel.split import Moment, Share
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Segment


class GroupPipeline(Pipeline):
    """The stages of one group of a split capture, and their state.

    A moment is told either by `before`, if its frame is of this group, or by `elsewhere`.
    """

    def __init__(self, options: Options, share: Share) -> None:
        self.share = share
        self.told_clock, self.told_ticks = ToldClock(), ToldTicks()
        self.partial = GroupStreams(share.numbers)
        super().__init__(options, clock=self.told_clock, streams=self.partial, ticks=self.told_ticks)
        self.sessions.pairs.past = True
        self.latest_ns = EARLY_NS
        """The latest time of the capture of which it was told."""

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
        out = [*self.waited(looked, moment.now_ns)]
        out += [(ITSELF, made) for _, made in self.waited(dropped, moment.now_ns)]
        if moment.tick:
            self.ticks.tick(moment.now_ns)
            out += ticked(self.made(self.tick, moment.frame))
        return out

    def segment(self, segment: Segment) -> Iterator[RankedPart]:
        self.partial.late = 0
        items = self.partial.feed(segment)
        late = self.partial.late
        if late:  # what others waited for comes first
            yield from self.waited(items[:late], segment.frame.now_ns)
            items = items[late:]
        yield from parts_of(ITSELF, self.streamed(self.causal.feed(segment, items)))

    def endings(self) -> Iterator[RankedPart]:
        self.latest_ns = max(self.latest_ns, self.share.last.latest_ns)
        self.last = self.share.last.frame  # the capture ends at the same frame for all groups
        yield from super().endings()

    def sound(self) -> bool:
        """Whether its connections are those that were foreseen."""
        return self.partial.exhausted() and not self.limited()
