"""Frames as rows: to Arrow in the workers that read captures, back to frames in those that decode them."""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from zdissect.records import Frame
from zdissect.spark.plan import Task
from zdissect.spark.ranges import NEVER, frames

BATCH_FRAMES = 2000
BATCH_BYTES = 4 << 20
"""A batch is given when it has so many frames or bytes."""

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
    ("bucket", pa.int32(), "int"),
    ("survey", pa.string(), "string"),
    ("place", pa.string(), "string"),
)
"""Columns between the stages of a job: bits of a time beyond 64, the partition that decodes; a row of number 0 is no
frame but brings what is known of its file."""

ORDER = ("capture", "part", "order_ns", "file", "number")


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
        high = [(value - one) >> 64 for value, one in zip(values, low, strict=True)]
        return pa.array(low, pa.int64()), pa.array(high, pa.int64())


def read(task: Task, internal: bool) -> Iterator[pa.RecordBatch]:
    """The rows of a task. Raises CaptureError if the file has changed since it was surveyed."""
    kinds = schema(internal)
    if internal and task.survey:
        yield _marker(task, kinds)
    if task.range is None:
        return
    rows: list[Frame] = []
    latest, orders, size = task.range.latest_ns, [], 0
    merged = task.place.merged
    for frame in frames(task.name, task.path, task.range):
        rows.append(frame)
        size += len(frame.data)
        if merged:
            latest = max(latest, frame.ts_ns)
            orders.append(min(max(latest, -_INT64), _INT64 - 1))
        if len(rows) >= BATCH_FRAMES or size >= BATCH_BYTES:
            yield _batch(task, rows, orders, kinds)
            rows, orders, size = [], [], 0
    if rows:
        yield _batch(task, rows, orders, kinds)


def _batch(task: Task, rows: list[Frame], orders: list[int], kinds: pa.Schema) -> pa.RecordBatch:
    count = len(rows)
    _, numbers, times, links, lengths, data = zip(*rows, strict=True)
    low, high = _times(list(times))
    place = task.place
    order = pa.array(orders, pa.int64()) if place.merged else pa.repeat(pa.scalar(0, pa.int64()), count)
    columns = {
        "file": pa.repeat(task.name, count), "number": pa.array(numbers, pa.int64()), "ts_ns": low,
        "link": pa.array(links, pa.int32()), "wire_len": pa.array(lengths, pa.int64()),
        "data": pa.array(data, pa.binary()), "capture": pa.repeat(place.capture, count),
        "part": pa.repeat(pa.scalar(place.part, pa.int32()), count), "order_ns": order, "ts_high": high,
        "bucket": pa.repeat(pa.scalar(place.bucket, pa.int32()), count),
    }  # fmt: skip
    blank = pa.nulls(count, pa.string())
    return pa.RecordBatch.from_arrays([columns.get(name, blank) for name in kinds.names], schema=kinds)


def _marker(task: Task, kinds: pa.Schema) -> pa.RecordBatch:
    """The row that brings what is known of a file."""
    import json

    place = task.place
    row = {
        "file": task.name, "number": 0, "ts_ns": 0, "link": -1, "wire_len": 0, "data": b"", "capture": place.capture,
        "part": -1, "order_ns": place.position, "bucket": place.bucket, "survey": task.survey,
        "place": json.dumps(place),
    }  # fmt: skip
    return pa.RecordBatch.from_pylist([row], schema=kinds)


Row = tuple[str, Frame, str | None, str | None]
"""(capture, frame, survey, place): the last two of the row that brings what is known of a file."""


def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """The rows of batches with all columns."""
    new = tuple.__new__
    for batch in batches:
        columns = {name: batch.column(name).to_pylist() for name in ("file", "number", "link", "wire_len", "data")}
        times = batch.column("ts_ns").to_pylist()
        high = batch.column("ts_high")
        if high.null_count != len(high):
            times = [low + ((more or 0) << 64) for low, more in zip(times, high.to_pylist(), strict=True)]
        captures = batch.column("capture").to_pylist()
        surveys = batch.column("survey").to_pylist()
        places = batch.column("place").to_pylist()
        for capture, survey, place, *frame in zip(
            captures, surveys, places, columns["file"], columns["number"], times, columns["link"],
            columns["wire_len"], columns["data"], strict=True,
        ):  # fmt: skip
            yield capture, new(Frame, frame), survey, place


__all__ = ["INTERNAL", "NEVER", "ORDER", "PUBLIC", "ddl", "read", "rows", "schema"]
