"""`zdissect batch --spark`: the conversion of `zdissect batch`, with Spark's workers in place of processes.

Workers read captures, decode them and write their parts of the tables; Spark plans, repeats what fails, and carries no
rows. An output appears when it is complete, as without Spark.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from zdissect.export.directory import Conversion, Job, Report, Watch
from zdissect.export.filesystems import exists, is_remote, local
from zdissect.export.gathered_parts import GatheredParts
from zdissect.export.inputs import Work, plan
from zdissect.export.listed_inputs import list_inputs
from zdissect.export.parquet import WriteError
from zdissect.export.remote_target import RemoteTarget, reached
from zdissect.export.target import Target
from zdissect.growing.capture_step import CaptureStep, StepDone
from zdissect.growing.follower import Steps
from zdissect.spark import background, failures
from zdissect.spark.task_pool import SparkPool

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkFailure(WriteError):
    """Spark failed. The text says why, in one line."""


def captures_of(job: Job) -> list[Work]:
    """The captures to convert. Raises WriteError if OUT may not be written to, or DIR can't be listed."""
    _target(job).check()
    if not is_remote(job.directory) and not os.path.exists(local(job.directory)):
        raise WriteError(f"{job.directory}: there is no such directory")
    return plan(reached(job.directory, lambda uri: list_inputs(uri, job.include)), job.join)


def there(job: Job) -> bool:
    """Whether OUT exists; an empty directory doesn't count. Raises WriteError if it can't be reached."""
    return reached(job.out, exists)


def _target(job: Job) -> GatheredParts:
    """The output."""
    if is_remote(job.out):
        return RemoteTarget(job.out, job.mode, success=True)
    return Target(local(job.out), job.mode, success=True)


def pool_of(spark: "SparkSession", job: Job, tasks: int, ours: bool) -> SparkPool:
    """What does tasks of a job."""
    return SparkPool(spark, job.settings, tasks, ours)


def steps_of(pool: SparkPool) -> Steps:
    """What takes the steps of a directory that is followed, in Spark's workers. Raises WriteError, or SparkFailure."""

    def take(steps: list[tuple[CaptureStep, str]]) -> Iterator[tuple[StepDone, str]]:
        try:
            yield from background.run(pool.spark, lambda: [*pool.steps(steps)], lambda stages: None)
        except Exception as problem:
            if not failures.of_spark(problem):
                raise
            raise SparkFailure(f"Spark gave up, what was committed is kept: {failures.reason(problem)}") from problem

    return take


class _Begun:
    """Is told what there is to do. How far it is, Spark knows."""

    def __init__(self, watch: Watch) -> None:
        self.begin = watch.begin

    def update(self, files: int, size: int, messages: int) -> None:
        """Tells nobody."""


def convert_directory(
    spark: "SparkSession", job: Job, works: list[Work], partitions: int, watch: Watch, ours: bool = False
) -> Report:
    """Converts what `captures_of` found. Raises WriteError, or its subclass SparkFailure.

    Args:
        spark: The session.
        partitions: How many tasks there are at once.
        ours: Whether the session does nothing else.
    """
    pool = SparkPool(spark, job.settings, partitions, ours)
    try:
        return Conversion(job, _target(job), _Begun(watch), pool).convert(works)
    except Exception as problem:
        if not failures.of_spark(problem):
            raise
        why = failures.reason(problem)
        raise SparkFailure(f"Spark gave up, no tables were written: {why}") from problem
