"""`zdissect stats` by several processes: each counts what is in some sessions of a large file, and here it is put
together, to the same report as one process would make. Where that turns out not to be possible, one has to.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NamedTuple

from zdissect.dissection import InTurn, Item
from zdissect.parallel.blocks import BlockWriter, send
from zdissect.parallel.group_frames import SessionGroup, UnsoundSplit
from zdissect.parallel.merger import Merger
from zdissect.pipeline import Options
from zdissect.records import Frame
from zdissect.session.occurrences import Occurrences
from zdissect.stats import Stats
from zdissect.stats.came import Inseparable
from zdissect.stats.of_groups import GroupCounts, GroupStats, StatsOfGroups

from .captures import Captures
from .file_progress import file_progress
from .group_processes import number_of_jobs, session_groups, started
from .one_group import Told, refusals
from .stats_feed import StatsFeed

if TYPE_CHECKING:
    from zdissect.filters import Filter

_COUNTS = 5
"""First number of the rank of what a group has counted, after all that the end of the capture brings."""


class WantedReport(NamedTuple):
    """What a report is to be of."""

    captures: Captures
    options: Options
    every_ns: int | None
    wanted: "Filter | None"


def report_of_groups(asked: WantedReport, jobs: int | None) -> dict[str, Any] | None:
    """The report, and `asked.captures` is read; None if it takes one process, and nothing was read.

    Args:
        jobs: See `number_of_jobs`.
    """
    captures, count = asked.captures, number_of_jobs(jobs)
    if count < 2:
        return None
    looked = Captures(captures.files, captures.limit)
    whole = StatsOfGroups(asked.every_ns, asked.wanted is not None)
    groups = session_groups(_taken(looked, whole), captures.files[0], asked.options, count)
    if len(groups) < 2:
        return None
    try:
        with started(groups, partial(_count, asked, whole)) as connections:
            _gather(Merger(connections), whole, captures.files)
    except (UnsoundSplit, Inseparable):
        return None
    captures.frames, captures.problems = looked.frames, looked.problems
    return whole.report(whole.whole)


def _taken(frames: Iterable[Frame], whole: Stats) -> Iterator[Frame]:
    """Frames, each of which is taken."""
    for frame in frames:
        whole.frame(frame)
        yield frame


def _gather(merger: Merger, whole: StatsOfGroups, files: tuple[str, ...]) -> None:
    """Takes what the processes tell."""
    progress = file_progress(files)
    try:
        for _, told in merger.passages(lambda *reached: progress.reached(*reached) if progress else None):
            for one in told:
                if isinstance(one, GroupCounts):
                    whole.add(one)
                else:
                    whole.passed_on(*one)
    finally:
        if progress:
            progress.clear()


def _count(asked: WantedReport, whole: StatsOfGroups, group: SessionGroup, sending: "Connection[Any, Any]") -> None:
    """What the process of a group does."""
    captures, stats = Captures(asked.captures.files, group.split.last.place), GroupStats(whole)
    pipeline, feed = group.pipeline(asked.options), StatsFeed(stats, asked.wanted)
    writer = BlockWriter(partial(send, sending), pipeline.sessions.pairs)
    place = 0
    for place, ranked in group.dissected_as(feed.frames(captures), pipeline, feed.usual):
        for rank, items in ranked:
            stats.came((place, rank))
            feed.feed(items)
            if told := _told(stats, items):
                writer.add(place, rank, b"", 0, told)
        if writer.full(place):
            writer.flush(place, place + 1, captures.position)
    if not pipeline.sound():
        raise UnsoundSplit("a limit of memory was reached, which holds for all groups together")
    writer.add(place, (_COUNTS, group.number), b"", 0, (stats.counts(pipeline),))
    writer.flush(place, place + 1, captures.position, result=True)


def _told(stats: GroupStats, items: Iterable[Item | InTurn[None]]) -> tuple[Told, ...]:
    """What is to be passed on of items that were counted."""
    refused = Occurrences()
    for item in items:
        if not isinstance(item, InTurn):
            for _ in range(refusals(item)):
                refused.add(item.frame)
    if not refused.count and not stats.found:
        return ()
    found, stats.found = stats.found, []
    return (Told(found, refused),)
