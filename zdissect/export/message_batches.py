"""Messages to Arrow, row by row. What the messages of a dissection share is turned to Arrow once and then repeated."""

from typing import Any

import pyarrow as pa

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.export.arrow import Batches, array, is_time, nulls
from zdissect.export.tables import MESSAGES
from zdissect.table import Table


class MessageBatches(Batches):
    """Gathers rows of the table `messages` until there are enough for a batch, by number or by bytes of messages."""

    def __init__(self, limit: int = 8192, most: int = 32 << 20, payload: int | None = None) -> None:
        super().__init__(MESSAGES, limit)
        self.most = most
        self.payload = payload
        """Bytes of each payload that are kept; None for all, -1 leaves the column null."""
        self._clear()

    def _clear(self) -> None:
        self._bytes = 0
        self._indices: list[int] = []
        self._numbers: list[int] = []
        self._items: list[tuple[Any, ...]] = []
        """The columns that the messages of a dissection share, and..."""
        self._runs: list[int] = []
        """... how many messages there are."""
        self._flows: dict[tuple[Any, ...], tuple[int, Row]] = {}

    def feed(self, item: Dissection) -> bool:
        """Takes the messages of a dissection; returns whether it is time for a batch."""
        count = len(item.messages)
        if not count:
            return False
        full = self.add([message.row for message in item.messages])
        index, number = item.first
        self._indices.extend(range(index, index + count))
        self._numbers.extend(range(number, number + count))
        frame = item.frame
        self._items.append((frame.source, frame.number, frame.ts_ns, self._flow(item)))
        self._runs.append(count)
        self._bytes += len(item.buffer.data)
        return full or self._bytes >= self.most

    def _flow(self, item: Dissection) -> int:
        """The index of the columns that all messages of this direction share."""
        key = Table.conversation_key(item)
        entry = self._flows.get(key)
        if entry is None:
            entry = self._flows[key] = len(self._flows), Table.conversation(item)
        return entry[0]

    def batch(self, columns: dict[str, list[Any]], size: int) -> pa.RecordBatch:
        """A batch of the rows that were taken since the last one."""
        if self.payload is not None and "payload" in columns:
            columns["payload"] = self._kept(columns["payload"])
        shared, arrays = self._shared(), []
        for name, kind in zip(self.schema.names, self.schema.types, strict=True):
            made = shared.get(name)
            if made is None:
                made = array(columns[name], kind, is_time(name)) if name in columns else nulls(size, kind)
            arrays.append(made)
        self._clear()
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _kept(self, payloads: list[bytes | None]) -> list[bytes | None]:
        """Payloads, cut to the bytes that are kept."""
        most = self.payload
        if most is None or most < 0:
            return [None] * len(payloads)
        return [payload if payload is None else payload[:most] for payload in payloads]

    def _shared(self) -> dict[str, pa.Array]:
        """The columns that follow from the dissection of a message, and from its place in it."""
        runs = pa.array([place for place, run in enumerate(self._runs) for _ in range(run)], pa.int32())
        files, numbers, times, flows = (list(column) for column in zip(*self._items, strict=True))
        own = {"file": files, "frame_number": numbers, "ts_ns": times, "ts": [ts_ns // 1000 for ts_ns in times]}
        out = {
            name: array(column, self.schema.field(name).type, is_time(name)).take(runs) for name, column in own.items()
        }
        places = pa.array(flows, pa.int32()).take(runs)
        said = [row for _, row in self._flows.values()]
        for name in said[0]:
            out[name] = array([row[name] for row in said], self.schema.field(name).type).take(places)
        out["message_index"] = pa.array(self._indices, pa.int32())
        out["message_number"] = pa.array(self._numbers, pa.int64())
        return out
