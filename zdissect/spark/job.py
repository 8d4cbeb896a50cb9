"""The job of `zdissect batch --spark`: captures to tables by Spark's own writer.

1. Files are surveyed, many at a time: where their frames are, what is wrong with them, when they begin and end.
2. The driver tells by names and times which files are one capture.
3. Frames are read in ranges, brought together by capture and sorted into its order.
4. They are decoded by the same function that `zdissect batch` runs in processes, capture by capture.

One capture is decoded by one task. Nothing finer gives the same rows: flows are numbered over the whole capture, who
asks by multicast is answered on other ports, and samples are compared with the one before on their key, whoever sent
them.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from zdissect.export.decoding import Settings
from zdissect.export.files import AUTO, Source
from zdissect.spark import plan, register
from zdissect.spark.frames import ORDER
from zdissect.spark.plan import Planned
from zdissect.spark.ranges import RANGE_BYTES, Survey, survey
from zdissect.spark.source import PLAN
from zdissect.spark.store import everywhere, is_remote
from zdissect.spark.tables import MIXED, ddl, decoder, unpack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_FEW = 256 << 20
"""Bytes that the driver reads itself sooner than Spark has started a task for each file."""


class Reading(NamedTuple):
    """What is to be read, and how."""

    sources: list[Source]
    settings: Settings
    join: str = AUTO
    partitions: int = 2
    """Tasks that decode."""
    range_bytes: int = RANGE_BYTES


def surveys(spark: "SparkSession", job: Reading) -> list[Survey]:
    """Looks at all files, many at a time."""
    range_bytes = job.range_bytes
    ordered = sorted(job.sources, key=lambda one: -one.size)
    if sum(one.size for one in ordered) < _FEW and not any(is_remote(one.path) for one in ordered):
        return [survey(one, range_bytes) for one in ordered]
    asked = [(one._replace(path=everywhere(one.path)), one.path) for one in ordered]

    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            chosen = [asked[number] for number in batch.column(0).to_pylist()]
            found = [survey(source, range_bytes, shown).json() for source, shown in chosen]
            yield pa.RecordBatch.from_pydict({"survey": found})

    listed = spark.range(0, len(asked), 1, min(len(asked), 4 * job.partitions))
    return [Survey.load(row[0]) for row in listed.mapInArrow(look, "survey string").collect()]


def decoded(spark: "SparkSession", job: Reading, captures: list[list[Planned]]) -> "DataFrame":
    """The rows of all tables, as they leave the workers."""
    register(spark)
    reader = spark.read.format("zenoh-frames").option(PLAN, plan.dump(plan.spread(captures, job.partitions)))
    frames = reader.option("partitions", str(4 * job.partitions)).load("")
    ordered = frames.repartitionById(job.partitions, "bucket").sortWithinPartitions(*ORDER)
    return ordered.mapInArrow(decoder(job.settings), MIXED)


def messages(mixed: "DataFrame") -> "DataFrame":
    """The table `messages`, out of the rows of all."""
    return mixed.where("other_table is null").drop("other_table", "other_rows")


def others(mixed: "DataFrame") -> "DataFrame":
    """The other tables, still packed: a small part of the rows of all."""
    return mixed.where("other_table is not null").select("other_table", "other_rows")


def table(packed: "DataFrame", name: str) -> "DataFrame":
    """One of the other tables."""
    return packed.where(f"other_table = '{name}'").select("other_rows").mapInArrow(unpack, ddl(name))
