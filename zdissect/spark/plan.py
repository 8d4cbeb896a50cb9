"""Plans what is read, and in which order: from surveys of all files to captures, and to the partitions of Spark.

Which files are one capture is decided in `export/families.py`.
Frames are put in the order of their capture by (part, order_ns, file, number): files that follow each other are parts,
those that overlap and are to be merged are one part, in which `order_ns` is the latest time of the file so far.
"""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zdissect.export import families
from zdissect.export.families import AUTO, TimeRange
from zdissect.export.file_stats import FileStats
from zdissect.export.inputs import Work
from zdissect.spark.ranges import Range, Survey


class Placement(NamedTuple):
    """The place of a file among all."""

    capture: str
    """Name of the first file of its capture."""
    position: int
    """Position of the file in its capture."""
    part: int
    merged: bool
    """Whether it overlaps with other files of its part."""


class Planned(NamedTuple):
    """A file, with its place."""

    survey: Survey
    placement: Placement

    @property
    def file_stats(self) -> FileStats:
        """What is known of the file before its frames are decoded."""
        survey = self.survey
        capture, position, *_ = self.placement
        file_stats = FileStats(survey.name, capture, position, survey.format, tuple(survey.link_types), survey.size)
        if survey.error is not None:
            file_stats.problem(survey.status, survey.error)
        file_stats.first_ns, file_stats.last_ns = survey.first_ns, survey.last_ns
        return file_stats


class Task(NamedTuple):
    """What one partition of the source reads: a range of a file; None of it if it has no frames."""

    name: str
    path: str
    placement: Placement
    range: Range | None
    first: bool = False
    """Whether it is the first of its capture."""


def captures(surveys: Iterable[Survey], mode: str = AUTO) -> list[list[Planned]]:
    """The files as captures, each in order."""
    known = {survey.name: survey for survey in surveys}

    def time_range(name: str) -> TimeRange | None:
        survey = known[name]
        if survey.first_ns is None or survey.end_ns is None:
            return None
        return TimeRange(survey.first_ns, survey.end_ns)

    return [_placed(known, capture) for capture in families.plan(known, time_range, mode)]


def _placed(known: dict[str, Survey], groups: Sequence[Sequence[str]]) -> list[Planned]:
    first = groups[0][0]
    flat = [(name, part, len(group) > 1) for part, group in enumerate(groups) for name in group]
    return [
        Planned(known[name], Placement(first, index, part, merged)) for index, (name, part, merged) in enumerate(flat)
    ]


def placed(work: Work, surveys: Iterable[Survey]) -> list[Planned]:
    """The files of a capture whose files are known to be one, in order."""
    return _placed({survey.name: survey for survey in surveys}, [[file.name for file in one] for one in work.merges])


def tasks(captures: Iterable[Iterable[Planned]]) -> list[Task]:
    """The partitions of the source: ranges of large files, several small files together are Spark's business."""
    out = []
    for capture in captures:
        for survey, placement in capture:
            first, *others = survey.ranges or (None,)
            out.append(Task(survey.name, survey.path, placement, first, not placement.position))
            out += [Task(survey.name, survey.path, placement, further) for further in others]
    return out


def bundles(tasks: list[Task], size: int) -> list[list[Task]]:
    """Tasks that are read by one partition of the source, in at most so many partitions where files are small."""
    frames = sum(task.range.frames for task in tasks if task.range is not None)
    most = min(_SMALL, frames // max(size, 1))
    out: list[list[Task]] = []
    load = 0
    for task in tasks:
        count = task.range.frames if task.range is not None else 0
        if not out or load + count > most:
            out.append([])
            load = 0
        out[-1].append(task)
        load += count
    return out


_SMALL = 50_000
"""Frames of small files that are read together: starting a partition takes as long as reading some thousands."""


def dump(captures: Iterable[Iterable[Planned]]) -> str:
    """A plan as text, for an option of the source."""
    return json.dumps([[(planned.survey.json(), planned.placement) for planned in capture] for capture in captures])


def load(text: str) -> list[list[Planned]]:
    """A plan from its text."""
    return [
        [Planned(Survey.load(survey), Placement(*values)) for survey, values in capture] for capture in json.loads(text)
    ]
