"""The columns of ROS 2, added to batches of the table of messages: keys once each, attachments on arrays.

The same values as `ros2.message_columns` gives row by row.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zdissect.export.arrow import array, is_time, nulls, shown
from zdissect.export.block_rows import column
from zdissect.export.schema import ros2_schema
from zdissect.ros2.attachment import CURRENT, GID, LENGTH_AT, parse_attachment
from zdissect.ros2.content import Contents
from zdissect.ros2.message_columns import (
    CONTENT,
    ROS2_COLUMNS,
    ROS2_NAMES,
    content_json,
    content_of,
    topic_and_type,
)  # fmt: skip
from zdissect.ros2.rmw_keys import ros_key

_READ = ("message", "body", "reply_body", "key_expr", "payload")


class RosColumns:
    """Adds the columns.

    Args:
        contents: Decodes payloads; None: the content is null.
        keep: Bytes of each payload that are kept; None for all, -1 for none.
    """

    def __init__(self, contents: Contents | None, keep: int | None = None) -> None:
        self.contents, self.keep = contents, keep
        self.schema = ros2_schema()
        self.kinds = {column.name: self.schema.field(column.name).type for column in ROS2_COLUMNS}

    def add(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch of messages with the columns, and with what is kept of payloads."""
        size = len(batch)
        made: dict[str, pa.Array] = {name: nulls(size, kind) for name, kind in self.kinds.items()}
        keys = batch.column("key_expr").dictionary_encode()
        names = keys.dictionary.to_pylist()
        told = [topic_and_type(name) for name in names]
        if any(topic for topic, _ in told):
            for place, name in enumerate(("ros2_topic", "ros2_type")):
                made[name] = pa.array([one[place] for one in told], pa.string()).take(keys.indices)
            data = pa.array([ros_key(name) is not None for name in names], pa.bool_()).take(keys.indices)
            self.attachments(batch, data, made)
            if self.contents is not None:
                made[CONTENT] = self.content(batch, data, self.contents)
        arrays = [batch.column(name) if name in batch.schema.names else made[name] for name in self.schema.names]
        if self.keep is not None:
            at = self.schema.get_field_index("payload")
            arrays[at] = self.kept(arrays[at], self.keep)
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    @staticmethod
    def kept(payloads: pa.Array, most: int) -> pa.Array:
        """What is kept of payloads."""
        return nulls(len(payloads), payloads.type) if most < 0 else pc.binary_slice(payloads, 0, most)

    def attachments(self, batch: pa.RecordBatch, data: pa.Array, made: dict[str, pa.Array]) -> None:
        """Makes the columns that follow from attachments.

        Args:
            batch: The messages.
            data: Whether a message is on the key of a topic or service.
            made: Takes the columns.
        """
        told = pc.and_(data.fill_null(False), batch.column("attachment").is_valid())
        rows = np.flatnonzero(told.to_numpy(zero_copy_only=False))
        if not len(rows):
            return
        values = batch.column("attachment").take(_index(rows))
        plain = pc.all(pc.equal(pc.binary_length(values), CURRENT.size)).as_py()
        columns = (_current(values) if plain else None) or self.each(values.to_pylist())
        for name, some in columns.items():
            made[name] = some if len(rows) == len(batch) else self.spread(some, rows, len(batch))

    def each(self, values: list[bytes]) -> dict[str, pa.Array]:
        """Attachments of any layout, one by one; null for what isn't of rmw_zenoh."""
        found = [parse_attachment(value) or (None, None, None, "") for value in values]
        seqs, times, gids, _ = (list(column) for column in zip(*found, strict=True))
        columns = {
            "ros2_seq": seqs, "ros2_source_ts_ns": times, "ros2_gid": gids,
            "ros2_source_ts": [None if one is None else one // 1000 for one in times],
        }  # fmt: skip
        return {name: array(some, self.kinds[name], is_time(name)) for name, some in columns.items()}

    @staticmethod
    def spread(values: pa.Array, rows: Any, size: int) -> pa.Array:
        """Values at their rows, null elsewhere."""
        places = np.full(size, -1, np.int64)
        places[rows] = np.arange(len(rows))
        return values.take(_index(places))

    @staticmethod
    def content(batch: pa.RecordBatch, data: pa.Array, contents: Contents) -> pa.Array:
        """The column with contents: only rows on keys of topics and services are looked at."""
        wanted = pc.and_(data.fill_null(False), batch.column("payload").is_valid())
        rows = np.flatnonzero(wanted.to_numpy(zero_copy_only=False))
        chosen = batch.select(_READ).take(_index(rows)).to_pylist()
        texts: list[str | None] = [None] * len(batch)
        for at, row in zip(rows.tolist(), chosen, strict=True):
            texts[at] = content_json(content_of(row, contents))
        return array(texts, pa.string())


def _index(places: Any) -> pa.Array:
    """Indices for `take`, null where they are negative. By buffers: `pa.array` would import pandas."""
    whole = np.ascontiguousarray(places, np.int64)
    absent = whole < 0
    valid = pa.py_buffer(np.packbits(~absent, bitorder="little")) if absent.any() else None
    return pa.Array.from_buffers(pa.int64(), len(whole), [valid, pa.py_buffer(whole)])


def _current(values: pa.Array) -> dict[str, pa.Array] | None:
    """The columns of attachments that all are of the current layout; None if they aren't."""
    _, offsets, data = values.buffers()
    at = np.frombuffer(offsets, np.int32)[values.offset]
    size = len(values) * CURRENT.size
    octets = np.frombuffer(data, np.uint8)[at : at + size].reshape(-1, CURRENT.size)
    if not (octets[:, LENGTH_AT] == CURRENT.size - GID.start).all():
        return None
    numbers = np.ascontiguousarray(octets[:, :LENGTH_AT]).view("<i8")
    times = numbers[:, 1]
    text = octets[:, GID].tobytes().hex().encode()
    places = np.arange(len(values) + 1, dtype=np.int32) * (2 * (CURRENT.size - GID.start))
    return {
        "ros2_seq": column(numbers[:, 0], pa.int64()), "ros2_source_ts_ns": column(times, pa.int64()),
        "ros2_source_ts": shown(column(times // 1000, pa.int64()).cast(pa.timestamp("us", "UTC"))),
        "ros2_gid": pa.Array.from_buffers(pa.string(), len(values), [None, pa.py_buffer(places), pa.py_buffer(text)]),
    }  # fmt: skip


def without(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch without these columns."""
    return batch.select([name for name in batch.schema.names if name not in ROS2_NAMES])
