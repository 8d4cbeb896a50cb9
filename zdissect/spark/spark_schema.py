"""The schemas of the tables, as Spark writes them."""

from zdissect.export.tables import TABLES
from zdissect.ros2.message_columns import ROS2_COLUMNS

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


def ddl(table: str, ros2: bool = False) -> str:
    """The schema of a table as Spark writes it; with the columns of ROS 2, if they are wanted."""
    columns = TABLES[table] + (ROS2_COLUMNS if ros2 else ())
    return ", ".join(f"`{name}` {spark_type(kind)}" for name, kind, _ in columns)
