"""A group of a split capture to tables, from its own frames and from the moments it is told of other groups."""

from collections.abc import Iterator

from zdissect.export.decoding import Decoding, Settings, TableBatch
from zdissect.export.split import Moment, Share
from zdissect.export.summary import GroupResult, Summary
from zdissect.flow.clock import ToldClock
from zdissect.flow.group_streams import GroupStreams
from zdissect.flow.ticks import ToldTicks
from zdissect.records import Frame


class GroupDecoding(Decoding):
    """One group being decoded: takes its frames and moments, in order. Makes no rows about files."""

    def __init__(self, settings: Settings, share: Share) -> None:
        self.share = share
        self.partial = GroupStreams(share.numbers)
        self.pending: Moment | None = None
        self.told_ticks = ToldTicks()
        super().__init__(settings, {}, self.partial, self.told_ticks)
        self.clock = self.pipeline.clock = ToldClock()

    @property
    def capture(self) -> str:
        return self.share.capture

    def receive(self, item: Frame | Moment) -> list[TableBatch]:
        """Takes the next frame or moment of the group."""
        return self.moment(item) if isinstance(item, Moment) else self.feed(item)

    def moment(self, moment: Moment) -> list[TableBatch]:
        """Applies what a segment of another group, or the next one of this group, does."""
        out = self.settle()
        self.pending = moment
        return out

    def feed(self, frame: Frame) -> list[TableBatch]:
        moment = self.pending
        if moment is None:
            return super().feed(frame)
        if (moment.file, moment.number) == (frame.source, frame.number):
            self.pending = None
            self.clock.next = moment.leap
            if moment.look:
                self.partial.look_next()
            self.partial.make_room(moment.drop)
            self.told_ticks.expected = moment.tick
            return super().feed(frame)
        return self.settle() + super().feed(frame)

    def settle(self) -> list[TableBatch]:
        """Applies the last moment, whose segment is in another group."""
        moment, self.pending = self.pending, None
        if moment is None:
            return []
        if moment.leap is not None:
            self.clock.shift = moment.leap[0]
        self.last_ns = max(self.last_ns, moment.latest_ns)
        items = self.partial.look(moment.now_ns) if moment.look else []
        items += self.partial.drop(moment.drop)
        late = self.pipeline.late(items, moment.now_ns)
        if moment.tick:
            self.ticks.tick(moment.now_ns)
            self.pipeline.tick(moment.frame, late)
        return self.items(late)

    def close(self) -> list[TableBatch]:
        """Ends the capture; returns the remaining batches."""
        out = self.settle()
        self.last_ns = max(self.last_ns, self.share.last.latest_ns)
        self.pipeline.last = self.share.last.frame
        return out + self.end() + self.left()

    def saved(self, fault: Exception) -> Iterator[TableBatch]:
        """Returns nothing: the capture is then decoded as a whole, which shows what is wrong."""
        yield from ()

    def summary(self) -> Summary:
        """The totals of the group; files are summed up over all groups of the capture."""
        sound = not self.faulty and self.sound()
        counts = {file_stats.file: file_stats.counts() for file_stats in self.files.values()}
        group = GroupResult(self.share.capture, sound, self.pairs(), counts)
        return Summary(self.totals(), dict(self.codes), self.accounting(), group=group)

    def sound(self) -> bool:
        """Whether its connections are those that were foreseen."""
        return self.partial.exhausted()

    def pairs(self) -> list[list[str]]:
        """The ZenohIDs of its sessions: no other group may have the same pair."""
        return sorted(sorted(map(str, pair)) for pair in self.pipeline.sessions.pairs)
