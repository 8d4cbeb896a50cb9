"""What one process does: captures to files, and what it has to tell of them."""

import gc
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from zdissect.export.decoding import Decoding, Settings, TableBatch
from zdissect.export.facts import FAILED, OK, FileFacts
from zdissect.export.files import Work
from zdissect.export.parquet import Parts, WriteError
from zdissect.export.reading import frames
from zdissect.stats.accounting import Accounting

Tell = Callable[[int, int], None]
"""Is told how many bytes of captures were read, and how many messages they held, since the last time."""

_EVERY = 4096
"""Frames between two reports."""
_COLLECT = 16
"""Batches of messages between two collections of garbage. Most of what decoding makes isn't in cycles."""


@dataclass(slots=True)
class Done:
    """What became of some captures. Can be pickled."""

    files: list[FileFacts] = field(default_factory=list)
    rows: Counter[str] = field(default_factory=Counter)
    """Rows of each table."""
    codes: Counter[str] = field(default_factory=Counter)
    accounting: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Done") -> None:
        """Takes over what another process did."""
        self.files += other.files
        self.rows += other.rows
        self.codes += other.codes
        self.accounting.update(other.accounting)


def convert(works: list[Work], directory: str, settings: Settings, tell: Tell = lambda size, messages: None) -> Done:
    """Writes the tables of some captures into a directory. Raises WriteError; a bad capture is only told of."""
    done = Done()
    with Parts(directory) as parts:
        for work in works:
            files: dict[str, FileFacts] = {}
            decoding = Decoding(settings, files)
            try:
                _read(work, decoding, parts, tell)
                _write(decoding.close(), parts)
                done.accounting.update(decoding.accounting())
            except WriteError:
                raise
            except Exception as fault:  # one capture must not keep the others from being converted
                _failed(work, files, f"a fault of zdissect, please report it: {type(fault).__name__}: {fault}")
                _write([batch for table in decoding.out for batch in decoding.take(table)], parts)
                _write(Decoding(settings, files).close(), parts)
            done.codes += decoding.codes
            done.files += files.values()
            for facts in files.values():
                facts.accounting = Accounting()  # it refers to flows, and its totals are taken
    done.rows += parts.rows
    return done


def _read(work: Work, decoding: Decoding, parts: Parts, tell: Tell) -> None:
    """Feeds the frames of a capture, and writes what comes."""
    size = batches = told = 0
    for count, frame in enumerate(frames(work, decoding.files), 1):
        for table, batch in decoding.feed(frame):
            parts.write(table, batch)
            batches += 1
            if batches % _COLLECT == 0 and not gc.isenabled():
                gc.collect()
        size += len(frame.data) + 16
        if count % _EVERY == 0:
            total = decoding.out["messages"].total
            tell(size, total - told)
            size, told = 0, total
    tell(size, decoding.out["messages"].total - told)


def _write(batches: list[TableBatch], parts: Parts) -> None:
    for table, batch in batches:
        parts.write(table, batch)


def _failed(work: Work, files: dict[str, FileFacts], error: str) -> None:
    """Notes for the files of a capture that it couldn't be converted."""
    for source in work.sources:
        facts = files.setdefault(source.name, FileFacts(source.name, work.sources[0].name, size=source.size))
        if facts.status == OK:
            facts.problem(FAILED, f"{source.name}: {error}")


def lost(works: list[Work], directory: str, error: str) -> Done:
    """The rows for captures whose process died."""
    done = Done()
    with Parts(directory) as parts:
        for work in works:
            files: dict[str, FileFacts] = {}
            _failed(work, files, error)
            _write(Decoding(Settings(), files).close(), parts)
            done.files += files.values()
    done.rows += parts.rows
    return done
