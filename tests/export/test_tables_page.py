"""The page about the tables, and its queries."""

import subprocess
import sys

import pytest

from tests.export.tables import ROOT, SAMPLES, converted
from zdissect.export.ready_queries import DUCKDB_VIEWS, QUERIES
from zdissect.export.tables import TABLES
from zdissect.export.tables_page import tables_markdown

PAGE = tables_markdown()


def test_the_page_in_the_repository_is_up_to_date():
    """Else: `python -m zdissect.export.tables_page > docs/tables.md`."""
    assert (ROOT / "docs" / "tables.md").read_text() == PAGE


def test_the_command_writes_the_page():
    command = [sys.executable, "-m", "zdissect.export.tables_page"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout == PAGE


def test_every_column_is_mentioned():
    for table, columns in TABLES.items():
        assert f"## {table}" in PAGE
        for column in columns:
            assert f"| `{column.name}` | `{column.type.replace(',', ', ')}` | {column.doc} |" in PAGE


@pytest.fixture(scope="module")
def duckdb(tmp_path_factory):
    """A database with the tables of all samples."""
    duckdb = pytest.importorskip("duckdb")
    out = tmp_path_factory.mktemp("reference") / "out"
    converted(SAMPLES, out)
    with duckdb.connect() as connection:
        for table in TABLES:
            connection.execute(DUCKDB_VIEWS.format(out=out, table=table))
        yield connection


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.title)
def test_queries_run(query, duckdb):
    assert f"### {query.title}\n\n{query.doc}\n\n```sql\n{query.sql.strip()}\n```" in PAGE
    assert duckdb.execute(query.sql).fetchall()


def _answer(duckdb, title):
    (sql,) = (query.sql for query in QUERIES if query.title == title)
    cursor = duckdb.execute(sql)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def test_loss(duckdb):
    """What the findings say is missing; all other channels lack nothing."""
    lost = [row for row in _answer(duckdb, "Loss per channel") if row["lost"]]
    found = duckdb.execute("SELECT DISTINCT file FROM findings WHERE code LIKE 'sn-gap%'").fetchall()
    assert {row["capture"] for row in lost} == {file for (file,) in found}


def test_latency(duckdb):
    answer = _answer(duckdb, "Query latency")
    assert answer
    for row in answer:
        assert 0 < row["median_ms"] <= row["p95_ms"] <= row["max_ms"]


def test_bytes(duckdb):
    answer = _answer(duckdb, "What became of the bytes")
    assert len(answer) == len(list(SAMPLES.glob("*.pcap*")))
    assert all(row["decoded"] + row["undecoded"] + row["skipped"] <= row["payload"] for row in answer)
