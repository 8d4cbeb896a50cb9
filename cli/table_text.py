"""Tables in columns for people: as wide as need be in a pipe, and within its width on a terminal."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

_GAP = "  "
_ROOM = 32
"""Characters that a text of any length keeps while there are other columns that can be left out."""
_LEAST = 8
"""Characters that any text keeps, where nothing else is left to give way."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column with its cells, as they are to be shown."""

    title: str
    cells: Sequence[str]
    right: bool = False
    """Numbers stand at the right."""
    whole: bool = False
    """Its cells are numbers, ZenohIDs or single words, which say nothing once they are cut: that is the last resort for
    words, and never done to what stands at the right."""
    weight: int = 0
    """Where there is no room: columns without weight stay; of the others, those with the greatest go first."""
    colors: Sequence[str] = ()
    """What comes before each cell; empty if there are no colours."""
    least: int = _ROOM
    """Characters that it keeps, if it isn't whole, while other columns can be left out."""


def table(
    columns: Sequence[TextColumn], width: int | None, head: str = "", end: str = ""
) -> tuple[list[str], list[str]]:
    """The lines of a table, and the titles of the columns that had no room.

    Args:
        columns: All with the same number of cells.
        width: Characters in a line; None: as many as it takes.
        head: What comes before the titles, to colour them.
        end: What ends any colour.
    """
    known = list(columns)
    widths = [max(map(cell_len, (column.title, *column.cells))) for column in known]
    dropped: list[str] = []
    if width is not None:
        dropped = _fit(known, widths, width)
    lines = [f"{head}{_line([column.title for column in known], known, widths)}{end}"]
    lines += [
        _line([column.cells[index] for column in known], known, widths, index, end)
        for index in range(len(columns[0].cells) if columns else 0)
    ]
    return lines, dropped


def _fit(columns: list[TextColumn], widths: list[int], width: int) -> list[str]:
    """Makes texts narrower, then leaves columns out, until a line has room; the titles of those left out."""
    dropped: list[str] = []
    while True:
        over = sum(widths) + len(_GAP) * (len(widths) - 1) - width
        if over <= 0:
            return dropped
        least = [
            size if column.whole else min(size, column.least) for column, size in zip(columns, widths, strict=True)
        ]
        spare = [index for index, column in enumerate(columns) if column.weight]
        if sum(widths) - sum(least) >= over or not spare:
            over = _narrow(widths, least, over)
            over = _narrow(
                widths, [size if column.whole else _LEAST for column, size in zip(columns, widths, strict=True)], over
            )
            _narrow(
                widths, [size if column.right else _LEAST for column, size in zip(columns, widths, strict=True)], over
            )
            return dropped
        index = max(spare, key=lambda place: (columns[place].weight, place))
        dropped.append(columns.pop(index).title)
        del widths[index]


def _narrow(widths: list[int], least: Sequence[int], over: int) -> int:
    """Takes what is too much from the widest columns that are wider than their least; what is still too much then."""
    while over > 0:
        broad = [index for index, size in enumerate(widths) if size > least[index]]
        if not broad:
            break
        widest = max(widths[index] for index in broad)
        several = [index for index in broad if widths[index] == widest]
        floor = max(*(least[index] for index in several), *(size for size in widths if size < widest), 0)
        step = max(1, min(widest - floor, over // len(several)))
        for index in several:
            if over > 0:
                widths[index] -= step
                over -= step
    return over


def _line(
    cells: list[str], columns: list[TextColumn], widths: list[int], index: int | None = None, end: str = ""
) -> str:
    out = []
    for cell, column, width in zip(cells, columns, widths, strict=True):
        size = cell_len(cell)
        text = cell if size <= width else set_cell_size(cell, width - 1) + "…"
        padding = " " * (width - size)
        color = column.colors[index] if column.colors and index is not None else ""
        shown = f"{color}{text}{end}" if color else text
        out.append(padding + shown if column.right else shown + padding)
    return _GAP.join(out).rstrip()
