"""The messages of a block to Arrow: what those of a template have in common is turned to Arrow once.

Arrays become columns by their buffers: `pa.array` would import pandas, where there is one, to ask what they are.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from zdissect.dissection import Dissection
from zdissect.dissector import EMPTY
from zdissect.engine.messages import Row
from zdissect.engine.tape import Buffer
from zdissect.export.arrow import array, is_time, nulls, timestamps
from zdissect.table import Table
from zdissect.vector.arrays import Bools, Bytes, Ints
from zdissect.vector.feed import Progress
from zdissect.vector.runs import UsualRun


class BlockRows:
    """The rows of a block that were read on arrays: usual messages, and those of events."""

    def __init__(self, kinds: pa.Schema, payload: int | None, progress: Progress) -> None:
        self.kinds, self.payload, self.progress = kinds, payload, progress
        self.runs: list[UsualRun] = []
        self.events: list[tuple[int, int, int, int]] = []
        """(message, index of its row, `message_index`, `message_number`) of each message of an event."""

    def event(self, batch: int, item: Dissection) -> None:
        """Takes the messages of an event."""
        message, rows = int(self.progress.facts.first[batch]), self.progress.rows
        place, number = item.first
        for after, one in enumerate(item.messages):
            row = rows.add(one) if one.template is None else rows.of(one.template)
            self.events.append((message + after, row, place + after, number + after))

    def take(self) -> tuple[pa.RecordBatch, Ints] | None:
        """The rows in the order of the capture, and the batch of each; None if there are none."""
        runs: list[Any] = [run[2:] for run in self.runs]
        if self.events:
            runs.append(np.array(self.events, np.int64).T)
        if not runs:
            return None
        messages, rows, place, number = (np.concatenate(parts) for parts in zip(*runs, strict=True))
        order = np.argsort(messages, kind="stable")
        messages = messages[order]
        columns = _BlockColumns(self, messages)
        columns.own()
        columns.flows()
        columns.put("message_index", place[order])
        columns.put("message_number", number[order])
        known = [one.row for one in self.progress.rows.rows]
        return columns.batch(known, rows[order]), self.progress.walked.batch[messages]


def column(values: Any, kind: pa.DataType, absent: Bools | None = None) -> pa.Array:
    """A column of numbers; null where `absent`."""
    valid = None if absent is None or not absent.any() else pa.py_buffer(np.packbits(~absent, bitorder="little"))
    values = np.ascontiguousarray(values, np.int32 if kind == pa.int32() else np.int64)
    return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(values)])


def indices(values: Ints) -> pa.Array:
    """Indices, for `take`."""
    return column(values, pa.int32())


def binary(arena: Bytes, start: Ints, size: Ints, kind: pa.DataType) -> pa.Array:
    """The bytes at some places of an arena, which don't overlap; null where `start` is negative."""
    order = np.argsort(start, kind="stable")[int(np.count_nonzero(start < 0)) :]
    offsets = np.empty(2 * len(order) + 1, np.int32)
    offsets[:-1:2] = start[order]
    offsets[1::2] = start[order] + size[order]
    offsets[-1] = offsets[-2] if len(order) else 0
    pieces = pa.Array.from_buffers(kind, 2 * len(order), [None, pa.py_buffer(offsets), pa.py_buffer(arena)])
    index = np.zeros(len(start), np.int64)
    index[order] = 2 * np.arange(len(order))
    return pieces.take(column(index, pa.int32(), start < 0))


class _BlockColumns:
    """Makes the columns of some messages."""

    def __init__(self, rows: BlockRows, messages: Ints) -> None:
        progress = rows.progress
        self.kinds, self.payload, self.messages = rows.kinds, rows.payload, messages
        self.frames, self.batches, self.walked = progress.block.frames, progress.batches, progress.walked
        self.batch_of = self.walked.batch[messages]
        self.made: dict[str, pa.Array] = {}

    def put(self, name: str, values: Any, absent: Bools | None = None) -> None:
        """Makes a column of numbers."""
        self.made[name] = column(values, self.kinds.field(name).type, absent)

    def own(self) -> None:
        """Makes the columns that differ from message to message."""
        walked, batches, messages = self.walked, self.batches, self.messages
        start = walked.start[messages]
        self.put("offset", start - batches.start[self.batch_of])
        self.put("length", walked.stop[messages] - start)
        for name in ("sn", "source_sn", "request_id"):
            values = getattr(walked, name)[messages]
            self.put(name, values, values < 0)
        self.put("timestamp_ntp64", walked.stamp[messages].view(np.int64), ~walked.stamped[messages])
        self.made["timestamp"] = timestamps(self.made["timestamp_ntp64"])
        start, size = walked.payload[messages], walked.payload_size[messages]
        self.put("payload_len", size, start < 0)
        if self.payload is not None:
            start, size = (start if self.payload >= 0 else np.full(len(start), -1)), np.minimum(size, self.payload)
        self.bytes("payload", start, size)
        self.bytes("attachment", walked.attachment[messages], walked.attachment_size[messages])

    def bytes(self, name: str, start: Ints, size: Ints) -> None:
        """Makes a column of bytes."""
        kind = self.kinds.field(name).type
        some = bool((start >= 0).any())
        self.made[name] = binary(self.batches.arena, start, size, kind) if some else nulls(len(start), kind)

    def flows(self) -> None:
        """Makes the columns that the messages of a frame, or of a direction of a flow, share."""
        used, index = np.unique(self.batches.frame[self.batch_of], return_inverse=True)
        carrying = [self.frames[number] for number in used.tolist()]
        times = np.array([frame.ts_ns for frame in carrying], np.int64)
        self.put("frame_number", np.array([frame.number for frame in carrying])[index])
        self.put("ts_ns", times[index])
        self.put("ts", (times // 1000)[index])
        self.made["file"] = pa.repeat(carrying[0].source, len(index))
        said = []
        for way in self.batches.ways:
            flow = way.conversation.flow
            item = Dissection(carrying[0], (), flow, way.direction, Buffer(flow.link, b""), EMPTY, way.framing)
            said.append(Table.conversation(item))
        ways = indices(self.batches.way[self.batch_of])
        for name in said[0]:
            self.made[name] = array([row[name] for row in said], self.kinds.field(name).type).take(ways)

    def batch(self, rows: list[Row], places: Ints) -> pa.RecordBatch:
        """All columns, with those that templates, or rows of their own, have in common."""
        taken = indices(places)
        if any("extensions" in row for row in rows):
            lists = [row.get("extensions") for row in rows]
            self.made["extensions"] = self.extensions(lists, places)
        present = set().union(*rows)
        arrays = []
        for name, kind in zip(self.kinds.names, self.kinds.types, strict=True):
            made = self.made.get(name)
            if made is None and name in present:
                made = array([row.get(name) for row in rows], kind, is_time(name)).take(taken)
            arrays.append(nulls(len(places), kind) if made is None else made)
        return pa.RecordBatch.from_arrays(arrays, schema=self.kinds)

    def extensions(self, lists: list[Any], places: Ints) -> pa.Array:
        """The lists of extensions: those of templates, with the bodies that differ put in."""
        kind = self.kinds.field("extensions").type
        flat = [entry for entries in lists for entry in entries or ()]
        counts = np.array([len(entries or ()) for entries in lists])
        base, count = np.cumsum(counts) - counts, counts[places]
        offsets = np.concatenate(([0], np.cumsum(count)))
        index = np.repeat(base[places] - offsets[:-1], count) + np.arange(offsets[-1])
        sizes, values = np.array([entry["length"] for entry in flat], np.int64)[index], index.copy()
        bodies = [array([entry["value"] for entry in flat], pa.binary())]
        for number, (start, size) in enumerate(self.walked.bodies):
            mine = np.flatnonzero(start[self.messages] >= 0)
            having = self.messages[mine]
            read, which = np.unique(self.walked.template[having], return_inverse=True)
            templates = map(self.walked.templates.__getitem__, read.tolist())
            changing = np.array([template.changing[number] for template in templates], np.int64)
            slots = offsets[:-1][mine] + changing[which]
            sizes[slots] = size[having]
            values[slots] = sum(map(len, bodies)) + np.arange(len(mine))
            bodies.append(binary(self.batches.arena, start[having], size[having], pa.binary()))
        made = {"length": column(sizes, pa.int64()), "value": pa.concat_arrays(bodies).take(indices(values))}
        fields, taken = list(kind.value_type), indices(index)
        arrays = [
            made[one.name].cast(one.type) if one.name in made
            else array([entry[one.name] for entry in flat], one.type).take(taken)
            for one in fields
        ]  # fmt: skip
        absent = np.array([entries is None for entries in lists])[places]
        items = pa.StructArray.from_arrays(arrays, fields=fields)
        mask = pa.Array.from_buffers(
            pa.bool_(), len(absent), [None, pa.py_buffer(np.packbits(absent, bitorder="little"))]
        )
        return pa.ListArray.from_arrays(indices(offsets), items, type=kind, mask=mask)
