"""The tables in Spark: their schemas, and the function that the workers run, from frames to rows of all tables.

All tables leave the workers as one: the columns of `messages`, and one more for the name of the table. Rows of other
tables are few: they come as batches in Arrow's own format, in the column `payload`.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter

import pyarrow as pa

from zdissect.export.block_tables import TableBatch
from zdissect.export.conversion_settings import Settings
from zdissect.export.decoding import Decoding
from zdissect.export.file_stats import FileStats
from zdissect.export.schema import schema
from zdissect.export.summary import Summary
from zdissect.export.tables import TABLES
from zdissect.parallel.split import Share
from zdissect.records import Frame
from zdissect.spark import control_notes, group_tables
from zdissect.spark.frames import Row, rows

MESSAGES = "messages"
SUMMARY = "summary"
"""Name in place of a table for the summary of a capture, as JSON."""
TABLE, ROWS = "of_table", "payload"
"""The columns with the name of the table and, but for messages, with its rows."""

_SPARK = {
    "bool": "boolean", "int8": "tinyint", "int16": "smallint", "int32": "int", "int64": "bigint", "string": "string",
    "binary": "binary", "timestamp": "timestamp",
}  # fmt: skip


def spark_type(text: str) -> str:
    """The type of Spark for `int64`, `list<string>`, `list<struct<id:int32,value:binary>>`."""
    outer, _, inner = text.partition("<")
    if not inner:
        return _SPARK[text]
    inner = inner.removesuffix(">")
    if outer == "list":
        return f"array<{spark_type(inner)}>"
    fields = (field.split(":") for field in inner.split(","))
    return "struct<" + ",".join(f"`{name}`:{spark_type(kind)}" for name, kind in fields) + ">"


def ddl(table: str) -> str:
    """The schema of a table as Spark writes it."""
    return ", ".join(f"`{name}` {spark_type(kind)}" for name, kind, _ in TABLES[table])


MIXED = f"{ddl(MESSAGES)}, {TABLE} string"
"""The schema of what leaves the workers."""


def decoder(settings: Settings) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for mapInArrow: rows of frames in order, capture after capture, to rows of all tables."""

    def decode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _, group in groupby(rows(batches), key=itemgetter(0)):
            for result in tables(group, settings):
                yield packed(SUMMARY, result.json().encode()) if isinstance(result, Summary) else mixed(result)

    return decode


def tables(group: Iterator[Row], settings: Settings) -> Iterator[TableBatch | Summary]:
    """The tables of one capture, or of a group of one that is split, from its rows in order, and its summary."""
    first = next(group)
    note = control_notes.read(first[2]) if first[2] is not None else None
    if isinstance(note, Share):
        yield from group_tables.tables(group, settings, note)
    else:
        yield from whole(chain([first], group), settings)
    for _ in group:
        pass  # after an exception, skip the rest: groupby would continue with it


def whole(group: Iterable[Row], settings: Settings) -> Iterator[TableBatch | Summary]:
    """The tables of one capture, and its summary."""
    files: dict[str, FileStats] = {}
    decoding = Decoding(settings, files)

    def fed() -> Iterator[Frame]:
        for _, frame, note in group:
            about = control_notes.read(note) if note is not None else None
            if isinstance(about, FileStats):
                files[about.file] = about
            else:
                yield frame

    yield from decoding.guarded(decoding.tables(fed()))
    yield decoding.summary()


_MIXED = pa.schema([*schema(MESSAGES), pa.field(TABLE, pa.string())])


def mixed(named_batch: TableBatch) -> pa.RecordBatch:
    """A batch of any table in the form that leaves the workers."""
    table, batch = named_batch
    if table == MESSAGES:
        return pa.RecordBatch.from_arrays([*batch.columns, pa.repeat(table, batch.num_rows)], schema=_MIXED)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return packed(table, sink.getvalue().to_pybytes())


def packed(table: str, content: bytes) -> pa.RecordBatch:
    """A batch with one row: rows of another table, or a report."""
    return pa.RecordBatch.from_pylist([{TABLE: table, ROWS: content}], schema=_MIXED)


def unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of another table: the function for mapInArrow over the column `ROWS`."""
    for batch in batches:
        for packed_rows in batch.column(ROWS):
            with pa.ipc.open_stream(packed_rows.as_py()) as reader:
                yield from reader
