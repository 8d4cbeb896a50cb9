"""Captures in several processes. One that dies loses at most the capture that killed it."""

import gc
import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from zdissect.export.decoding import Settings
from zdissect.export.inputs import Work
from zdissect.export.parquet import unwritable
from zdissect.export.split import Split
from zdissect.export.work import Done, convert, convert_group, look

_INTERVAL_S = 0.25
_SLOTS = 3
"""Numbers that a process reports about a task: whether it has begun, bytes read, messages found."""


class CapturesTask(NamedTuple):
    """Captures that are converted together, into one file per table."""

    works: tuple[Work, ...]
    directory: str

    @property
    def size(self) -> int:
        """Bytes that are decoded."""
        return sum(work.size for work in self.works)


class ScanTask(NamedTuple):
    """A first look at a capture: how it can be split. Nothing is decoded."""

    works: tuple[Work, ...]
    directory: str
    most: int
    """So many groups at most."""
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


def run(
    tasks: list[Task], jobs: int, settings: Settings, progress: Progress
) -> Iterator[tuple[Task, Done | None, bool]]:
    """(task, what it did, whether it had begun) for each task, as they end. None was done if its process died.

    Raises WriteError. However it ends, no process is left.
    """
    # not fork: pyarrow has threads, and a forked process would share their locks
    context = multiprocessing.get_context("spawn")
    try:
        told: Any = context.RawArray("q", _SLOTS * len(tasks))  # without a lock, which a dying process could keep
    except OSError as error:  # it stands in a file
        raise unwritable(tempfile.gettempdir(), error) from error
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(min(jobs, len(tasks)), context, _start, (told,))
    try:
        waiting: dict[Future[Done], int] = {}
        with _uninterruptible():
            for number, task in enumerate(tasks):
                waiting[pool.submit(_run, number, task, settings)] = number
        while waiting:
            ended, _ = wait(waiting, _INTERVAL_S, FIRST_COMPLETED)
            for future in ended:
                number = waiting.pop(future)
                try:
                    yield tasks[number], future.result(), True
                except BrokenProcessPool:
                    yield tasks[number], None, bool(told[number * _SLOTS])
            under_way = [number * _SLOTS for number in waiting.values()]
            progress(sum(told[slot + 1] for slot in under_way), sum(told[slot + 2] for slot in under_way))
    except BaseException:
        _kill(set(multiprocessing.active_children()) - before)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _uninterruptible() -> Iterator[None]:
    """Processes that are started here are never reached by Ctrl-C, not even before they have run a line of code.

    They inherit that the signal is blocked. In this process it is deferred as well, as another thread may receive it;
    otherwise a process that is half started would stay behind.
    """
    resource_tracker.ensure_running()  # it would unblock the signal when it starts
    interrupts: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number)) if main else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if main:
            signal.signal(signal.SIGINT, handler)
    if interrupts:
        raise KeyboardInterrupt


def _kill(processes: set[BaseProcess]) -> None:
    for process in processes:
        process.kill()
    for process in processes:
        process.join()


_told: Any = None


def _start(told: Any) -> None:
    """Prepares a process: it ends with its parent, for which Ctrl-C is; garbage is collected when told to."""
    global _told
    _told = told
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    gc.freeze()
    gc.disable()


def _follow(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _run(number: int, task: Task, settings: Settings) -> Done:
    """Does a task, telling how far it is."""
    slot = number * _SLOTS
    _told[slot] = 1

    def tell(size: int, messages: int) -> None:
        _told[slot + 1] += size
        _told[slot + 2] += messages

    if isinstance(task, ScanTask):
        done = look(task.works[0], settings, task.most)
    elif isinstance(task, GroupTask):
        done = convert_group(task.works[0], Split.load(task.split), task.number, task.directory, settings, tell)
    else:
        done = convert(list(task.works), task.directory, settings, tell)
    gc.collect()
    return done
