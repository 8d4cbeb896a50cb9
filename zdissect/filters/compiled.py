"""A filter that is ready for use."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from zdissect.dissection import Dissection, Item, findings
from zdissect.filters.ahead import LookAhead
from zdissect.filters.filter_error import FilterError
from zdissect.filters.on_rows import Row, RowCompiler, RowTest, columns_read
from zdissect.filters.on_tapes import Scope, Surroundings, TapeCompiler, Wanted
from zdissect.filters.packet_values import TIME_RELATIVE
from zdissect.filters.row_selection import RowSelection
from zdissect.filters.type_check import understand
from zdissect.filters.typed_tree import AheadValues, ColumnValues, PacketValues, RosValues, SpanValues, Tree, sources
from zdissect.ros2.naming import RosWords
from zdissect.table import Table, ip_columns

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as pads

    from zdissect.vector.usual_batches import UsualBatches


class Filter:
    """A filter, compiled. It selects messages; one filter is for one capture at a time if it `looks_ahead`."""

    def __init__(self, text: str) -> None:
        self.text = text
        from zdissect.filters.syntax import parse  # only here: what reads values by their names needs no parser

        self.tree: Tree = understand(text, parse(text))
        known = sources(self.tree)
        self._spans = frozenset(
            path for one in known if isinstance(one, SpanValues) and one.instead is None for path in one.paths
        )
        self._beyond = [one for one in known if not isinstance(one, ColumnValues | SpanValues)]
        self.looks_ahead = any(isinstance(one, AheadValues) for one in known)
        """Whether a first pass over the capture is needed: see `ahead`."""
        self.needs_tape = bool(self._spans or self._beyond)
        """Whether it reads what the message table doesn't have, so that rows alone don't answer it."""
        self.counts_from_start = any(isinstance(one, PacketValues) and one.part == TIME_RELATIVE for one in known)
        """Whether it asks when the capture began."""
        self.ros = RosWords()
        """Decodes messages of ROS 2, if it asks for what is in them."""
        self.ahead: LookAhead | None = None
        """What a first pass found out."""
        self.began_ns: int | None = None
        """When the capture began; if nobody says so, with the first item."""

    def __repr__(self) -> str:
        return f"compile_filter({self.text!r})"

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns of the message table that it reads."""
        return columns_read(self.tree)

    @cached_property
    def row(self) -> Callable[[Row], bool]:
        """Whether a row of the message table is selected.

        Raises:
            FilterError: It reads what no column holds.
        """
        self.require_columns("rows")
        return RowCompiler().test(self.tree)

    def select(self, item: Item) -> list[bool]:
        """Whether each message of an item is selected. What has no messages counts as one: skipped bytes, notices."""
        if self.began_ns is None:
            self.began_ns = item.frame.ts_ns
        if self.needs_tape:
            return self._through(self._on_tapes, Wanted(self._spans), item, self._rows(item))
        if isinstance(item, Dissection) and item.messages:
            return self._by_parts.select(item)
        return [self.row(pseudo_row(item))]

    def select_usual(self, usual: "UsualBatches") -> list[bool]:
        """Whether each message of usual batches is selected, by a filter that needs no tape."""
        return self._by_parts.select_usual(usual)

    @cached_property
    def _by_parts(self) -> RowSelection:
        return RowSelection(self.tree)

    def through_spans(self, item: Item) -> list[bool]:
        """The same as `select`, but that all fields of the wire are read from spans."""
        if self.began_ns is None:
            self.began_ns = item.frame.ts_ns
        paths = {path for one in sources(self.tree) if isinstance(one, SpanValues) for path in one.paths}
        return self._through(
            TapeCompiler(True, self.ros).test(self.tree), Wanted(frozenset(paths)), item, self._rows(item)
        )

    @cached_property
    def _on_tapes(self) -> RowTest:
        return TapeCompiler(False, self.ros).test(self.tree)

    def _through(self, test: RowTest, wanted: Wanted, item: Item, rows: list[Row]) -> list[bool]:
        if self.looks_ahead:
            if self.ahead is None:
                raise FilterError("", 0, f"{self.text!r} needs a first pass over the capture")
            rows = [{**row, **self.ahead.columns(row)} for row in rows]
        around = Surroundings(item, wanted, self.began_ns or 0)
        return [test(Scope(row, item, around, place)) for place, row in enumerate(rows)]

    def _rows(self, item: Item) -> list[Row]:
        if isinstance(item, Dissection) and item.messages:
            where = Table.where(item)
            return [Table.whole(item, number, where) for number in range(len(item.messages))]
        return [pseudo_row(item)]

    def require_columns(self, what: str) -> None:
        """Raises FilterError if columns of the message table don't suffice."""
        if self.needs_tape:
            names = ", ".join(sorted({*self._spans, *(one.part for one in self._beyond if not _is_column(one))}))
            hint = "`zdissect fields` lists which fields have a column"
            raise FilterError("", 0, f"{what} hold no {names}: no column of the message table says the same", hint)

    def arrow(self) -> "Callable[[pa.RecordBatch | pa.Table], pa.Array | pa.ChunkedArray]":
        """A function that gives a mask for a batch, or a table, of the message table.

        Raises:
            FilterError: It reads what no column holds.
        """
        from zdissect.filters.on_arrow import mask

        self.require_columns("tables")
        return mask(self.tree)

    def expression(self) -> "pads.Expression | None":
        """The same as an expression of pyarrow's datasets; None where they can't express it."""
        from zdissect.filters.on_datasets import expression

        self.require_columns("tables")
        return expression(self.tree)

    def sql(self, dialect: str = "duckdb") -> str:
        """The same as the condition of a WHERE in SQL: of `duckdb` or `spark`.

        Functions whose names begin with `zdissect_` must be registered: `filters.sql.register`.

        Raises:
            FilterError: It reads what no column holds.
        """
        from zdissect.filters.sql import condition

        self.require_columns("tables")
        return condition(self.tree, dialect)


TABLE = Table()


def _is_column(one: object) -> bool:
    return not isinstance(one, PacketValues | AheadValues | RosValues)


def pseudo_row(item: Item) -> Row:
    """A row for what has no message: where, who, and its findings."""
    frame, flow = item.frame, item.flow
    row: dict[str, Any] = {
        "file": frame.source, "frame_number": frame.number, "ts_ns": frame.ts_ns, "ts": frame.ts_ns // 1000,
    }  # fmt: skip
    if isinstance(item, Dissection):
        row |= Table.conversation(item)
    elif flow.id:
        src, dst = flow.ends if item.direction == 0 else flow.ends[::-1]
        row |= {"flow_id": flow.id, "link": flow.link, **ip_columns(src, "src"), **ip_columns(dst, "dst")}
    found = [
        {"severity": one.rule.severity, "code": one.rule.code, "offset": one.start, "message": one.message}
        for one in findings(item)
    ]
    if found:
        row["findings"] = found
    return row
