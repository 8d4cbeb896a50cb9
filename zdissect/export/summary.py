"""The results of decoding a group of a capture, besides its tables. Passed from process to process."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from zdissect.export.file_stats import FileStats


class GroupResult(NamedTuple):
    """What tells whether the groups of a capture are independent, and the counts of its files."""

    capture: str
    """The first file of the capture."""
    sound: bool
    """Whether it ended without an exception, and its connections were those that were foreseen."""
    pairs: list[list[str]]
    """The ZenohIDs of its sessions: no other group may have the same pair."""
    counts: dict[str, Any]
    """The counts of each file, see `FileStats.counts`."""


class Summary(NamedTuple):
    """The numbers of a group of a capture."""

    rows: dict[str, int]
    """Rows of each table."""
    codes: dict[str, int]
    """Findings by code."""
    accounting: dict[str, int]
    group: GroupResult

    @classmethod
    def of(cls, values: list[Any]) -> "Summary":
        """From the JSON types of another."""
        rows, codes, accounting, group = values
        return cls(rows, codes, accounting, GroupResult(*group))


def unsound(groups: Sequence[Summary]) -> set[str]:
    """The captures that were split wrongly: a connection belongs to a different group than was foreseen."""
    out: set[str] = set()
    seen: set[tuple[str, ...]] = set()
    for summary in groups:
        pairs = {(summary.group.capture, *pair) for pair in summary.group.pairs}
        if not summary.group.sound or pairs & seen:
            out.add(summary.group.capture)
        seen |= pairs
    return out


def count(files: dict[str, FileStats], groups: Sequence[Summary]) -> None:
    """Adds the counts of all groups of a capture to its files."""
    for summary in groups:
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
