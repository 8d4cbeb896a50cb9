"""A group of a split capture to tables, from its own frames and from the moments it is told of other groups."""

from collections.abc import Iterator
from typing import Any

from zdissect.dissection import Ranked
from zdissect.export.block_tables import TableBatch
from zdissect.export.conversion_settings import Settings
from zdissect.export.decoding import Decoding
from zdissect.export.summary import GroupResult, Summary
from zdissect.parallel.group_pipeline import GroupPipeline
from zdissect.parallel.split import Moment, Share
from zdissect.pipeline import Pipeline
from zdissect.records import Frame


class GroupDecoding(Decoding):
    """One group being decoded: takes its frames and moments, in order. Makes no rows about files."""

    def __init__(self, settings: Settings, share: Share) -> None:
        self.group = GroupPipeline(settings.options(), share)
        self.pending: Moment | None = None
        super().__init__(settings, {})

    def new_pipeline(self) -> Pipeline:
        return self.group

    @property
    def capture(self) -> str:
        return self.group.share.capture

    def feed_block(self, items: list[Any]) -> list[TableBatch]:
        if self.pending is not None:
            items, self.pending = [self.pending, *items], None
        return super().feed_block(items)

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
            self.group.before(moment)
            return super().feed(frame)
        return self.settle() + super().feed(frame)

    def settle(self) -> list[TableBatch]:
        """Applies the last moment, whose segment is in another group."""
        moment, self.pending = self.pending, None
        return [] if moment is None else self.ranked(self.group.elsewhere(moment))

    def ranked(self, ranked: Ranked) -> list[TableBatch]:
        """Takes what a moment has brought."""
        self.last_ns = max(self.last_ns, self.group.latest_ns)
        return self.items([item for _, items in ranked for item in items])

    def close(self) -> list[TableBatch]:
        """Ends the capture; returns the remaining batches."""
        out = self.settle()
        self.last_ns = max(self.last_ns, self.group.share.last.latest_ns)
        return out + self.end() + self.left()

    def saved(self, fault: Exception) -> Iterator[TableBatch]:
        """Returns nothing: the capture is then decoded as a whole, which shows what is wrong."""
        yield from ()

    def summary(self) -> Summary:
        """The totals of the group; files are summed up over all groups of the capture."""
        sound = not self.faulty and self.group.sound()
        counts = {file_stats.file: file_stats.counts() for file_stats in self.files.values()}
        group = GroupResult(self.capture, sound, self.pairs(), counts)
        return Summary(self.totals(), dict(self.codes), self.accounting(), group)

    def pairs(self) -> list[list[str]]:
        """The ZenohIDs of its sessions: no other group may have the same pair."""
        return sorted(sorted(map(str, pair)) for pair in self.pipeline.sessions.pairs)
