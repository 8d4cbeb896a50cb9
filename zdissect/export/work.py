"""The work of one process: captures to files, and a report on them."""

import gc
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from zdissect.export.block_tables import TableBatch
from zdissect.export.conversion_settings import Settings
from zdissect.export.decoding import Decoding
from zdissect.export.file_stats import FileStats
from zdissect.export.group_decoding import GroupDecoding
from zdissect.export.inputs import Work
from zdissect.export.merging import frames
from zdissect.export.parquet import Parts, TableFile
from zdissect.export.summary import Summary, count, total
from zdissect.parallel.first_look import RECORD
from zdissect.parallel.look_blocks import split_of
from zdissect.parallel.split import Moment, Share, Split
from zdissect.records import Frame
from zdissect.stats.accounting import Accounting

Tell = Callable[[int, int], None]
"""Receives how many bytes of captures were read, and how many messages they held, since the last call."""

_EVERY = 4096
"""Frames between two reports."""
_COLLECT = 16
"""Batches of messages between two collections of garbage. Most of what decoding makes isn't in cycles."""


@dataclass(slots=True)
class Done:
    """The results of converting some captures. Can be pickled."""

    files: list[FileStats] = field(default_factory=list)
    rows: Counter[str] = field(default_factory=Counter)
    """Rows of each table."""
    codes: Counter[str] = field(default_factory=Counter)
    accounting: Counter[str] = field(default_factory=Counter)
    split: str = ""
    """The result of a first look at a capture."""
    group: Summary | None = None
    """The result of a group, which doesn't count until all groups of its capture have ended."""
    parts: list[TableFile] = field(default_factory=list)
    """The files that were written."""

    def add(self, other: "Done") -> None:
        """Adds the results of another process."""
        self.files += other.files
        self.rows += other.rows
        self.codes += other.codes
        self.accounting.update(other.accounting)

    def json(self) -> str:
        """As text."""
        files = [file_stats.state() for file_stats in self.files]
        return json.dumps([files, self.rows, self.codes, self.accounting, self.split, self.group, self.parts])

    @classmethod
    def load(cls, text: str) -> "Done":
        """From text."""
        files, rows, codes, accounting, split, group, parts = json.loads(text)
        return cls(
            [FileStats.of(state) for state in files], Counter(rows), Counter(codes), Counter(accounting), split,
            None if group is None else Summary.of(group), [TableFile(*values) for values in parts],
        )  # fmt: skip


def _nobody(size: int, messages: int) -> None:
    """Is told, and tells nobody."""


def convert(works: list[Work], directory: str, settings: Settings, tell: Tell = _nobody) -> Done:
    """Writes the tables of some captures into a directory. Raises WriteError; a bad capture is only reported."""
    done = Done()
    with Parts(directory) as parts:
        for work in works:
            files: dict[str, FileStats] = {}
            decoding = Decoding(settings, files)
            write_batches(decoding.guarded(decoding.tables(_told(frames(work, files), decoding, tell))), parts)
            done.accounting.update(decoding.accounting())
            done.codes += decoding.codes
            done.files += files.values()
            for file_stats in files.values():
                file_stats.accounting = Accounting()  # it refers to flows, and its totals were taken already
    done.rows += parts.rows
    done.parts = parts.written()
    return done


def look(work: Work, settings: Settings, most: int) -> Done:
    """Finds out how a capture can be split into at most `most` groups of sessions."""
    return Done(split=split_of(frames(work, {}), settings.options(), most))


def convert_group(work: Work, split: Split, group: int, directory: str, settings: Settings, tell: Tell) -> Done:
    """Writes the tables of a group of a capture, without rows about its files. Raises WriteError."""
    files: dict[str, FileStats] = {}
    items = split.of(group, _noted(frames(work, files), files))
    done = convert_items(items, split.share(work.inputs[0].name, group), directory, settings, tell)
    done.files += files.values()
    return done


def convert_items(
    items: Iterable[Frame | Moment], share: Share, directory: str, settings: Settings, tell: Tell = _nobody
) -> Done:
    """Writes the tables of a group, from its frames and moments. Raises WriteError."""
    with Parts(directory) as parts:
        decoding = GroupDecoding(settings, share)
        write_batches(decoding.guarded(decoding.tables(_told(items, decoding, tell))), parts)
    return Done(group=decoding.summary(), parts=parts.written())


def _noted(frames: Iterable[Frame], files: dict[str, FileStats]) -> Iterator[Frame]:
    """The frames of a capture; notes for each file their number, and the first and last time."""
    for frame in frames:
        file_stats = files[frame.source]
        file_stats.frames += 1
        file_stats.last_ns = frame.ts_ns
        if file_stats.first_ns is None:
            file_stats.first_ns = frame.ts_ns
        yield frame


def join(files: list[FileStats], groups: list[Summary], directory: str) -> Done:
    """Writes the rows about the files of a capture from the results of all its groups; returns the sum of these."""
    done = Done(files, *total(groups))
    known = {file_stats.file: file_stats for file_stats in files}
    for file_stats in files:
        file_stats.frames = 0
    count(known, groups)
    decoding = Decoding(files=known)
    with Parts(directory) as parts:
        write_batches(decoding.close(), parts)
    done.codes.update(decoding.codes)
    done.rows.update(parts.rows)
    done.parts = parts.written()
    for file_stats in files:
        file_stats.accounting = Accounting()  # its totals are taken
    return done


def _told(items: Iterable[Frame | Moment], decoding: Decoding, tell: Tell) -> Iterator[Frame | Moment]:
    """The frames of a capture, or the frames and moments of a group; reports what was read and decoded."""
    size = reported = 0
    for number, frame in enumerate(items, 1):
        yield frame
        size += len(frame.data) + RECORD if isinstance(frame, Frame) else 0
        if number % _EVERY == 0:
            total = decoding.out["messages"].total
            tell(size, total - reported)
            size, reported = 0, total
    tell(size, decoding.out["messages"].total - reported)


def write_batches(batches: Iterable[TableBatch], parts: Parts) -> None:
    """Writes batches. Raises WriteError."""
    for number, (table, batch) in enumerate(batches, 1):
        parts.write(table, batch)
        if number % _COLLECT == 0 and not gc.isenabled():
            gc.collect()


def lost(works: list[Work], directory: str, error: str) -> Done:
    """The rows for captures whose process died."""
    done = Done()
    with Parts(directory) as parts:
        for work in works:
            first = work.inputs[0].name
            files = {file.name: FileStats(file.name, first, size=file.size) for file in work.inputs}
            for file_stats in files.values():
                file_stats.fail(error)
            write_batches(Decoding(Settings(), files).close(), parts)
            done.files += files.values()
    done.rows += parts.rows
    done.parts = parts.written()
    return done
