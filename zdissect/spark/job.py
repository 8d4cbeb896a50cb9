"""The job of `zdissect batch --spark`: captures to tables by Spark's own writer.

1. Files are surveyed, many at a time: where their frames are, what is wrong with them, when they begin and end.
2. The driver decides by names and times which files are one capture.
3. A capture that is more than the share of a task is read once, in order, to find its sessions, which become groups.
   Connections are numbered over the whole capture, sessions span them, and time passes for all: what a group must know
   of the others is found out then.
4. Frames are read in ranges, brought together by capture and group and sorted into the capture's order.
5. They are decoded by the same function that `zdissect batch` runs in processes, group by group.

When all groups are decoded, it is checked that they don't depend on each other. If they do, the capture is decoded
again, in one task.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from zdissect.export.conversion_settings import Settings
from zdissect.export.decoding import Decoding
from zdissect.export.families import AUTO
from zdissect.export.inputs import InputFile
from zdissect.export.summary import Summary
from zdissect.parallel.split import SPLIT_BYTES, Split, worth
from zdissect.spark import group_tables, plan, register, split_captures
from zdissect.spark.datasource import PLAN, SHARES
from zdissect.spark.filesystems import everywhere, is_remote
from zdissect.spark.frames import ORDER
from zdissect.spark.plan import Planned
from zdissect.spark.ranges import RANGE_BYTES, Survey, survey
from zdissect.spark.worker import MESSAGES, MIXED, ROWS, SUMMARY, TABLE, ddl, decoder, mixed, unpack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_FEW = 256 << 20
"""Bytes that the driver reads itself faster than Spark starts a task for each file."""


class ReadJob(NamedTuple):
    """What to read, and how."""

    sources: list[InputFile]
    settings: Settings
    join: str = AUTO
    partitions: int = 2
    """Tasks that decode."""
    range_bytes: int = RANGE_BYTES
    split_bytes: int = SPLIT_BYTES
    """Fewest bytes of a capture that is split, if it is more than the share of a task; 0 splits all."""


def surveys(spark: "SparkSession", job: ReadJob) -> list[Survey]:
    """Looks at all files, many at a time."""
    range_bytes = job.range_bytes
    ordered = sorted(job.sources, key=lambda file: -file.size)
    if sum(file.size for file in ordered) < _FEW and not any(is_remote(file.path) for file in ordered):
        return [survey(file, range_bytes) for file in ordered]
    asked = [(file._replace(path=everywhere(file.path)), file.path) for file in ordered]

    def look(number: int) -> str:
        source, shown = asked[number]
        return survey(source, range_bytes, shown).json()

    return [Survey.load(text) for _, text in _each(spark, look, len(asked), 4 * job.partitions)]


def splits(spark: "SparkSession", job: ReadJob, captures: list[list[Planned]]) -> dict[str, Split]:
    """Looks at the captures that are worth splitting; the groups of those that can be split, by name."""
    settings, most = job.settings, 2 * job.partitions
    asked = [captures[index] for index in worth(list(map(plan.size, captures)), job.partitions, job.split_bytes)]
    here = sum(map(plan.size, asked)) < _FEW and not any(
        is_remote(planned.survey.path) for all_ in asked for planned in all_
    )

    def look(number: int) -> str:
        return split_captures.look(asked[number], settings, most)

    if here:
        texts = [(number, look(number)) for number in range(len(asked))]
    else:
        texts = _each(spark, look, len(asked), len(asked))
    return {plan.name(asked[number]): Split.load(text) for number, text in texts if text}


def _each(spark: "SparkSession", look: Callable[[int], str], count: int, tasks: int) -> list[tuple[int, str]]:
    """(number, result of `look`) for the numbers from 0 to `count`, many at a time."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield pa.RecordBatch.from_pydict({"number": [number], "found": [look(number)]})

    listed = spark.range(0, count, 1, min(count, tasks))
    return [(row[0], row[1]) for row in listed.mapInArrow(run, "number bigint, found string").collect()]


def decoded(
    spark: "SparkSession", job: ReadJob, captures: list[list[Planned]], split: Mapping[str, Split]
) -> "DataFrame":
    """The rows of all tables, as they leave the workers."""
    register(spark)
    placed, shared = split_captures.spread(captures, split, job.partitions)
    reader = (
        spark.read.format("zenoh-frames").option(PLAN, plan.dump(placed)).option(SHARES, split_captures.dump(shared))
    )
    frames = reader.option("partitions", str(4 * job.partitions)).load("")
    ordered = frames.repartitionById(job.partitions, "bucket").sortWithinPartitions(*ORDER)
    return ordered.mapInArrow(decoder(job.settings), MIXED)


def summaries(packed: "DataFrame") -> list[Summary]:
    """The summaries of captures and groups, from the workers."""
    rows = packed.where(f"{TABLE} = '{SUMMARY}'").select(ROWS).collect()
    return [Summary.load(bytes(row[0]).decode()) for row in rows]


def about_files(
    spark: "SparkSession", captures: list[list[Planned]], results: list[Summary]
) -> "tuple[DataFrame | None, Summary]":
    """The rows about the files of split captures, packed (None if there are none), and their summary."""
    by_name: dict[str, list[Summary]] = {}
    for summary in results:
        if summary.group is not None:
            by_name.setdefault(summary.group.capture, []).append(summary)
    file_stats = {
        name: stats
        for capture in captures
        if plan.name(capture) in by_name
        for name, stats in group_tables.files(capture, by_name[plan.name(capture)]).items()
    }
    decoding = Decoding(files=file_stats)
    batches = [mixed(batch) for batch in decoding.close()]
    rows = [(row[TABLE], row[ROWS]) for batch in batches for row in batch.to_pylist()]
    summary = decoding.summary()._replace(accounting={})
    return (spark.createDataFrame(rows, f"{TABLE} string, {ROWS} binary") if rows else None), summary


def messages(mixed: "DataFrame") -> "DataFrame":
    """The table `messages`, out of the rows of all."""
    return mixed.where(f"{TABLE} = '{MESSAGES}'").drop(TABLE)


def others(mixed: "DataFrame") -> "DataFrame":
    """The other tables, still packed: a small part of the rows of all."""
    return mixed.where(f"{TABLE} <> '{MESSAGES}'").select(TABLE, ROWS)


def table(packed: "DataFrame", name: str) -> "DataFrame":
    """One of the other tables."""
    return packed.where(f"{TABLE} = '{name}'").select(ROWS).mapInArrow(unpack, ddl(name))
