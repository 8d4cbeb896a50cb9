"""What Spark's workers do for `zdissect batch --spark`: attempts at tasks, of which Spark counts one each.

An attempt converts captures as a process of `zdissect batch` does, into a directory that no other attempt has, and
returns one control row. So it doesn't matter how often Spark repeats a task, or does it twice at once: the driver takes
the files that the control rows name, and no others.
"""

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar, cast
from uuid import uuid4

import pyarrow as pa

from zdissect import __version__
from zdissect.export.conversion_settings import Settings
from zdissect.export.filesystems import is_remote, suffixed
from zdissect.export.no_pandas import without_pandas
from zdissect.export.parquet import WriteError
from zdissect.export.work import Done
from zdissect.export.workers import ScanTask, Task, do
from zdissect.growing.capture_step import CaptureStep, StepDone, take_step

CONTROL = "task int, attempt string, result string, problem string"
"""The schema of control rows: the number of the task; what the name of its directory ends with; its `Done` as JSON; why
its files can't be written. Neither of the last two if it was given up, because workers died of it."""
_CONTROL = pa.schema([("task", pa.int32()), *((name, pa.string()) for name in ("attempt", "result", "problem"))])

Batches = Iterable[pa.RecordBatch]


class StepTask(NamedTuple):
    """A step of a capture that grows."""

    number: int
    step: CaptureStep
    directory: str
    """The directory for its files, which it makes."""


SparkTask = Task | StepTask
T = TypeVar("T", bound=SparkTask)


class Terms(NamedTuple):
    """What workers must know about all tasks."""

    settings: Settings
    most: int
    """Attempts after which a task is given up before Spark gives up the job; 0: Spark makes only one."""
    ours: bool
    """Whether the session, and so its workers, does nothing else."""
    version: str = __version__
    """The version of zdissect on the driver."""


def of_tasks(tasks: Sequence[SparkTask], terms: Terms) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The function for mapInArrow over the numbers of tasks, each in a partition of its own."""

    def attempt_all(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                task = tasks[number]
                yield attempt(number, task, terms, lambda task: _done(task, terms.settings))

    return attempt_all


def _done(task: SparkTask, settings: Settings) -> Done | StepDone:
    """Does a task. Raises WriteError."""
    return take_step(task.step, task.directory, settings) if isinstance(task, StepTask) else do(task, settings)


def attempt(number: int, task: T, terms: Terms, work: Callable[[T], Done | StepDone]) -> pa.RecordBatch:
    """One attempt at a task, and its control row.

    Args:
        number: The number of the task.
        terms: What is known of all tasks.
        work: Does the task that it is given: the same one, with the directory of this attempt.
    """
    count = _attempts()
    suffix = f".{count}-{uuid4().hex}"
    result = problem = None
    if terms.version != __version__:
        problem = f"workers have zdissect {__version__}, but this is {terms.version}: install the same on all machines"
    elif not 0 < terms.most <= count:
        try:
            with _undisturbed(terms.ours):
                result = work(in_attempt(task, suffix)).json()
        except WriteError as error:
            problem = _unseen(task) or str(error)
    return pa.RecordBatch.from_pylist(
        [{"task": number, "attempt": suffix, "result": result, "problem": problem}], schema=_CONTROL
    )


def in_attempt(task: T, suffix: str) -> T:
    """A task with the directory of an attempt."""
    if isinstance(task, ScanTask):
        return task
    return cast(T, task._replace(directory=suffixed(task.directory, suffix)))


def _unseen(task: SparkTask) -> str:
    """What is wrong if this machine doesn't see the place that the driver has made; else nothing."""
    if isinstance(task, ScanTask) or is_remote(task.directory) or os.path.isdir(os.path.dirname(task.directory)):
        return ""
    return (
        f"{task.directory}: workers on other machines don't see it: OUT must be in a place that all machines share, "
        "or a URI"
    )


def _attempts() -> int:
    """How often Spark has begun this task before."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.attemptNumber() if context is not None else 0


@contextmanager
def _undisturbed(ours: bool) -> Iterator[None]:
    """Collects garbage explicitly, as the processes of `zdissect batch` do; a worker of others is left as it was."""
    if ours:
        without_pandas()
    enabled = gc.isenabled()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.collect()
        if not ours:
            gc.unfreeze()
        if enabled and not ours:
            gc.enable()
