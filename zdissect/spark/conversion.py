"""`zdissect batch --spark`: a directory of captures to tables, written by Spark.

A local output is written beside its place and moved there when it is complete, as without Spark. Behind a URI, where
nothing can be moved, each table is written by Spark's save mode and has a `_SUCCESS` when it is complete.
"""

import os
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from zdissect.export.batch import Job, Report, Watch
from zdissect.export.facts import FileFacts
from zdissect.export.files import Source
from zdissect.export.groups import Told, unsound
from zdissect.export.parquet import WriteError
from zdissect.export.tables import TABLES
from zdissect.export.target import ERROR, Target
from zdissect.export.work import Done
from zdissect.spark import failures, plan
from zdissect.spark.job import Reading, about_files, decoded, messages, others, splits, surveys, table, told
from zdissect.spark.options import BATCH_ROWS
from zdissect.spark.plan import Planned
from zdissect.spark.store import exists, is_remote, local, sources
from zdissect.spark.tables import MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

OVERWRITE = "overwrite"
T = TypeVar("T")

_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",  # frames may be large
}


class SparkFailure(WriteError):
    """Spark gave up. Its text says why, in one line."""


def captures_of(job: Job) -> list[Source]:
    """The files to convert. Raises WriteError if OUT may not be written to, or DIR can't be listed."""
    if not is_remote(job.out):
        Target(local(job.out), job.mode).check()
    elif job.mode == ERROR and there(job):
        raise WriteError(f"{job.out} exists: choose another place, or --mode append, overwrite or ignore")
    if not is_remote(job.directory) and not os.path.exists(local(job.directory)):
        raise WriteError(f"{job.directory}: there is no such directory")
    return _reached(job.directory, lambda: sources(job.directory, job.include))


def there(job: Job) -> bool:
    """Whether OUT exists; an empty directory doesn't count. Raises WriteError if it can't be reached."""
    return _reached(job.out, lambda: exists(job.out))


def _reached(uri: str, look: "Callable[[], T]") -> "T":
    """What a look into a store gives. Raises WriteError."""
    try:
        return look()
    except (OSError, ValueError, NotImplementedError) as problem:
        why = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise WriteError(f"{uri}: it can't be reached ({why})") from problem


def convert_directory(spark: "SparkSession", job: Job, found: list[Source], partitions: int, watch: Watch) -> Report:
    """Converts what `captures_of` found. Raises WriteError, of which SparkFailure is one."""
    try:
        return _convert(spark, job, found, partitions, watch)
    except Exception as problem:
        if not failures.of_spark(problem):
            raise
        why = failures.reason(problem)
        raise SparkFailure(f"Spark gave up, no tables were written: {why}") from problem


def _convert(spark: "SparkSession", job: Job, found: list[Source], partitions: int, watch: Watch) -> Report:
    """The conversion itself."""
    watch.begin(len(found), sum(one.size for one in found))
    reading = Reading(found, replace(job.settings, batch_rows=BATCH_ROWS), job.join, partitions)
    with _configured(spark):
        surveyed = surveys(spark, reading)
        captures = plan.captures(surveyed, job.join)
        report = Report(captures=len(captures), size=sum(one.size for one in surveyed))
        if is_remote(job.out):
            report.done = _write(spark, reading, captures, job.out.rstrip("/"), job.mode)
        else:
            with Target(local(job.out), job.mode) as target:
                # not quoted as a URI: Hadoop would take %20 as it stands
                report.done = _write(spark, reading, captures, f"file://{target.temporary.absolute()}", OVERWRITE)
                target.commit()
    return report


@contextmanager
def _configured(spark: "SparkSession") -> "Iterator[None]":
    """What the job needs of the session's settings, which may be somebody else's."""
    before = {name: spark.conf.get(name, None) for name in _SETTINGS}
    try:
        for name, value in _SETTINGS.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


def _write(spark: "SparkSession", reading: Reading, captures: list[list[Planned]], out: str, mode: str) -> Done:
    """Writes all tables; what there is to tell. Captures are decoded once: what leaves the workers is kept on disk."""
    with _kept(spark, reading, captures) as (mixed, packed, told):
        about, told_of_files = about_files(spark, captures, told)
        messages(mixed).write.mode(mode).parquet(f"{out}/{MESSAGES}")
        for name in TABLES:
            if name != MESSAGES:
                table(packed if about is None else packed.union(about), name).write.mode(mode).parquet(f"{out}/{name}")
        return _done([*told, told_of_files])


@contextmanager
def _kept(
    spark: "SparkSession", reading: Reading, captures: list[list[Planned]]
) -> "Iterator[tuple[DataFrame, DataFrame, list[Told]]]":
    """All rows, the packed ones of them, and what there is to tell, decoded and kept.

    Captures that can't be split after all are decoded once more.
    """
    from pyspark import StorageLevel

    split = splits(spark, reading, captures)
    while True:
        mixed = decoded(spark, reading, captures, split).persist(StorageLevel.DISK_ONLY)
        packed = others(mixed).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            found = told(packed)
            wrong = unsound(found)
            if not wrong:
                yield mixed, packed, found
                return
            split = {name: one for name, one in split.items() if name not in wrong}
        finally:
            packed.unpersist()
            mixed.unpersist()


def _done(told: list[Told]) -> Done:
    """What was done, by what the workers tell of their captures."""
    done = Done()
    for found in told:
        done.files += [FileFacts(file, status=status, error=error, frames=frames)
                       for file, status, error, frames in found["files"]]  # fmt: skip
        done.rows += Counter(found["rows"])
        done.codes += Counter(found["codes"])
        done.accounting.update(found["accounting"])
    return done
