"""Frames to tables: the code of the processes of `zdissect batch` and of Spark's workers. Pure except for state."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zdissect.dissection import ITSELF, Dissection, Item, findings
from zdissect.engine.messages import Row
from zdissect.export.arrow import Batches
from zdissect.export.block_tables import BlockTables, TableBatch
from zdissect.export.conversion_settings import Settings
from zdissect.export.fields_column import message_json
from zdissect.export.file_stats import FileStats
from zdissect.export.finding_rows import finding_row
from zdissect.export.message_batches import MessageBatches
from zdissect.export.session_rows import Links
from zdissect.export.tables import MESSAGES, TABLES
from zdissect.flow.clock import EARLY_NS
from zdissect.pipeline import Pipeline
from zdissect.records import Frame
from zdissect.stats.accounting import Accounting
from zdissect.vector.feed import BlockFeed
from zdissect.vector.frame_blocks import block_of, blocks

if TYPE_CHECKING:
    from zdissect.export.filtered_messages import FilteredMessages
    from zdissect.export.ros_columns import RosColumns

State = tuple[dict[str, FileStats], Pipeline, Links, int]
"""The state of a `Decoding`. Can be pickled."""


@dataclass
class Decoding:
    """One capture being decoded: takes its frames in order, returns batches of all tables."""

    settings: Settings = field(default_factory=Settings)
    files: dict[str, FileStats] = field(default_factory=dict)
    """The files by `Frame.source`, in order; the reader may have entered what it knows."""

    def __post_init__(self) -> None:
        self.pipeline = self.new_pipeline()
        self.links = Links(self.pipeline)
        settings = self.settings
        self.messages = self._messages()
        self.others = {name: Batches(name, settings.batch_rows) for name in TABLES if name != MESSAGES}
        self.out: dict[str, Batches | MessageBatches | FilteredMessages] = {MESSAGES: self.messages} | self.others
        self.codes: Counter[str] = Counter()
        """Findings by code."""
        self.last_ns = EARLY_NS
        """The latest time, without leaps of the clock."""
        self.file_stats: FileStats | None = None
        self.faulty = False
        """Whether a bug has ended it."""
        self.ros = ros_columns(settings)
        self.keep = (
            self.messages.payload if isinstance(self.messages, MessageBatches) else self.messages.messages.payload
        )
        self.feeder = BlockFeed(self.pipeline)
        self.block: BlockTables | None = None
        """The block that is being read."""
        self.arrays = not settings.fields and (isinstance(self.messages, MessageBatches) or not self.messages.by_item)
        """Whether blocks may be read on arrays: not if each message is needed on its own."""

    def state(self) -> "State":
        """What another one with the same settings needs to go on from here, once all rows were taken (`left`)."""
        return self.files, self.pipeline, self.links, self.last_ns

    def resume(self, state: "State") -> None:
        """Goes on where another one was in a `state`."""
        self.files, self.pipeline, self.links, self.last_ns = state
        self.feeder = BlockFeed(self.pipeline)  # what it has learned of templates isn't kept: it learns them again

    def new_pipeline(self) -> Pipeline:
        """The pipeline that its frames are fed to."""
        return Pipeline(self.settings.options())

    def _messages(self) -> "MessageBatches | FilteredMessages":
        settings = self.settings
        payload = None if settings.ros2 and settings.contents else settings.payload  # contents need all of it
        messages = MessageBatches(settings.batch_rows, settings.batch_bytes, payload)
        if not settings.filter:
            return messages
        from zdissect.export.filtered_messages import FilteredMessages  # slow to import, and most have no filter

        return FilteredMessages(messages, settings.filter)

    def tables(self, items: Iterable[Any]) -> Iterator[TableBatch]:
        """The batches that frames, and moments of a group, fill; all of them in the order of the capture."""
        for some in blocks(items, self.feeder.length) if self.arrays else ([item] for item in items):
            yield from self.feed_block(some)

    def feed_block(self, items: list[Any]) -> list[TableBatch]:
        """Takes frames of one file, and moments of a group."""
        block = block_of(self.pipeline, items)
        if block is None:
            return [batch for item in items for batch in self.receive(item)]
        out, before = self.take(MESSAGES), self.pipeline.captured
        file_stats, times = self.about(block.frames[0].source), block.now_ns
        size = sum([len(frame[5]) for frame in block.frames])
        file_stats.read(len(times), size, int(times[0]), int(times[-1]))
        progress = self.feeder.read(block)
        self.block = BlockTables(self, progress, out)
        progress.go(self.block)
        for rows in self.block.findings():
            out += self.found(rows)
        file_stats.payload += self.pipeline.captured - before
        self.last_ns = max(self.last_ns, int(times.max()))
        return out + self.take(MESSAGES)

    def receive(self, item: Any) -> list[TableBatch]:
        """Takes a frame, or a moment of a group."""
        return self.feed(item)

    def about(self, source: str) -> FileStats:
        """The file of a frame."""
        file_stats = self.file_stats
        if file_stats is None or file_stats.file != source:
            file_stats = self.file_stats = self.files.setdefault(source, FileStats(source))
        return file_stats

    def feed(self, frame: Frame) -> list[TableBatch]:
        """Takes a frame; returns the batches that are full."""
        file_stats = self.about(frame.source)
        ts_ns = frame.ts_ns
        file_stats.read(1, len(frame.data), ts_ns, ts_ns)
        pipeline = self.pipeline
        before = pipeline.captured
        ranked = pipeline.ranked(frame)
        _, first = next(ranked, (ITSELF, []))
        self.last_ns = max(self.last_ns, ts_ns - pipeline.clock.shift)
        file_stats.payload += pipeline.captured - before
        out = self.items(first) if first or pipeline.links else []
        for _, items in ranked:
            out += self.items(items)
        return out

    def items(self, items: list[Item]) -> list[TableBatch]:
        """Takes the items that the pipeline returned together, and the links that ended with them."""
        out: list[TableBatch] = []
        for item in items:
            out += self.item(item)
        if self.pipeline.links and self.others["sessions"].add(list(self.links.ended(self.capture, self.last_ns))):
            out += self.take("sessions")
        return out

    def close(self) -> list[TableBatch]:
        """Ends the capture; returns the remaining batches (of `captures` and `sessions`, usually all rows)."""
        out = self.end()
        about = [row for file_stats in self.files.values() if (row := file_stats.finding()) is not None]
        out += self.found(about)
        self.others["captures"].add([file_stats.row() for file_stats in self.files.values()])
        return out + self.left()

    def end(self) -> list[TableBatch]:
        """Returns the batches of messages and sessions that are made at the end of the capture."""
        out = self.items(self.pipeline.close())
        if self.settings.filter:  # only now is it known how many rows each file has
            out += self.take(MESSAGES)
        for file, kinds in self.pipeline.decoder.unopened.files.items():
            self.files[file].unopened = kinds
        self.others["sessions"].add(list(self.links.rest(self.capture, self.last_ns)))
        return out

    def guarded(self, batches: Iterable[TableBatch]) -> Iterator[TableBatch]:
        """The tables of a whole capture. After an exception the rest is lost, and the rows of the files say so.

        Args:
            batches: The batches that `feed` returns for the frames, made on demand.
        """
        try:
            yield from batches
            yield from self.close()
        except Exception as fault:  # one capture must not keep the others from being converted
            self.faulty = True
            yield from self.saved(fault)

    def saved(self, fault: Exception) -> Iterator[TableBatch]:
        """The batches that remain after an exception: the rows so far, and those about files."""
        for file_stats in self.files.values():
            file_stats.fail(f"a bug in zdissect, please report it: {type(fault).__name__}: {fault}")
        yield from self.left()
        yield from Decoding(self.settings, self.files).close()

    def left(self) -> list[TableBatch]:
        """The batches of all tables that aren't full yet."""
        return [batch for name in self.out for batch in self.take(name)]

    @property
    def capture(self) -> str:
        """The name of the capture: that of its first file."""
        return next(iter(self.files), "")

    def accounting(self) -> dict[str, Any]:
        """What became of every payload byte, once the capture has ended; empty after a fault."""
        if self.faulty:
            return {}
        total = Accounting()
        for file_stats in self.files.values():
            total.add(file_stats.accounting)
        return total.report(self.pipeline)

    def totals(self) -> dict[str, int]:
        """Rows of each table so far."""
        return {table: batches.total for table, batches in self.out.items()}

    def take(self, name: str) -> list[TableBatch]:
        """The batches of a table, if it has rows."""
        batches = self.rows() if name == MESSAGES else [self.out[name].take()]
        return [(name, batch) for batch in batches if batch is not None]

    def rows(self) -> list[pa.RecordBatch | None]:
        """The batches of the table of messages."""
        messages = self.messages
        singles = messages.take() if isinstance(messages, MessageBatches) else messages.messages.take()
        batches: list[pa.RecordBatch | None] = [singles]
        if self.block is not None:
            batches, self.block = [*self.block.take(singles)], None
        if not isinstance(messages, MessageBatches):
            batches = [messages.chosen(batch) for batch in batches]
            for file, rows in messages.counted().items():
                self.files[file].messages += rows
        return [batch if batch is None or self.ros is None else self.ros.add(batch) for batch in batches]

    def add(self, item: Dissection) -> bool:
        """Takes the messages of a dissection; returns whether it is time for a batch."""
        if self.block is None:
            return self.messages.feed(item)
        if self.block.add(item):
            self.messages.feed(item)
        elif not self.settings.filter:
            self.messages.total += len(item.messages)
        return False

    def usual(self, file: str, rows: int, size: int) -> None:
        """Counts rows of a file that are taken at once, from this many bytes."""
        file_stats = self.about(file)
        file_stats.accounting.decoded += size
        if not self.settings.filter:
            file_stats.messages += rows
            self.messages.total += rows

    def item(self, item: Item) -> list[TableBatch]:
        """Takes an item of the pipeline."""
        file_stats = self.files.get(item.frame.source) or self.files.setdefault(
            item.frame.source, FileStats(item.frame.source)
        )
        file_stats.accounting.feed(item)
        self.links.feed(item)
        out: list[TableBatch] = []
        if isinstance(item, Dissection):
            if self.settings.fields:
                for message in item.messages:
                    message.row["fields"] = message_json(item, message)
            file_stats.messages += 0 if self.settings.filter else len(item.messages)
            if self.add(item):
                out += self.take(MESSAGES)
            if not item.tape.remarks:
                return out
        rows = [finding_row(finding) for finding in findings(item)]
        file_stats.findings += len(rows)
        if self.block is None:
            return out + self.found(rows)
        self.block.found.append((self.block.frame, rows))
        return out

    def found(self, rows: list[Row]) -> list[TableBatch]:
        """Takes rows of findings."""
        self.codes.update(row["code"] for row in rows)
        return self.take("findings") if rows and self.others["findings"].add(rows) else []


def ros_columns(settings: Settings) -> "RosColumns | None":
    """What adds the columns of ROS 2; None if they aren't wanted."""
    if not settings.ros2:
        return None
    from zdissect.export.ros_columns import RosColumns  # most don't want them
    from zdissect.ros2.content import Contents
    from zdissect.ros2.type_finder import TypeFinder

    contents = Contents(TypeFinder(dict(settings.definitions))) if settings.contents else None
    return RosColumns(contents, settings.payload if settings.contents else None)


def decode_sessions(
    frames: Iterable[Frame], settings: Settings | None = None, files: dict[str, FileStats] | None = None
) -> Iterator[TableBatch]:
    """The tables of one capture, or of some sessions of it, batch by batch, in bounded memory.

    Args:
        frames: The frames in the order of the capture, with all links of a session.
        files: What is already known of the files; it is added to, and makes the rows of `captures` when the frames
            have ended.
    """
    decoding = Decoding(settings or Settings(), {} if files is None else files)
    yield from decoding.tables(frames)
    yield from decoding.close()
