"""The job of `zdissect batch --spark`: captures to tables by Spark's own writer.

1. Files are surveyed, many at a time: where their frames are, what is wrong with them, when they begin and end.
2. The driver tells by names and times which files are one capture.
3. Frames are read in ranges, brought together by capture and sorted into its order.
4. They are decoded by the same function that `zdissect batch` runs in processes, capture by capture.

One capture is decoded by one task. Nothing finer gives the same rows: flows are numbered over the whole capture, who
asks by multicast is answered on other ports, and samples are compared with the one before on their key, whoever sent
them.
"""

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from zdissect.export.decoding import Settings
from zdissect.export.files import AUTO, Source
from zdissect.export.tables import TABLES
from zdissect.spark import plan, register
from zdissect.spark.frames import ORDER
from zdissect.spark.ranges import RANGE_BYTES, Survey, survey
from zdissect.spark.source import PLAN
from zdissect.spark.store import everywhere
from zdissect.spark.tables import MESSAGES, MIXED, ddl, decoder, unpack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Job(NamedTuple):
    """What is to be converted, and how."""

    sources: list[Source]
    settings: Settings
    join: str = AUTO
    partitions: int = 2
    """Tasks that decode."""
    range_bytes: int = RANGE_BYTES


def surveys(spark: "SparkSession", job: Job) -> list[Survey]:
    """Looks at all files, many at a time."""
    range_bytes = job.range_bytes

    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            asked = [json.loads(text) for text in batch.column(0).to_pylist()]
            found = [survey(Source(*source), range_bytes, shown).json() for source, shown in asked]
            yield pa.RecordBatch.from_pydict({"survey": found})

    ordered = sorted(job.sources, key=lambda one: -one.size)
    rows = [(json.dumps((one._replace(path=everywhere(one.path)), one.path)),) for one in ordered]
    tasks = min(len(rows), 4 * job.partitions)
    listed = spark.createDataFrame(rows, "source string").repartition(tasks)
    return [Survey.load(row[0]) for row in listed.mapInArrow(look, "survey string").collect()]


def decoded(spark: "SparkSession", job: Job, captures: list[list[plan.Planned]]) -> "DataFrame":
    """The rows of all tables, as they leave the workers."""
    register(spark)
    reader = spark.read.format("zenoh-frames").option(PLAN, plan.dump(plan.spread(captures, job.partitions)))
    frames = reader.option("partitions", str(4 * job.partitions)).load("")
    ordered = frames.repartitionById(job.partitions, "bucket").sortWithinPartitions(*ORDER)
    return ordered.mapInArrow(decoder(job.settings), MIXED)


def tables(mixed: "DataFrame") -> dict[str, "DataFrame"]:
    """Each table by its name, out of the rows of all."""
    out = {}
    for name in TABLES:
        if name == MESSAGES:
            out[name] = mixed.where("other_table is null").drop("other_table", "other_rows")
        else:
            packed = mixed.where(f"other_table = '{name}'").select("other_rows")
            out[name] = packed.mapInArrow(unpack, ddl(name))
    return out
