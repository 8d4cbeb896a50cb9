"""Arrow schemas of the tables, derived from the types in `grammar/columns.py` (messages) and `export/tables.py`."""

from functools import cache

import pyarrow as pa

from zdissect.export.tables import MESSAGES, TABLES
from zdissect.grammar.columns import Column
from zdissect.ros2.message_columns import ROS2_COLUMNS

_PLAIN = {
    "bool": pa.bool_(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "timestamp": pa.timestamp("us", "UTC"),
}


def arrow_type(text: str) -> pa.DataType:
    """The Arrow type for `int64`, `list<string>`, `list<struct<id:int32,value:binary>>`."""
    outer, _, inner = text.partition("<")
    if not inner:
        return _PLAIN[text]
    inner = inner.removesuffix(">")
    if outer == "list":
        return pa.list_(arrow_type(inner))
    assert outer == "struct", text
    fields = (field.split(":") for field in inner.split(","))
    return pa.struct([pa.field(name, arrow_type(kind)) for name, kind in fields])


@cache
def schema(table: str) -> pa.Schema:
    """The schema of a table: every column may be null, its description is in the metadata as Spark reads it."""
    return _schema(TABLES[table])


@cache
def ros2_schema() -> pa.Schema:
    """That of messages with the columns of ROS 2."""
    return _schema(TABLES[MESSAGES] + ROS2_COLUMNS)


def _schema(columns: tuple[Column, ...]) -> pa.Schema:
    return pa.schema([pa.field(name, arrow_type(kind)) for name, kind, _ in columns])
