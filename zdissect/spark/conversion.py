"""`zdissect batch --spark`: a directory of captures to tables, written by Spark.

A local output is written next to its final path and moved there when complete, as without Spark. At a URI, where
nothing can be moved, each table is written by Spark's save mode and has a `_SUCCESS` when complete.
"""

import os
import re
import shutil
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from zdissect.export.directory import Job, Report, Watch
from zdissect.export.file_stats import FileStats
from zdissect.export.inputs import InputFile
from zdissect.export.parquet import WriteError
from zdissect.export.summary import Summary, total, unsound
from zdissect.export.tables import TABLES
from zdissect.export.target import ERROR, Target
from zdissect.export.work import Done
from zdissect.spark import failures, plan
from zdissect.spark.filesystems import exists, is_remote, list_inputs, local
from zdissect.spark.job import ReadJob, about_files, decoded, messages, others, splits, summaries, surveys, table
from zdissect.spark.plan import Planned
from zdissect.spark.source_options import BATCH_ROWS
from zdissect.spark.worker import MESSAGES, MIXED, TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

OVERWRITE = "overwrite"
T = TypeVar("T")

_PATTERN = re.compile(r"[*?\[\]{}\\:,%]")
"""Characters that Hadoop takes for patterns in a path to read from; writing to such a path works."""

_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",  # frames may be large
    "spark.sql.maxConcurrentOutputFileWriters": "8",  # more than there are tables, so that nothing is sorted by table
    "spark.sql.inMemoryColumnarStorage.compressed": "false",  # compressing these columns takes longer than writing them
    "spark.sql.inMemoryColumnarStorage.batchSize": "1000",
}


class SparkFailure(WriteError):
    """Spark failed. The text says why, in one line."""


def captures_of(job: Job) -> list[InputFile]:
    """The files to convert. Raises WriteError if OUT may not be written to, or DIR can't be listed."""
    if not is_remote(job.out):
        Target(local(job.out), job.mode).check()
    elif job.mode == ERROR and there(job):
        raise WriteError(f"{job.out} exists: choose another place, or --mode append, overwrite or ignore")
    if not is_remote(job.directory) and not os.path.exists(local(job.directory)):
        raise WriteError(f"{job.directory}: there is no such directory")
    return _reached(job.directory, lambda: list_inputs(job.directory, job.include))


def there(job: Job) -> bool:
    """Whether OUT exists; an empty directory doesn't count. Raises WriteError if it can't be reached."""
    return _reached(job.out, lambda: exists(job.out))


def _reached(uri: str, look: "Callable[[], T]") -> "T":
    """The result of a look into a store. Raises WriteError if it can't be reached."""
    try:
        return look()
    except (OSError, ValueError, NotImplementedError) as problem:
        why = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise WriteError(f"{uri}: it can't be reached ({why})") from problem


def convert_directory(spark: "SparkSession", job: Job, files: list[InputFile], partitions: int, watch: Watch) -> Report:
    """Converts what `captures_of` found. Raises WriteError, or its subclass SparkFailure."""
    try:
        return _convert(spark, job, files, partitions, watch)
    except Exception as problem:
        if not failures.of_spark(problem):
            raise
        why = failures.reason(problem)
        raise SparkFailure(f"Spark gave up, no tables were written: {why}") from problem


def _convert(spark: "SparkSession", job: Job, files: list[InputFile], partitions: int, watch: Watch) -> Report:
    """The conversion itself."""
    watch.begin(len(files), sum(file.size for file in files))
    reading = ReadJob(files, replace(job.settings, batch_rows=BATCH_ROWS), job.join, partitions)
    with _configured(spark):
        surveyed = surveys(spark, reading)
        captures = plan.captures(surveyed, job.join)
        report = Report(captures=len(captures), size=sum(file.size for file in surveyed))
        if is_remote(job.out):
            report.done = _write(spark, reading, captures, job.out.rstrip("/"), job.mode)
        else:
            with Target(local(job.out), job.mode) as target:
                folder = target.temporary.absolute()
                # not quoted as a URI: Hadoop would take %20 as it stands
                kept = None if _PATTERN.search(str(folder)) else folder
                report.done = _write(spark, reading, captures, f"file://{folder}", OVERWRITE, kept)
                arrived(folder, report.done)
                target.commit()
    return report


@contextmanager
def _configured(spark: "SparkSession") -> "Iterator[None]":
    """Sets what the job needs in the session's settings, and restores them: the session may be somebody else's."""
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


def _write(
    spark: "SparkSession",
    reading: ReadJob,
    captures: list[list[Planned]],
    out: str,
    mode: str,
    folder: Path | None = None,
) -> Done:
    """Writes all tables; returns the results. Captures are decoded once: what leaves the workers is kept on disk.

    Captures that turn out not to be splittable are decoded again.

    Args:
        folder: The local directory that `out` names, if Spark can read from it.
    """
    split = splits(spark, reading, captures)
    while True:
        with _kept(spark, decoded(spark, reading, captures, split), folder) as (mixed, packed):
            results = summaries(packed)
            wrong = unsound(results)
            if wrong:
                split = {name: groups for name, groups in split.items() if name not in wrong}
                continue
            about, of_files = about_files(spark, captures, results)
            if folder is None:
                messages(mixed).write.mode(mode).parquet(f"{out}/{MESSAGES}")
            else:
                _move(folder)
            for name in TABLES:
                if name != MESSAGES:
                    rows = packed if about is None else packed.union(about)
                    table(rows, name).write.mode(mode).parquet(f"{out}/{name}")
            return _done([*results, of_files])


def arrived(folder: Path, done: Done) -> None:
    """Raises WriteError if rows are missing in a local directory, because workers wrote on other machines."""
    from pyarrow.parquet import read_metadata

    for name in TABLES:
        rows = sum(read_metadata(part).num_rows for part in (folder / name).glob("*.parquet"))
        if rows != done.rows[name]:
            raise WriteError(
                f"only {rows} of {done.rows[name]} rows of {name} have arrived: workers on other machines must see "
                "OUT as this one does; choose a place that all share, or a URI"
            )


_MIXED = "_mixed"
"""Folder in which the rows of all tables are kept, in a folder for each table."""


@contextmanager
def _kept(spark: "SparkSession", mixed: "DataFrame", folder: Path | None) -> "Iterator[tuple[DataFrame, DataFrame]]":
    """All rows, and the packed ones among them, once they are decoded.

    In a local directory they are written as Parquet at once, so that those of `messages` need only be moved. In a store
    nothing can be moved: there Spark keeps them itself.
    """
    from pyspark import StorageLevel

    if folder is not None:
        try:
            mixed.write.mode(OVERWRITE).partitionBy(TABLE).parquet(f"file://{folder}/{_MIXED}")
            kept = spark.read.schema(MIXED).parquet(f"file://{folder}/{_MIXED}")
            yield kept, others(kept)
        finally:
            shutil.rmtree(folder / _MIXED, ignore_errors=True)
        return
    kept = mixed.persist(StorageLevel.DISK_ONLY)
    packed = others(kept).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield kept, packed
    finally:
        packed.unpersist()
        kept.unpersist()


def _move(folder: Path) -> None:
    """Moves the rows of `messages` from where they are kept to their table, in the same directory."""
    written = folder / _MIXED / f"{TABLE}={MESSAGES}"
    if written.is_dir():
        (folder / MESSAGES).rmdir()
        written.rename(folder / MESSAGES)
        (folder / MESSAGES / "_SUCCESS").touch()


def _done(results: list[Summary]) -> Done:
    """The results of the conversion, from the summaries of the captures."""
    return Done([FileStats.of(brief) for summary in results for brief in summary.files], *total(results))
