"""Tables compared."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from zdissect.export.tables import TABLES


def rows(out: Path, table: str) -> list[dict[str, Any]]:
    """The rows of a table, in an order that doesn't depend on who wrote them."""
    return sorted(pq.read_table(out / table).to_pylist(), key=repr)


def assert_same(one: Path, other: Path) -> None:
    """All tables have the same columns and rows."""
    for table in TABLES:
        assert pq.read_schema(next((one / table).glob("*.parquet"))).equals(
            pq.read_schema(next((other / table).glob("*.parquet")))
        )
        ours, theirs = rows(one, table), rows(other, table)
        assert len(ours) == len(theirs)
        for mine, its in zip(ours, theirs, strict=True):
            assert mine == its
