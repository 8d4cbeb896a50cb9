"""The ready queries of docs/tables.md say in Spark SQL what they say in DuckDB."""

import shutil
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.export import losses
from tests.export.tables import SAMPLES, converted
from zdissect.export.ready_queries import DUCKDB_VIEWS, QUERIES, SPARK_VIEWS
from zdissect.export.tables import TABLES


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """The tables of all samples, and of captures in which numbers are missing."""
    place = tmp_path_factory.mktemp("queries")
    shutil.copytree(SAMPLES, place / "captures")
    losses.write(place / "captures")
    converted(place / "captures", place / "out")
    return place / "out"


@pytest.fixture(scope="module")
def duckdb(out):
    """A database with these tables."""
    with pytest.importorskip("duckdb").connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for table in TABLES:
            connection.execute(DUCKDB_VIEWS.format(out=out, table=table))
        yield connection


@pytest.fixture(scope="module")
def views(spark, out):
    """A session with these tables."""
    for table in TABLES:
        exec(SPARK_VIEWS.format(out=out, table=table), {"spark": spark})
    yield spark
    for table in TABLES:
        spark.catalog.dropTempView(table)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.title)
def test_the_same_answer(query, views, duckdb):
    asked = duckdb.execute(query.sql)
    theirs = [[*map(_plain, row)] for row in asked.fetchall()]
    ours = views.sql(query.sql)
    assert ours.columns == [column[0] for column in asked.description]
    rows = [[*map(_plain, row)] for row in ours.collect()]
    assert theirs
    assert sorted(rows, key=repr) == sorted(theirs, key=repr)  # they differ in where null stands


def _plain(value: Any) -> Any:
    """Spark gives times without a zone, in that of this machine, structs as rows, and sums in other ways."""
    if isinstance(value, list):
        return [one if isinstance(one, dict) else one.asDict() for one in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return float(f"{value:.9g}") if isinstance(value, float) else value
