"""Converts captures in several processes. If one dies, at most the capture that killed it is lost."""

import gc
import multiprocessing
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, Protocol

from zdissect.export.conversion_settings import Settings
from zdissect.export.inputs import Work
from zdissect.export.no_pandas import without_pandas
from zdissect.export.parquet import unwritable
from zdissect.export.work import Done, Tell, convert, convert_group, look
from zdissect.parallel.processes import kill, uninterruptible
from zdissect.parallel.split import Split

_INTERVAL_S = 0.25
_SLOTS = 3
"""Numbers that a process reports about a task: whether it has begun, bytes read, messages found."""


class CapturesTask(NamedTuple):
    """Captures that are converted together, into one file per table."""

    works: tuple[Work, ...]
    directory: str
    """The directory for its files, which it makes."""

    @property
    def size(self) -> int:
        """Bytes that are decoded."""
        return sum(work.size for work in self.works)


class ScanTask(NamedTuple):
    """A first look at a capture: how it can be split. Nothing is decoded."""

    works: tuple[Work, ...]
    most: int
    """Most groups."""
    size: int = 0


class GroupTask(NamedTuple):
    """A group of a capture that is split."""

    works: tuple[Work, ...]
    directory: str
    split: str
    """All its groups, as JSON."""
    number: int
    size: int


Task = CapturesTask | ScanTask | GroupTask


Progress = Callable[[int, int], None]
"""Receives the bytes and messages of running tasks."""


Outcome = tuple[Task, Done | None, bool]
"""A task, its result (None if its process died), and whether it had begun."""


class Pool(Protocol):
    """What does tasks, many at a time."""

    tasks: int
    """How many."""
    isolated: bool
    """Whether a task whose process dies leaves all others as they are."""

    def run(self, tasks: list[Task], progress: Progress) -> Iterator[Outcome]:
        """Does tasks, and returns how they ended. Raises WriteError."""


class ProcessPool:
    """Processes on this machine. If one dies, the others end too, whatever they were doing."""

    isolated = False

    def __init__(self, tasks: int, settings: Settings) -> None:
        self.tasks = tasks
        self.settings = settings

    def run(self, tasks: list[Task], progress: Progress) -> Iterator[Outcome]:
        return run(tasks, self.tasks, self.settings, progress)


def run(tasks: list[Task], jobs: int, settings: Settings, progress: Progress) -> Iterator[Outcome]:
    """(task, its result, whether it had begun) for each task, as they end; the result is None if its process died.

    Raises WriteError. However it ends, no process is left running.
    """
    # not fork: pyarrow has threads, and a forked process would share their locks
    context = multiprocessing.get_context("spawn")
    try:
        counters: Any = context.RawArray("q", _SLOTS * len(tasks))  # without a lock, which a dying process could keep
    except OSError as error:  # the array is in a file
        raise unwritable(tempfile.gettempdir(), error) from error
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(min(jobs, len(tasks)), context, _start, (counters,))
    try:
        waiting: dict[Future[Done], int] = {}
        resource_tracker.ensure_running()
        with uninterruptible():
            for number, task in enumerate(tasks):
                waiting[pool.submit(_run, number, task, settings)] = number
        while waiting:
            ended, _ = wait(waiting, _INTERVAL_S, FIRST_COMPLETED)
            for future in ended:
                number = waiting.pop(future)
                try:
                    yield tasks[number], future.result(), True
                except BrokenProcessPool:
                    yield tasks[number], None, bool(counters[number * _SLOTS])
            under_way = [number * _SLOTS for number in waiting.values()]
            progress(sum(counters[slot + 1] for slot in under_way), sum(counters[slot + 2] for slot in under_way))
    except BaseException:
        kill(set(multiprocessing.active_children()) - before)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_counters: Any = None


def _start(counters: Any) -> None:
    """Prepares a process: it ends with its parent, which handles Ctrl-C; garbage is collected explicitly."""
    global _counters
    _counters = counters
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    without_pandas()
    gc.freeze()
    gc.disable()


def _follow(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _run(number: int, task: Task, settings: Settings) -> Done:
    """Does a task, reporting its progress."""
    slot = number * _SLOTS
    _counters[slot] = 1

    def tell(size: int, messages: int) -> None:
        _counters[slot + 1] += size
        _counters[slot + 2] += messages

    done = do(task, settings, tell)
    gc.collect()
    return done


def do(task: Task, settings: Settings, tell: Tell = lambda size, messages: None) -> Done:
    """Does a task, in whatever process. Raises WriteError."""
    if isinstance(task, ScanTask):
        return look(task.works[0], settings, task.most)
    if isinstance(task, GroupTask):
        return convert_group(task.works[0], Split.load(task.split), task.number, task.directory, settings, tell)
    return convert(list(task.works), task.directory, settings, tell)
