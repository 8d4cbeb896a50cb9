"""Runs of usual messages to Arrow: what the messages of a template have in common is turned to Arrow once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from zdissect.dissection import Dissection
from zdissect.dissector import EMPTY
from zdissect.engine.tape import Buffer
from zdissect.engine.templates import Template
from zdissect.export.arrow import array, is_time, nulls, timestamps
from zdissect.flow.framing import STREAM
from zdissect.records import Frame
from zdissect.table import Table
from zdissect.vector.arrays import Batches, Bytes, Ints, Walked
from zdissect.vector.course import Run


@dataclass(slots=True)
class Rows:
    """The usual messages of a block."""

    frames: list[Frame]
    batches: Batches
    walked: Walked
    read: list[Template]
    """The templates of `walked`."""
    templates: list[Template]
    """Those of the runs."""
    runs: list[Run]

    def gather(self) -> tuple[Ints, Ints, Ints]:
        """The messages in the order of the capture, the template of each, and where each is in the runs."""
        messages = np.concatenate([run.messages for run in self.runs])
        order = np.argsort(messages, kind="stable")
        return messages[order], np.concatenate([run.templates for run in self.runs])[order], order


def binary(arena: Bytes, start: Ints, size: Ints, kind: pa.DataType) -> pa.Array:
    """The bytes at some places of an arena; null where `start` is negative. The pieces don't overlap."""
    order = np.argsort(start, kind="stable")
    first = int(np.count_nonzero(start < 0))
    order = order[first:]
    offsets = np.empty(2 * len(order), np.int32)
    offsets[::2] = start[order]
    offsets[1::2] = start[order] + size[order]
    pieces = pa.Array.from_buffers(pa.binary(), max(0, 2 * len(order) - 1), [None, pa.py_buffer(offsets), pa.py_buffer(arena)])
    index = np.zeros(len(start), np.int32)
    index[order] = 2 * np.arange(len(order), dtype=np.int32)
    return pieces.take(pa.array(index, mask=start < 0)).cast(kind)


def batch(schema: pa.Schema, rows: Rows, payload: int | None) -> pa.RecordBatch:
    """The rows of `messages`, in the order of the capture."""
    messages, places, order = rows.gather()
    templates = rows.templates
    taken = pa.array(places.astype(np.int32))
    columns = _own(schema, rows, messages, order, payload) | _flows(schema, rows, messages)
    columns["extensions"] = _extensions(schema.field("extensions").type, rows, messages, places, templates)
    present = set().union(*(template.row for template in templates))
    arrays = []
    for name, kind in zip(schema.names, schema.types, strict=True):
        if name in columns:
            arrays.append(columns[name])
        elif name in present:
            arrays.append(array([one.row.get(name) for one in templates], kind, is_time(name)).take(taken))
        else:
            arrays.append(nulls(len(messages), kind))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _optional(values: Any, absent: Any, kind: pa.DataType) -> pa.Array:
    return pa.array(values, mask=absent).cast(kind)


def _own(schema: pa.Schema, rows: Rows, messages: Ints, order: Ints, payload: int | None) -> dict[str, pa.Array]:
    """The columns that differ from message to message."""
    walked, batches = rows.walked, rows.batches
    own = walked.batch[messages]
    kind = {name: schema.field(name).type for name in schema.names}
    out = {}
    out["offset"] = pa.array(walked.start[messages] - batches.start[own]).cast(kind["offset"])
    out["length"] = pa.array(walked.stop[messages] - walked.start[messages]).cast(kind["length"])
    sn, source = walked.sn[messages], walked.source_sn[messages]
    out["sn"] = _optional(sn, sn < 0, kind["sn"])
    out["source_sn"] = _optional(source, source < 0, kind["source_sn"])
    out["timestamp_ntp64"] = _optional(walked.stamp[messages].view(np.int64), ~walked.stamped[messages], kind["timestamp_ntp64"])
    out["timestamp"] = timestamps(out["timestamp_ntp64"])
    start, size = walked.payload[messages], walked.payload_size[messages]
    out["payload_len"] = _optional(size, start < 0, pa.int64())
    if payload is not None:
        start, size = (start, np.minimum(size, payload)) if payload >= 0 else (np.full(len(start), -1), size)
    out["payload"] = binary(batches.arena, start, size, kind["payload"])
    out["attachment"] = binary(
        batches.arena, walked.attachment[messages], walked.attachment_size[messages], kind["attachment"]
    )
    out["message_index"] = pa.array(np.concatenate([run.index for run in rows.runs])[order]).cast(kind["message_index"])
    out["message_number"] = pa.array(np.concatenate([run.number for run in rows.runs])[order])
    return out


def _flows(schema: pa.Schema, rows: Rows, messages: Ints) -> dict[str, pa.Array]:
    """The columns that the messages of a frame, or of a direction of a flow, share."""
    own = rows.walked.batch[messages]
    frames = rows.batches.frame[own]
    used, index = np.unique(frames, return_inverse=True)
    carrying = [rows.frames[number] for number in used.tolist()]
    taken = pa.array(index.astype(np.int32))
    times = [frame.ts_ns for frame in carrying]
    shared = {"frame_number": [frame.number for frame in carrying], "ts_ns": times, "ts": [time // 1000 for time in times]}
    out = {
        name: array(column, schema.field(name).type, is_time(name)).take(taken) for name, column in shared.items()
    }
    out["file"] = pa.repeat(carrying[0].source, len(own))
    said = []
    for way in rows.batches.ways:
        item = Dissection(carrying[0], (), way.conversation.flow, way.direction, Buffer("tcp", b""), EMPTY, STREAM)
        said.append(Table.conversation(item))
    ways = pa.array(rows.batches.way[own].astype(np.int32))
    for name in said[0]:
        out[name] = array([row[name] for row in said], schema.field(name).type).take(ways)
    return out


def _extensions(kind: pa.DataType, rows: Rows, messages: Ints, places: Ints, templates: list[Template]) -> pa.Array:
    """The lists of extensions: those of templates, with the bodies that differ put in."""
    lists = [template.row.get("extensions") for template in templates]
    counts = np.array([len(entries or ()) for entries in lists])
    base = np.cumsum(counts) - counts
    flat = [entry for entries in lists for entry in entries or ()]
    count = counts[places]
    offsets = np.concatenate(([0], np.cumsum(count)))
    index = np.repeat(base[places] - offsets[:-1], count) + np.arange(offsets[-1])
    sizes = np.array([entry["length"] for entry in flat], np.int64)[index] if flat else index
    absent = np.array([entries is None for entries in lists])[places]
    rank = np.full(int(rows.walked.batch.size), -1)
    rank[messages] = np.arange(len(messages))
    values, extra = index.copy(), [entry["value"] for entry in flat]
    bodies: list[pa.Array] = [array(extra, pa.binary())]
    have = len(extra)
    for number, (of, start, size) in enumerate(rows.walked.bodies):
        mine = rank[of] >= 0
        ranks = rank[of][mine]
        read, which = np.unique(rows.walked.template[of[mine]], return_inverse=True)
        changing = np.array([rows.read[template].changing[number] for template in read.tolist()], np.int64)
        slots = offsets[:-1][ranks] + changing[which]
        sizes[slots] = size[mine]
        values[slots] = have + np.arange(len(ranks))
        bodies.append(binary(rows.batches.arena, start[mine], size[mine], pa.binary()))
        have += len(ranks)
    taken = pa.array(index.astype(np.int32))
    fields, arrays = list(kind.value_type), []
    for one in fields:
        if one.name == "length":
            arrays.append(pa.array(sizes).cast(one.type))
        elif one.name == "value":
            arrays.append(pa.concat_arrays(bodies).take(pa.array(values.astype(np.int32))).cast(one.type))
        else:
            arrays.append(array([entry[one.name] for entry in flat], one.type).take(taken))
    items = pa.StructArray.from_arrays(arrays, fields=fields)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), items, type=kind, mask=pa.array(absent))
