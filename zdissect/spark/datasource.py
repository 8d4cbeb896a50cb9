"""Python Data Sources of Spark: `zenoh`, the messages of captures, and `zenoh-frames`, their frames.

    spark.read.format("zenoh").option("ports", "9000").load("captures")

Options of both: `include` (patterns of file names, separated by commas), `join` (auto, one or separate: which files
are one capture) and `partitions` (how many tasks share a large capture; 8 if it isn't said). Of `zenoh`: `ports`
(`9000` or `tcp:9000,udp:7000`: always taken for Zenoh), `payload` (full, none, or a number of bytes), `filter` (a
display filter that rows must match), `fields` (true fills the column of that name), `ros2` (true adds the columns of
ROS 2; `contents` = false leaves out what is in messages) and `pushdown` (true only where the
session has spark.sql.python.filterPushdown.enabled; otherwise Spark refuses sources that take filters).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, Filter, InputPartition
from pyspark.sql.types import StructType

from zdissect.export import inputs
from zdissect.export.filesystems import is_remote, local, require
from zdissect.export.listed_inputs import list_inputs
from zdissect.export.tables import MESSAGES
from zdissect.spark import frames, plan, split_captures
from zdissect.spark.filters import Conditions
from zdissect.spark.plan import Planned, Task
from zdissect.spark.portions import messages, portions
from zdissect.spark.ranges import survey
from zdissect.spark.source_options import SourceOptions, partitions
from zdissect.spark.spark_schema import ddl
from zdissect.spark.stream_reader import MessagesStream

PLAN = "plan"
"""Option of `zenoh-frames`: the plan that a job has made."""
SHARES = "shares"
"""Option with it: the groups of its only capture."""


def planned(options: SourceOptions) -> list[list[Planned]]:
    """The captures that the options name. Raises FileNotFoundError if there are none."""
    files = list_inputs(options.path, options.include)
    if not files:
        raise FileNotFoundError(f"no captures in {options.path}")
    return plan.captures(map(survey, files), options.join)


def checked(options: Mapping[str, str]) -> None:
    """Raises ValueError for wrong options, FileNotFoundError for a path that doesn't exist: with `load`, as
    Spark's own sources do, rather than with the first row."""
    require(SourceOptions.of(options).path)


class ZenohFrames(DataSource):
    """The frames of captures, one row each, read in ranges by many workers."""

    @classmethod
    def name(cls) -> str:
        return "zenoh-frames"

    def schema(self) -> str:
        internal = PLAN in self.options
        if not internal:
            checked(self.options)
        return frames.ddl(frames.PUBLIC + frames.INTERNAL if internal else frames.PUBLIC)

    def reader(self, schema: StructType) -> DataSourceReader:
        return _FramesReader(dict(self.options))


class _Tasks(InputPartition):
    def __init__(self, value: list[Task]) -> None:
        super().__init__(value)


class _FramesReader(DataSourceReader):
    def __init__(self, options: dict[str, str]) -> None:
        self.options = options
        self.internal = PLAN in options

    def partitions(self) -> Sequence[InputPartition]:
        text = self.options.get(PLAN)
        captures = planned(SourceOptions.of(self.options)) if text is None else plan.load(text)
        spread = partitions(self.options.get("partitions", ""))
        return [_Tasks(tasks) for tasks in plan.bundles(plan.tasks(captures), spread)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        shared = split_captures.load(self.options.get(SHARES, ""))
        for task in cast(list[Task], partition.value):
            yield from frames.read(task, self.internal, shared)


class Zenoh(DataSource):
    """The table `messages` of captures. No shuffle is needed: a large capture is read by several workers, each of which
    decodes some of its sessions."""

    @classmethod
    def name(cls) -> str:
        return "zenoh"

    def schema(self) -> str:
        checked(self.options)
        return ddl(MESSAGES, SourceOptions.of(self.options).settings.ros2)

    def reader(self, schema: StructType) -> DataSourceReader:
        options = SourceOptions.of(self.options)
        return _FilteringReader(options) if options.pushdown else _MessagesReader(options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 (Spark's name)
        options = SourceOptions.of(self.options)
        state = self.options.get("state", "").strip()
        if not state or is_remote(state) or is_remote(options.path):
            raise ValueError("state: a stream needs a directory for it that all machines share; URIs can't be followed")
        return MessagesStream(options, local(state))


class _MessagesReader(DataSourceReader):
    def __init__(self, options: SourceOptions) -> None:
        self.options = options
        self.conditions = Conditions()

    def partitions(self) -> Sequence[InputPartition]:
        options, allow = self.options, self.conditions.allow
        files = list_inputs(options.path, options.include)
        if not files:
            raise FileNotFoundError(f"no captures in {options.path}")
        works = inputs.plan(files, options.join)
        works = [work for work in works if any(allow(source.name) for source in work.inputs)]
        found = portions(works, options.settings, options.partitions)
        return [InputPartition(portion) for portion in found] or [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition.value is not None:
            yield from map(self.conditions.keep, messages(partition.value, self.options.settings))


class _FilteringReader(_MessagesReader):
    """Reads less where filters allow it."""

    def pushFilters(self, filters: list[Filter]) -> Iterator[Filter]:  # noqa: N802 (Spark's name)
        """Takes the conditions for rows. All are returned to Spark, which tests the remaining rows again."""
        self.conditions = Conditions(filters)
        yield from filters
