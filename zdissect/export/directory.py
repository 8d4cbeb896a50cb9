"""A directory of captures to tables: all of `zdissect batch` except the terminal."""

import gc
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from zdissect.export.conversion_settings import Settings
from zdissect.export.families import AUTO
from zdissect.export.file_stats import OK, FileStats
from zdissect.export.gathered_parts import ERROR, GatheredParts
from zdissect.export.inputs import Work, find, plan
from zdissect.export.large_captures import LargeCaptures
from zdissect.export.parquet import WriteError
from zdissect.export.target import Target
from zdissect.export.work import Done, convert, join, lost
from zdissect.export.workers import CapturesTask, Pool, ProcessPool, ScanTask, Task
from zdissect.parallel.split import SPLIT_BYTES, worth

_DIED = "the process that converted it died, perhaps out of memory; the other captures were converted"
_BUNDLE = 32 << 20
"""Most bytes of small captures that are converted together."""
_SMALL = 8 << 20
"""Bytes of all captures up to which they are converted before other processes would have started."""
_SHARE = 4
"""Fewest tasks per process, so that none is idle for long at the end."""


class Watch(Protocol):
    """Receives the progress of the work."""

    def begin(self, files: int, size: int) -> None:
        """Receives how much there is to do."""

    def update(self, files: int, size: int, messages: int) -> None:
        """Receives how much has been done."""


@dataclass(slots=True)
class Report:
    """The results of a run."""

    done: Done = field(default_factory=Done)
    captures: int = 0
    size: int = 0
    """Bytes of the files."""

    @property
    def bad(self) -> list[FileStats]:
        """The files that could not be read, or not to their end."""
        return sorted(
            (file_stats for file_stats in self.done.files if file_stats.status != OK),
            key=lambda file_stats: file_stats.file,
        )


@dataclass(frozen=True, slots=True)
class Job:
    """What to convert, and how."""

    directory: str
    out: str
    settings: Settings = field(default_factory=Settings)
    mode: str = ERROR
    include: tuple[str, ...] = ()
    join: str = AUTO
    jobs: int = 0
    """Number of processes; 1 for this process alone, 0 for as many as there are processors, if they are worth it."""
    split_bytes: int = SPLIT_BYTES
    """Captures of fewer bytes are never split between processes; 0 splits all."""


def convert_directory(job: Job, watch: Watch) -> Report | None:
    """Converts the captures of a directory; None if there are none. Raises WriteError."""
    target = Target(job.out, job.mode)
    target.check()  # before searching for captures, which may take long
    works = plan(find(job.directory, job.include), job.join)
    if not works or not works[0].inputs:
        return None
    jobs = job.jobs or os.cpu_count() or 1
    alone = job.jobs == 1 or (not job.jobs and sum(work.size for work in works) <= _SMALL)
    return Conversion(job, target, watch, ProcessPool(jobs, job.settings), alone).convert(works)


class Conversion:
    """One run: hands out the captures and gathers the results.

    Args:
        job: What to convert, and how.
        target: The output.
        watch: Is told of the progress.
        pool: Does the tasks.
        alone: Whether this process does all of them instead.
    """

    def __init__(self, job: Job, target: GatheredParts, watch: Watch, pool: Pool, alone: bool = False) -> None:
        self.job = job
        target.ros2 = job.settings.ros2
        self.target = target
        self.watch = watch
        self.pool = pool
        self.alone = alone
        self.report = Report()
        self.apart = LargeCaptures()
        self.size = 0
        """Bytes of the captures that are done."""

    def convert(self, works: list[Work]) -> Report:
        """Converts captures, and moves the tables to their place. Raises WriteError."""
        self.report = Report(captures=len(works), size=sum(work.size for work in works))
        self.watch.begin(sum(len(work.inputs) for work in works), self.report.size)
        with self.target:
            try:
                if self.alone:
                    self.here(bundle(works, self.pool.tasks))
                else:
                    self.run(works)
                self.target.commit()
            except WriteError as problem:
                raise self.target.shown(problem) from problem
        return self.report

    def run(self, works: list[Work]) -> None:
        """Converts all captures."""
        jobs = self.pool.tasks
        split = worth([work.size for work in works], jobs, self.job.split_bytes)
        looks: list[Task] = [ScanTask((works[index],), jobs) for index in split]
        others = bundle((work for index, work in enumerate(works) if index not in split), jobs)
        suspects = self.all(looks + [self.whole(together) for together in others])
        suspects += self.all([*self.apart.tasks(self.target.attempt)])
        suspects += self.all(self.joined(suspects))
        self.suspected(suspects)

    def suspected(self, works: list[Work]) -> None:
        """Converts captures each of which, or another one under way with it, killed its process: one by one."""
        for together in [works] if self.pool.isolated else [[work] for work in works]:
            again, died = self.begun([self.whole([work]) for work in together])
            for task in again + died:
                directory = self.target.attempt()
                self.accept(CapturesTask(task.works, directory), lost(list(task.works), directory, _DIED))

    def all(self, tasks: list[Task]) -> list[Work]:
        """Does tasks, however many processes die; returns the captures of those that were running then."""
        suspects: list[Work] = []
        while tasks:
            tasks, died = self.begun(tasks)
            for task in died:
                self.discard(task)
                suspects += (work for work in task.works if work not in suspects)
        return suspects

    def discard(self, task: Task) -> None:
        """Removes what a task has written."""
        if not isinstance(task, ScanTask):
            self.target.discard(task.directory)

    def joined(self, suspects: list[Work]) -> list[Task]:
        """Adds the results of the groups of captures; returns the tasks of captures that must be decoded as a whole."""
        again: list[Task] = []
        for work, held, good in self.apart.ended(suspects):
            if not good:
                for task, _ in held:
                    self.target.discard(task.directory)
                    self.size -= task.size
                again += [self.whole([work])] if work not in suspects else []
                continue
            files = next(done.files for task, done in held if not task.number)
            directory = self.target.attempt()
            joined = join(files, [done.group for _, done in held if done.group is not None], directory)
            for task, done in held:
                self.target.accept(task.directory, done.parts)
            self.target.accept(directory, joined.parts)
            self.report.done.add(joined)
        return again

    def here(self, bundles: list[list[Work]]) -> None:
        """Converts in this process."""
        enabled = gc.isenabled()
        gc.disable()
        try:
            for works in bundles:
                task = self.whole(works)
                self.accept(task, convert(works, task.directory, self.job.settings, _Progress(self)))
                gc.collect()
        finally:
            if enabled:
                gc.enable()

    def whole(self, works: list[Work]) -> CapturesTask:
        """The task of some captures."""
        return CapturesTask(tuple(works), self.target.attempt())

    def begun(self, tasks: list[Task]) -> tuple[list[Task], list[Task]]:
        """(tasks that weren't begun because a process died, those that were under way then)."""
        unbegun: list[Task] = []
        died: list[Task] = []
        for task, done, begun in self.pool.run(tasks, self.progress) if tasks else ():
            if done is not None:
                self.accept(task, done)
            else:
                (died if begun else unbegun).append(task)
        return (unbegun, died) if died else ([], unbegun)

    def accept(self, task: Task, done: Done) -> None:
        """Adds the results of a task."""
        if isinstance(task, CapturesTask):
            self.target.accept(task.directory, done.parts)
            self.report.done.add(done)
        else:
            self.apart.take(task, done)
        self.size += task.size
        self.progress(0, 0)

    def progress(self, size: int, messages: int) -> None:
        """Reports the progress, including tasks under way."""
        done = self.report.done
        self.watch.update(len(done.files), self.size + size, done.rows["messages"] + self.apart.messages + messages)


class _Progress:
    """Sums up the progress of a task in this process."""

    def __init__(self, conversion: Conversion) -> None:
        self.conversion = conversion
        self.size = self.messages = 0

    def __call__(self, size: int, messages: int) -> None:
        self.size += size
        self.messages += messages
        self.conversion.progress(self.size, self.messages)


def bundle(works: Iterable[Work], jobs: int) -> list[list[Work]]:
    """The captures as tasks, largest first; small ones are put together."""
    ordered = sorted(works, key=lambda work: -work.size)
    most = min(_BUNDLE, sum(work.size for work in ordered) // (jobs * _SHARE))
    out: list[list[Work]] = []
    size = 0
    for work in ordered:
        if out and size + work.size <= most:
            out[-1].append(work)
            size += work.size
        else:
            out.append([work])
            size = work.size
    return out
