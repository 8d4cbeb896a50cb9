"""What the tables of `zdissect stats` are made of."""

from collections.abc import Iterable
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

Report = dict[str, Any]
"""A part of what `Stats.finish` gives."""

_SHORT_ZID = 8


def title(text: str) -> Text:
    """The line above a table."""
    return Text(f"\n{text}", "bold")


def empty_table(*columns: str, right: Iterable[str] = ()) -> Table:
    """An empty table; texts are folded, never cut."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1), header_style="dim")
    for name in columns:
        number = name in right
        table.add_column(name, justify="right" if number else "left", overflow="fold", no_wrap=number)
    return table


def add_row(table: Table, *cells: object, style: str = "") -> None:
    """Adds a row: texts are shown as they are."""
    table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in cells), style=style)


def short_zid(zid: str | None, narrow: bool) -> str:
    """A ZenohID, cut to its first digits on a narrow terminal; `?` if it isn't known."""
    return "?" if zid is None else zid[:_SHORT_ZID] + "…" if narrow and len(zid) > _SHORT_ZID else zid
