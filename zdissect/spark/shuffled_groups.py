"""The groups of a large capture, whose frames are brought to them: if there are many, each would read all of it.

1. The files are surveyed: where their frames are, and what is wrong with them.
2. Frames are read in ranges by many workers, brought together by group, and sorted into the capture's order. The sort
   spills to disk, so a group may be larger than memory.
3. Each group is decoded, and written, by the task that gets it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from zdissect.export.inputs import InputFile
from zdissect.export.work import Done, convert_items
from zdissect.export.workers import GroupTask, Task
from zdissect.parallel.split import Split
from zdissect.spark import attempts, control_notes, frames, plan, register
from zdissect.spark.attempts import CONTROL, Batches, Terms
from zdissect.spark.datasource import PLAN, SHARES
from zdissect.spark.plan import Planned
from zdissect.spark.ranges import RANGE_BYTES, Survey, survey

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
"""Frames may be large: Spark's usual batches of them would take much memory."""


def rows(spark: "SparkSession", groups: list[GroupTask], terms: Terms, tasks: int) -> "list[Row]":
    """The control rows of all groups of a capture.

    Args:
        groups: All groups of it, by number.
        tasks: How many tasks run at once.
    """
    register(spark)
    capture = plan.placed(groups[0].works[0], _surveys(spark, groups[0].works[0].inputs))
    reader = spark.read.format("zenoh-frames").option(PLAN, plan.dump([capture])).option(SHARES, groups[0].split)
    read = reader.option("partitions", str(4 * tasks)).load("")
    ordered = read.repartitionById(len(groups), "group").sortWithinPartitions(*frames.ORDER)
    with _small_batches(spark):
        return ordered.mapInArrow(_decoder(groups, capture, terms), CONTROL).collect()


@contextmanager
def _small_batches(spark: "SparkSession") -> Iterator[None]:
    """Makes batches of frames small for a while: the session may be somebody else's."""
    before = spark.conf.get(_BATCH_ROWS, None)
    spark.conf.set(_BATCH_ROWS, str(frames.BATCH_FRAMES))
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(_BATCH_ROWS)
        else:
            spark.conf.set(_BATCH_ROWS, before)


def _surveys(spark: "SparkSession", files: tuple[InputFile, ...]) -> list[Survey]:
    """Looks at files, many at a time."""

    range_bytes = RANGE_BYTES

    def look(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield pa.RecordBatch.from_pydict(
                    {"number": [number], "found": [survey(files[number], range_bytes).json()]}
                )

    numbers = spark.range(0, len(files), 1, len(files))
    found = numbers.mapInArrow(look, "number bigint, found string").collect()
    return [Survey.load(row.found) for row in sorted(found, key=lambda row: row.number)]


def _decoder(
    groups: list[GroupTask], capture: list[Planned], terms: Terms
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The function for mapInArrow: the frames of a group, in order, to files and a control row."""
    name = groups[0].works[0].inputs[0].name

    def decode(batches: Batches) -> Iterator[pa.RecordBatch]:
        given = frames.rows(batches)
        number = control_notes.group_of(next(given))

        def work(task: Task) -> Done:
            assert isinstance(task, GroupTask)
            share = Split.load(task.split).share(name, number)
            done = convert_items(control_notes.items(given), share, task.directory, terms.settings)
            # the rows about files are made from those of the first group, and from the counts of all
            return replace(done, files=[] if number else [planned.file_stats for planned in capture])

        yield attempts.attempt(number, groups[number], terms, work)
        for _ in given:
            pass  # Spark expects that all are taken, after an exception too

    return decode
