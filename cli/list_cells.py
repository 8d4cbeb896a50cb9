"""The cells of a listing: for people, and for CSV."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from zdissect.grammar.rule import SEVERITIES
from zdissect.listing import ListColumn
from zdissect.output.printable import dumps
from zdissect.output.style import Style
from zdissect.output.text import prose, safe

from .stats_cells import short_zid
from .stats_units import duration, hertz, size
from .table_text import TextColumn

Entry = dict[str, Any]

NUMBERS = ("number", "bytes", "rate", "duration", "time")
"""Kinds of columns that stand at the right, and aren't cut."""
_NAMED = 3
"""Texts of a list that a cell names."""
_WEIGHTS = {"time": 2, "zid": 3, "list": 4}
"""Kinds of columns that are left out first where there is no room, the greatest first; all others have 1."""
_COLORED = ("severity", "state")
_STATES = {"error": "error", "timed out": "error", "no answer": "warning", "unfinished": "warning", "open": "warning",
           "left out": "error", "perhaps left out": "warning", "no subscriber": "note"}  # fmt: skip


def text_columns(
    columns: Sequence[ListColumn], rows: list[Entry], clock: Callable[[int], str], style: Style
) -> list[TextColumn]:
    """The columns that people see: those with a title and any value."""
    out = []
    for column in columns:
        if not column.title:
            continue
        values = [row[column.name] for row in rows]
        if rows and all(value in (None, [], 0, "") for value in values) and column.kind != "number":
            continue
        cells = [_cell(value, column.kind, clock) for value in values]
        colors = [state_color(value, style) for value in values] if column.name in _COLORED else ()
        weight = 0 if column.vital else _WEIGHTS.get(column.kind, 1)
        number = column.kind in NUMBERS
        out.append(TextColumn(column.title, cells, number, column.kind not in ("long", "list", "said"), weight, colors))
    return out


def state_color(value: str, style: Style) -> str:
    """What colours a severity or a state; empty for one that is as it should be."""
    name = _STATES.get(value, value)
    return style.severity(name) if name in SEVERITIES else ""


def _cell(value: Any, kind: str, clock: Callable[[int], str]) -> str:
    """A value for people."""
    if value is None:
        return ""
    if kind == "list":
        names = [one if ":" in one or "/" in one else short_zid(one, _is_zid(one)) for one in map(safe, value)]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return ", ".join(names[:_NAMED]) + more
    if kind == "zid" and ":" not in value:
        return short_zid(safe(value), narrow=True)
    if kind == "time":
        return clock(value)
    shown = _SHOWN.get(kind)
    return safe(str(value)) if shown is None else shown(value)


_SHOWN: dict[str, Callable[[Any], str]] = {
    "bytes": size,
    "said": prose,
    "rate": hertz,
    "duration": lambda ns: duration(ns / 1e9),
    "flag": lambda flag: "yes" if flag else "no",
}


def _is_zid(text: str) -> bool:
    return len(text) > 8 and all(char in "0123456789abcdef" for char in text)


def csv_lines(columns: Sequence[ListColumn], rows: list[Entry]) -> Iterator[str]:
    """Lines of CSV: a head with the names of the columns, then the rows. Texts of a list are joined by spaces."""
    known = [column for column in columns if column.kind != "rows"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in known])
    for row in rows:
        writer.writerow([_csv_cell(row[column.name]) for column in known])
        yield text.getvalue()
        text.seek(0)
        text.truncate()
    yield text.getvalue()


def _csv_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return safe_cell(" ".join(value) if isinstance(value, list) else str(value))


def safe_cell(text: str) -> str:
    """A text that nothing in can drive a terminal: what can't be printed is escaped; quotes are CSV's own business."""
    return text if text.isprintable() else "".join(char if char.isprintable() else safe(char) for char in text)


def json_lines(rows: Iterable[Entry]) -> Iterator[str]:
    """One JSON array, a row in each line."""
    index = -1
    for index, row in enumerate(rows):
        yield f"{',' if index else '['}{dumps(row)}\n"
    yield "[]\n" if index < 0 else "]\n"
