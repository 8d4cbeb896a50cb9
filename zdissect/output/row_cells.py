"""Cells of lines that have most columns of a row: made for what the row holds, not for every column that there is."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from zdissect.engine.messages import Row
from zdissect.filters import FilterName
from zdissect.filters.column_values import Change, conversion
from zdissect.filters.typed_tree import ColumnValues

Cell = Callable[[list[Any]], str]
"""What the values of a name become."""

FEWEST = 16
"""Names from which this is faster than to ask for each of them."""
MOST_KEPT = 512
"""Values of a column whose cells are kept: most come again, in the same frame at least."""


class RowCells:
    """Turns rows into lists of cells.

    Args:
        known: Column and cell of each place; all columns differ.
    """

    def __init__(self, known: Sequence[tuple[ColumnValues, Cell]]) -> None:
        self._blank = [""] * len(known)
        self._places = {
            one.columns[0]: (place, _listed(one, cell) if one.listed else _single(one, cell))
            for place, (one, cell) in enumerate(known)
        }

    def lists(self, rows: Iterable[Row]) -> Iterator[list[str]]:
        """The cells of each row."""
        blank, find = self._blank, self._places.get
        for row in rows:
            cells = blank.copy()
            for column, value in row.items():
                if value is not None and (found := find(column)) is not None:
                    cells[found[0]] = found[1](value)
            yield cells


def row_cells(names: Sequence[FilterName], cells: Sequence[Cell]) -> RowCells | None:
    """The fast way for names that are plain columns, each once; None for others, or where it wouldn't be faster."""
    plain = [one.operand for one in names if isinstance(one.operand, ColumnValues) and _is_plain(one.operand)]
    if len(names) < FEWEST or len({one.columns for one in plain}) < len(names):
        return None
    return RowCells(list(zip(plain, cells, strict=True)))


def _is_plain(known: ColumnValues) -> bool:
    return len(known.columns) == 1 and not known.member and not known.guards


def _single(known: ColumnValues, cell: Cell) -> Callable[[Any], str]:
    """The cell of a column with one value."""
    change = conversion(known.type, known.columns[0])

    def make(value: Any) -> str:
        changed = value if change is None else change(value)
        return "" if changed is None else cell([changed])

    return make if known.type.binary else _remembered(make)


def _remembered(make: Callable[[Any], str]) -> Callable[[Any], str]:
    """The same function, which keeps its last results."""
    kept: dict[Any, str] = {}

    def remember(value: Any) -> str:
        if (found := kept.get(value)) is not None:
            return found
        if len(kept) >= MOST_KEPT:
            kept.clear()
        found = kept[value] = make(value)
        return found

    return remember


def _listed(known: ColumnValues, cell: Cell) -> Callable[[Any], str]:
    """The cell of a column with a list."""
    change: Change | None = conversion(known.type, known.columns[0])
    return lambda values: cell(list(values) if change is None else list(map(change, values)))
