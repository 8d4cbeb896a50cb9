"""The results of decoding a capture, besides its tables. Passed from process to process, and from worker to driver."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from zdissect.export.file_stats import FileStats

Brief = list[Any]
"""A file in brief, see `FileStats.brief`."""


class GroupResult(NamedTuple):
    """Results that only a group of a capture has."""

    capture: str
    """The first file of the capture."""
    sound: bool
    """Whether it ended without an exception, and its connections were those that were foreseen."""
    pairs: list[list[str]]
    """The ZenohIDs of its sessions: no other group may have the same pair."""
    counts: dict[str, Any]
    """The counts of each file, see `FileStats.counts`."""


class Summary(NamedTuple):
    """The numbers of a capture, or of a group of one."""

    rows: dict[str, int]
    """Rows of each table."""
    codes: dict[str, int]
    """Findings by code."""
    accounting: dict[str, int]
    files: Sequence[Brief] = ()
    """The files of a capture that was decoded as a whole."""
    group: GroupResult | None = None

    def json(self) -> str:
        """As text."""
        return json.dumps(self)

    @classmethod
    def load(cls, text: str) -> "Summary":
        """From text."""
        rows, codes, accounting, files, group = json.loads(text)
        return cls(rows, codes, accounting, files, None if group is None else GroupResult(*group))


def unsound(groups: Sequence[Summary]) -> set[str]:
    """The captures that were split wrongly: a connection belongs to a different group than was foreseen."""
    out: set[str] = set()
    seen: set[tuple[str, ...]] = set()
    for summary in groups:
        if summary.group is not None:
            pairs = {(summary.group.capture, *pair) for pair in summary.group.pairs}
            if not summary.group.sound or pairs & seen:
                out.add(summary.group.capture)
            seen |= pairs
    return out


def count(files: dict[str, FileStats], groups: Sequence[Summary]) -> None:
    """Adds the counts of all groups of a capture to its files."""
    for summary in groups:
        if summary.group is not None:
            for file, counts in summary.group.counts.items():
                files[file].add(counts)


def total(summaries: Sequence[Summary]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """(rows, findings, bytes) of all."""
    rows, codes, accounting = Counter[str](), Counter[str](), Counter[str]()
    for summary in summaries:
        rows.update(summary.rows)
        codes.update(summary.codes)
        accounting.update(summary.accounting)
    return rows, codes, accounting
