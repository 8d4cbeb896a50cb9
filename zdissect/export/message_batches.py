"""Messages to Arrow. Many rows have values in common: these are turned to Arrow once and then repeated.

The values of a column come from one of three places: the columns that the messages of a dissection share, a template (a
row without a template is a template of its own), or the message itself.
"""

from typing import Any

import pyarrow as pa

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.engine.templates import CELL, Cell, Template
from zdissect.export.arrow import CHUNK, array, is_time, nulls, timestamps
from zdissect.export.schema import schema
from zdissect.table import Table

_OWN = CELL[:-1]
"""The columns of a cell without the last one, which is set only if its template's value isn't right."""


class MessageBatches:
    """Gathers rows of the table `messages` until there are enough for a batch, by number or by bytes of messages."""

    def __init__(self, limit: int = 8192, most: int = 32 << 20, payload: int | None = None) -> None:
        self.schema = schema("messages")
        self.limit, self.most = limit, most
        self.payload = payload
        """Bytes of each payload that are kept; None for all, -1 leaves the column null."""
        self.total = 0
        """Rows of all batches so far, including the next one."""
        self._clear()

    def _clear(self) -> None:
        self._bytes = 0
        self._cells: list[Cell] = []
        """Cells of the last rows, until there are enough to be turned to..."""
        self._columns: list[list[Any]] = [[] for _ in CELL]
        self._places: list[int] = []
        """For each row, the index of its template in..."""
        self._rows: list[Row] = []
        self._known: dict[Template, int] = {}
        self._indices: list[int] = []
        self._numbers: list[int] = []
        self._items: list[tuple[Any, ...]] = []
        """The columns that the messages of a dissection share, and..."""
        self._runs: list[int] = []
        """... how many messages there are."""
        self._flows: dict[tuple[Any, ...], tuple[int, Row]] = {}

    def add(self, item: Dissection) -> bool:
        """Takes the messages of a dissection; returns whether it is time for a batch."""
        messages = item.messages
        if not messages:
            return False
        cells, places, known = self._cells, self._places, self._known
        for message in messages:
            template = message.template
            if template is None:
                row = message.row
                places.append(len(self._rows))
                self._rows.append(row)
                cells.append((None, *map(row.get, _OWN), None))
                continue
            place = known.get(template)
            if place is None:
                place = known[template] = len(self._rows)
                self._rows.append(template.row)
            places.append(place)
            cells.append(message.cell)
        count = len(messages)
        index, number = item.first
        self._indices.extend(range(index, index + count))
        self._numbers.extend(range(number, number + count))
        frame = item.frame
        self._items.append((frame.source, frame.number, frame.ts_ns, self._flow(item)))
        self._runs.append(count)
        self.total += count
        self._bytes += len(item.buffer.data)
        if len(cells) >= CHUNK:
            self._turn()
        return len(places) >= self.limit or self._bytes >= self.most

    def _turn(self) -> None:
        """Moves the cells to the columns."""
        _, *values = zip(*self._cells, strict=True)
        for column, more in zip(self._columns, values, strict=True):
            column.extend(more)
        self._cells.clear()

    def _flow(self, item: Dissection) -> int:
        """The index of the columns that all messages of this direction share."""
        key = Table.conversation_key(item)
        entry = self._flows.get(key)
        if entry is None:
            entry = self._flows[key] = len(self._flows), Table.conversation(item)
        return entry[0]

    def take(self) -> pa.RecordBatch | None:
        """The batch; None if there are no rows."""
        if self._cells:
            self._turn()
        size = len(self._places)
        if not size:
            return None
        columns = self._each() | self._shared()
        places = pa.array(self._places, pa.int32())
        present = set().union(*self._rows)
        arrays = []
        for name, kind in zip(self.schema.names, self.schema.types, strict=True):
            if name in columns:
                arrays.append(columns[name])
            elif name in present:
                arrays.append(array([row.get(name) for row in self._rows], kind, is_time(name)).take(places))
            else:
                arrays.append(nulls(size, kind))
        self._clear()
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _each(self) -> dict[str, pa.Array]:
        """The columns that differ from message to message."""
        *values, extensions = self._columns
        columns = dict(zip(_OWN, values, strict=True))
        lengths = [None if payload is None else len(payload) for payload in columns["payload"]]
        if self.payload is not None:
            columns["payload"] = self._kept(columns["payload"])
        out = {name: array(column, self.schema.field(name).type) for name, column in columns.items()}
        out["payload_len"] = pa.array(lengths, pa.int64())
        out["timestamp"] = timestamps(out["timestamp_ntp64"])
        out["message_index"] = pa.array(self._indices, pa.int32())
        out["message_number"] = pa.array(self._numbers, pa.int64())
        own = [entries for entries in extensions if entries is not None]
        if own:
            count = len(self._rows)
            following = iter(range(count, count + len(own)))
            places = [place if entries is None else next(following)
                      for entries, place in zip(extensions, self._places, strict=True)]  # fmt: skip
            values = [row.get("extensions") for row in self._rows] + own
            lists = array(values, self.schema.field("extensions").type)
            out["extensions"] = lists.take(pa.array(places, pa.int32()))
        return out

    def _kept(self, payloads: list[bytes | None]) -> list[bytes | None]:
        """Payloads, cut to the bytes that are kept."""
        most = self.payload
        if most is None or most < 0:
            return [None] * len(payloads)
        return [payload if payload is None else payload[:most] for payload in payloads]

    def _shared(self) -> dict[str, pa.Array]:
        """The columns that the messages of a dissection share."""
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
        return out
