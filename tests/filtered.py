"""Captures with which the back ends of filters are compared: as dissections, rows, Arrow and a table in DuckDB."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from zdissect.capture import CaptureError, open_capture
from zdissect.dissection import Dissection, Item
from zdissect.export.arrow import record_batch
from zdissect.export.schema import schema
from zdissect.filters import Filter, FilterError, sql
from zdissect.grammar.columns import NAMES
from zdissect.pipeline import Options, dissect
from zdissect.records import Frame
from zdissect.table import Table

SAMPLES = sorted((Path(__file__).parents[1] / "samples").glob("*.pcap*"))


@dataclass(slots=True)
class Filtered:
    """Dissections with messages, and the same as rows and tables."""

    items: list[Dissection]
    rows: list[dict[str, Any]]
    table: pa.Table
    connection: duckdb.DuckDBPyConnection

    def rows_of(self, text: str) -> list[dict[str, Any]]:
        """The rows that a filter selects."""
        wanted = Filter(text)
        return [row for row in self.rows if wanted.row(row)]

    def disagreements(self, text: str) -> dict[str, list[int]]:
        """The rows that a back end selects and dissections don't, or the other way round, for those that can."""
        wanted = Filter(text)
        expected = [one for item in self.items for one in wanted.select(item)]
        found = {"spans": [one for item in self.items for one in wanted.through_spans(item)]}
        if not wanted.needs_tape:
            found["rows"] = list(map(wanted.row, self.rows))
            found["arrow"] = wanted.arrow()(self.table).to_pylist()
            if (selected := self.in_duckdb(wanted)) is not None:
                found["sql"] = selected
            if (expression := wanted.expression()) is not None:
                chosen = {*self.table.filter(expression)["place"].to_pylist()}
                found["dataset"] = [place in chosen for place in range(len(self.rows))]
        return {
            name: [place for place, (one, other) in enumerate(zip(selected, expected, strict=True)) if one != other]
            for name, selected in found.items() if selected != expected
        }  # fmt: skip

    def in_duckdb(self, wanted: Filter) -> list[bool] | None:
        """What DuckDB selects; None where SQL can't ask this."""
        try:
            condition = wanted.sql()
        except FilterError:
            return None
        chosen = {
            place for (place,) in self.connection.execute(f"SELECT place FROM messages WHERE {condition}").fetchall()
        }
        return [place in chosen for place in range(len(self.rows))]


def filtered(items: Iterable[Item]) -> Filtered:
    """Items in all forms."""
    known = [item for item in items if isinstance(item, Dissection) and item.messages]
    rows = [row for item in known for row in Table().rows(item)]
    columns = {name: [row.get(name) for row in rows] for name in NAMES}
    table = pa.Table.from_batches([record_batch(schema("messages"), columns, len(rows))])
    table = table.append_column("place", pa.array(range(len(rows))))
    connection = duckdb.connect()
    sql.register(connection)
    connection.register("messages", table)
    return Filtered(known, rows, table, connection)


def frames_of(path: Path) -> Iterator[Frame]:
    """The frames of a capture, as far as it can be read."""
    with suppress(CaptureError), open_capture(str(path)) as capture:
        yield from capture


def items_of(paths: Iterable[Path], options: Options | None = None) -> list[Item]:
    """The items of captures, each dissected on its own, as far as they can be read."""
    return [item for path in paths for item in dissect(frames_of(path), options)]


@cache
def samples() -> Filtered:
    """All samples."""
    return filtered(items_of(SAMPLES))
