"""The page about the tables, generated from their columns: `python -m zdissect.export.tables_page > docs/tables.md`."""

from collections.abc import Iterator

from zdissect.export.ready_queries import DUCKDB_VIEWS, QUERIES, SPARK_VIEWS
from zdissect.export.tables import ABOUT, MESSAGES, TABLES
from zdissect.grammar.columns import Column
from zdissect.ros2.message_columns import ROS2_COLUMNS

_INTRODUCTION = """# Tables

`zdissect batch DIR -o OUT` writes four tables, each a directory of Parquet files: `OUT/messages`, `OUT/findings`,
`OUT/captures`, `OUT/sessions`. This page is generated from their columns: `python -m zdissect.export.tables_page >
docs/tables.md`.

- `file` is the path below DIR, with `/`. `file`, `frame_number`, `buffer` and `offset` lead back to the bytes:
  `zdissect DIR/FILE` shows the frame. Frames are numbered in each file. In a rotated capture `fragments`, `key_frame`,
  `request_frame` and `interest_frame` may name a frame of an earlier file of the same capture.
- The files of one rotated capture are read as one, in order of time, and share `capture` in the table captures. They
  are recognised by their names: `NAME.pcap`, `NAME.pcap1`, `NAME.pcap2` (tcpdump -C, -W), names with a date and a time
  (tcpdump -G), `NAME_00001_20260102030405.pcap` (dumpcap -b, editcap -c), `NAME.part0.pcap`, each optionally with
  `.gz`, `.zst`, `.lz4` or `.xz`. Files with such names that overlap in time are captures of their own. `--one-capture`
  reads all files as one, merged frame by frame where they overlap; `--separate` reads each on its own.
- Rows have no order; `ORDER BY file, frame_number, flow_id, message_index` gives that of the capture. TCP segments may
  have been captured in a different order from that of their stream; `message_number` counts a sender's messages in the
  order in which the receiver gets them, across all files of a capture and across batches and fragments.
- `flow_id` names a conversation within its capture.
- Times are UTC. `ts` and its like have microseconds, `..._ns` is exact. A time outside the years 1 to 9999, or for
  `..._ns` outside of 64 bits (the years 1677 to 2262), is null, and a finding gives its value.
- Integers are signed, as Spark has no unsigned ones. A 64-bit number keeps its bits, so 2^63 or more is negative here,
  and only here. A lease in seconds may be more milliseconds than 64 bits hold: it is then -1, with all bits set.
- In text that isn't UTF-8, invalid bytes are written as `\\xff`.
- `--payload N` keeps the first N bytes of `payload`, `--payload none` keeps none; `payload_len` stays as it is.
  `--fields` fills `fields` with nested nodes.
- A file that can't be read, or not to its end, has a row in captures (`status`, `error`) and one in findings.
- `schema_version` counts changes of a table other than new columns.
"""

_QUERIES = """## Queries

The same text runs in DuckDB and in Spark SQL, once the tables have names. In DuckDB (`duckdb`):

```sql
{duckdb}
```

In Spark:

```python
{spark}
```

Then `spark.sql("...").show()`.
"""


_HEAD = "| column | type | |\n|---|---|---|"


def tables_markdown() -> str:
    """The page."""
    return "\n".join([_INTRODUCTION, *_tables(), _views(), *_queries()])


def _tables() -> Iterator[str]:
    for table, columns in TABLES.items():
        yield f"## {table}\n\n{ABOUT[table]}\n\n{_HEAD}"
        yield from map(_column, columns)
        yield ""
        if table == MESSAGES:
            yield f"With `--ros2` (see [ros2.md](ros2.md)), also:\n\n{_HEAD}"
            yield from map(_column, ROS2_COLUMNS)
            yield ""


def _column(column: Column) -> str:
    """The line of a column."""
    return f"| `{column.name}` | {_type(column.type)} | {column.doc} |"


def _type(text: str) -> str:
    """A type of a column, as a page can show it."""
    return f"`{text.replace(',', ', ')}`"


def _views() -> str:
    duckdb, spark = (
        "\n".join(form.format(out="OUT", table=table) for table in TABLES) for form in (DUCKDB_VIEWS, SPARK_VIEWS)
    )
    return _QUERIES.format(duckdb=duckdb, spark=spark)


def _queries() -> Iterator[str]:
    for query in QUERIES:
        yield f"### {query.title}\n\n{query.doc}\n\n```sql\n{query.sql.strip()}\n```\n"


if __name__ == "__main__":
    print(tables_markdown(), end="")
