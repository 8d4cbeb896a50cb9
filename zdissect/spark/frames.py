"""Frames as rows: to Arrow in the workers that read captures, back to frames in those that decode them."""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from zdissect.export.merging import Order
from zdissect.records import Frame
from zdissect.spark import control_notes
from zdissect.spark.control_notes import Row
from zdissect.spark.plan import Task
from zdissect.spark.ranges import frames
from zdissect.spark.split_captures import SplitCapture

BATCH_FRAMES = 2000
BATCH_BYTES = 4 << 20
"""The size of a batch: most frames or bytes."""

PUBLIC = (
    ("file", pa.string(), "string"),
    ("number", pa.int64(), "bigint"),
    ("ts_ns", pa.int64(), "bigint"),
    ("link", pa.int32(), "int"),
    ("wire_len", pa.int64(), "bigint"),
    ("data", pa.binary(), "binary"),
    ("capture", pa.string(), "string"),
    ("part", pa.int32(), "int"),
    ("order_ns", pa.int64(), "bigint"),
)
"""Columns of a frame: name, types of Arrow and of Spark. By `ORDER` they are in the order of their capture."""

INTERNAL = (
    ("ts_high", pa.int64(), "bigint"),
    ("group", pa.int32(), "int"),
    ("note", pa.string(), "string"),
)
"""Columns between the stages of a job: bits of a time beyond 64, the group of the capture.
A row with a note (`control_notes`) isn't a frame; its link is -1, so that it comes before its frame.
"""

ORDER = ("part", "order_ns", "file", "number", "link")


def ddl(columns: Iterable[tuple[str, Any, str]]) -> str:
    """The columns as a schema of Spark."""
    return ", ".join(f"{name} {kind}" for name, _, kind in columns)


def schema(internal: bool) -> pa.Schema:
    """The columns as a schema of Arrow."""
    return pa.schema([(name, kind) for name, kind, _ in (PUBLIC + INTERNAL if internal else PUBLIC)])


_INT64 = 1 << 63


def _low(value: int) -> int:
    """The low 64 bits of a number, signed."""
    return (value + _INT64) % (1 << 64) - _INT64


def _times(values: list[int]) -> tuple[pa.Array, pa.Array]:
    """(low, high) bits of times: only damaged captures have any beyond 64 bits."""
    try:
        return pa.array(values, pa.int64()), pa.nulls(len(values), pa.int64())
    except OverflowError:
        low = [_low(value) for value in values]
        high = [(value - bits) >> 64 for value, bits in zip(values, low, strict=True)]
        return pa.array(low, pa.int64()), pa.array(high, pa.int64())


def read(task: Task, internal: bool, shared: SplitCapture | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of a task, with those for the decoders of groups if its capture is split.

    Raises CaptureError if the file has changed since it was surveyed.
    """
    kinds = schema(internal)
    if shared is not None and task.first:
        for group in shared.groups:
            yield _begun(task, group, kinds)
    if task.range is None:
        return
    lookup = shared.lookup() if shared is not None else None
    gathered = _Gathered(task, kinds)
    merging = Order(*task.range.order)
    for frame in frames(task.name, task.path, task.range):
        order = 0
        if task.placement.merged:
            order = min(max(merging.feed(frame), -_INT64), _INT64 - 1)
        group = 0
        if shared is not None and lookup is not None:
            for other, moment in shared.told(frame):
                gathered.add(Frame(task.name, frame.number, 0, -1, 0, b""), order, other, control_notes.moment(moment))
            group = lookup.group(frame)
        if gathered.add(frame, order, group):
            yield gathered.batch()
    if gathered.rows:
        yield gathered.batch()


class _Gathered:
    """Frames gathered for a batch."""

    def __init__(self, task: Task, kinds: pa.Schema) -> None:
        self.task = task
        self.kinds = kinds
        self.rows: list[Frame] = []
        self.orders: list[int] = []
        self.groups: list[int] = []
        self.notes: list[str | None] = []
        self.size = 0

    def add(self, frame: Frame, order: int, group: int, note: str | None = None) -> bool:
        """Takes a frame, or a note before it; returns whether it is time for a batch."""
        self.rows.append(frame)
        self.orders.append(order)
        self.groups.append(group)
        self.notes.append(note)
        self.size += len(frame.data)
        return len(self.rows) >= BATCH_FRAMES or self.size >= BATCH_BYTES

    def batch(self) -> pa.RecordBatch:
        """The batch."""
        count = len(self.rows)
        _, numbers, times, links, lengths, data = zip(*self.rows, strict=True)
        low, high = _times(list(times))
        placement = self.task.placement
        columns = {
            "file": pa.repeat(self.task.name, count), "number": pa.array(numbers, pa.int64()), "ts_ns": low,
            "link": pa.array(links, pa.int32()), "wire_len": pa.array(lengths, pa.int64()),
            "data": pa.array(data, pa.binary()), "capture": pa.repeat(placement.capture, count),
            "part": pa.repeat(pa.scalar(placement.part, pa.int32()), count),
            "order_ns": pa.array(self.orders, pa.int64()), "ts_high": high,
            "group": pa.array(self.groups, pa.int32()),
            "note": pa.array(self.notes, pa.string()),
        }  # fmt: skip
        self.rows, self.orders, self.groups, self.notes, self.size = [], [], [], [], 0
        return pa.RecordBatch.from_arrays([columns[name] for name in self.kinds.names], schema=self.kinds)


def _begun(task: Task, group: int, kinds: pa.Schema) -> pa.RecordBatch:
    """The row that begins a group, before all frames."""
    row = {
        "file": task.name, "number": 0, "ts_ns": 0, "link": -1, "wire_len": 0, "data": b"",
        "capture": task.placement.capture, "part": -1, "order_ns": 0, "group": group,
        "note": control_notes.group(group),
    }  # fmt: skip
    return pa.RecordBatch.from_pylist([row], schema=kinds)


def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """The rows of batches with all columns."""
    new = tuple.__new__
    for batch in batches:
        columns = {name: batch.column(name).to_pylist() for name in ("file", "number", "link", "wire_len", "data")}
        times = batch.column("ts_ns").to_pylist()
        high = batch.column("ts_high")
        if high.null_count != len(high):
            times = [low + ((more or 0) << 64) for low, more in zip(times, high.to_pylist(), strict=True)]
        noted = batch.column("note").to_pylist()
        for note, *frame in zip(
            noted, columns["file"], columns["number"], times, columns["link"], columns["wire_len"],
            columns["data"], strict=True,
        ):  # fmt: skip
            yield new(Frame, frame), note


__all__ = ["INTERNAL", "ORDER", "PUBLIC", "ddl", "read", "rows", "schema"]
