"""Arrow schemas out of the types that stand beside columns."""

import pyarrow as pa
import pytest

from zdissect.export.schema import arrow_type, schema
from zdissect.export.tables import ABOUT, TABLES


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_there_in_order(table):
    assert schema(table).names == [column.name for column in TABLES[table]]
    assert ABOUT[table]
    assert all(column.doc.endswith(".") for column in TABLES[table])


def _leaves(kind: pa.DataType) -> list[pa.DataType]:
    if pa.types.is_list(kind):
        return _leaves(kind.value_type)
    if pa.types.is_struct(kind):
        return [leaf for field in kind for leaf in _leaves(field.type)]
    return [kind]


@pytest.mark.parametrize("table", TABLES)
def test_spark_takes_all_types(table):
    """Neither unsigned numbers, nor nanoseconds, dictionaries or large lists."""
    taken = {
        pa.bool_(), pa.int32(), pa.int64(), pa.string(), pa.binary(), pa.timestamp("us", "UTC"),
    }  # fmt: skip
    assert {leaf for field in schema(table) for leaf in _leaves(field.type)} <= taken


def test_nested_types():
    assert arrow_type("list<struct<id:int32,value:binary>>") == pa.list_(
        pa.struct([("id", pa.int32()), ("value", pa.binary())])
    )
