"""Processes, each of which dissects some sessions of a large file, and what all that use them have in common."""

import gc
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from zdissect.parallel.group_frames import SessionGroup
from zdissect.parallel.look_blocks import look_at
from zdissect.parallel.processes import kill, uninterruptible
from zdissect.pipeline import Options
from zdissect.records import Frame

Work = Callable[[SessionGroup, "Connection[Any, Any]"], None]
"""What the process of a group does; the connection is to the one that has started it."""

ENOUGH = 3
"""Processors from which on several processes are faster: a single one reads blocks, and has nothing to put in order."""


def usual_jobs(processors: int) -> int:
    """How many processes a run has where nobody said so."""
    return processors if processors >= ENOUGH else 1


def number_of_jobs(asked: int | None) -> int:
    """How many processes a run has: 1 where others can't be started."""
    if "fork" not in multiprocessing.get_all_start_methods() or threading.active_count() > 1:
        return 1
    return asked or usual_jobs(os.cpu_count() or 1)


def session_groups(frames: Iterable[Frame], capture: str, options: Options, jobs: int) -> list[SessionGroup]:
    """The groups of a capture; fewer than two if it can't be split.

    Args:
        capture: The name of its first file.
    """
    try:
        look = look_at(frames, options)
        split = look.split(jobs)
    except Exception:  # dissecting the whole will show what is wrong
        return []
    return [
        SessionGroup(split, number, capture, [look.places[stream] for stream in numbers])
        for number, numbers in enumerate(split.numbers)
    ]


@contextmanager
def started(groups: list[SessionGroup], work: Work) -> "Iterator[list[Connection[Any, Any]]]":
    """A process for each group, which sends blocks; in the end none is left."""
    context = multiprocessing.get_context("fork")  # all that was prepared is there, without being packed up
    connections: list[Connection[Any, Any]] = []
    processes: set[BaseProcess] = set()
    sys.stdout.flush()
    gc.freeze()
    try:
        with uninterruptible():
            for group in groups:
                receiving, sending = context.Pipe(duplex=False)
                connections.append(receiving)
                process = context.Process(target=_begin, args=(work, group, sending, connections), daemon=True)
                process.start()
                processes.add(process)
                sending.close()
        yield connections
    finally:
        kill(processes)
        gc.unfreeze()


def _begin(
    work: Work, group: SessionGroup, sending: "Connection[Any, Any]", others: "list[Connection[Any, Any]]"
) -> None:
    """What a process does first."""
    for connection in others:  # else nobody would notice that the one who reads is gone
        connection.close()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    work(group, sending)
