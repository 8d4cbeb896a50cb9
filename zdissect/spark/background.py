"""A Spark job in a thread of its own, while the main thread shows its progress and can be interrupted at any time.

A call to Java can't be interrupted: that would lose the connection, which is needed to clean up.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

_LOOK_S = 1
"""Seconds between two looks at the stages, each of which is a dozen calls to Java."""
_INTERVAL_S = 0.25
"""Seconds between two interrupts of a job that hasn't ended."""
PATIENCE_S = 30
"""Most seconds for an interrupted job to end, and for a session to stop."""


class Stages(NamedTuple):
    """The Spark stages that are running, taken together."""

    number: int
    """The number of the latest stage; -1 if there is none, or if that isn't known (Spark Connect)."""
    tasks: int
    done: int
    running: int


NO_STAGE = Stages(-1, 0, 0, 0)


def run(spark: "SparkSession", job: Callable[[], T], tell: Callable[[Stages], None]) -> T:
    """Runs a job; returns or raises what it does. An interrupt stops everything that the session is doing."""
    future = start(job)
    try:
        while wait([future], _LOOK_S).not_done:
            tell(stages(spark))
    except BaseException:
        start(lambda: _interrupt(spark, future))
        wait([future], PATIENCE_S)
        raise
    return future.result()


def start(job: Callable[[], T]) -> "Future[T]":
    """Starts a job in a thread that doesn't keep the program from ending."""
    future: Future[T] = Future()

    def fill() -> None:
        try:
            future.set_result(job())
        except BaseException as problem:
            future.set_exception(problem)

    threading.Thread(target=fill, daemon=True).start()
    return future


def _interrupt(spark: "SparkSession", job: "Future[T]") -> None:
    """Keeps interrupting until the job has ended, because it may be about to start something else."""
    while wait([job], _INTERVAL_S).not_done:
        with suppress(Exception):  # Java may have died
            spark.interruptAll()


def stages(spark: "SparkSession") -> Stages:
    """What Spark is doing now."""
    from pyspark.sql.utils import is_remote

    if is_remote():
        return NO_STAGE
    try:
        tracker = spark.sparkContext.statusTracker()
        infos = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    except Exception:  # Java has died: the job tells why
        return NO_STAGE
    known = [stage for stage in infos if stage is not None]
    if not known:
        return NO_STAGE
    return Stages(
        max(stage.stageId for stage in known),
        sum(stage.numTasks for stage in known),
        sum(stage.numCompletedTasks for stage in known),
        sum(stage.numActiveTasks for stage in known),
    )
