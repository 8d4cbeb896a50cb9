"""A job of Spark in a thread next to the main one, which shows how far it is and can be interrupted at any time.

A call to Java can't be interrupted: the connection would be lost, and what is to be tidied up goes over connections.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

_INTERVAL_S = 0.25
PATIENCE_S = 30
"""How long an interrupted job may take to end, and a session to stop."""


class Stages(NamedTuple):
    """The stages of Spark that are under way, taken together."""

    number: int
    """The number of the latest; -1 if there is none, or none is known (Spark Connect)."""
    tasks: int
    done: int
    running: int


NO_STAGE = Stages(-1, 0, 0, 0)


def run(spark: "SparkSession", job: Callable[[], T], tell: Callable[[Stages], None]) -> T:
    """What a job returns or raises. Interrupting this interrupts everything that the session is doing."""
    future = start(job)
    try:
        while wait([future], _INTERVAL_S).not_done:
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
    """Interrupts what runs until the job has ended: it may be about to begin something else."""
    while wait([job], _INTERVAL_S).not_done:
        with suppress(Exception):  # Java may have gone
            spark.interruptAll()


def stages(spark: "SparkSession") -> Stages:
    """What Spark is doing now."""
    from pyspark.sql.utils import is_remote

    if is_remote():
        return NO_STAGE
    try:
        tracker = spark.sparkContext.statusTracker()
        infos = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    except Exception:  # Java has gone: the job tells why
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
