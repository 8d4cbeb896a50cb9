"""Messages and bytes over time in the report of `zdissect stats`: a table, and sparklines on a terminal."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.text import Text

from .stats_cells import Report, title
from .stats_units import size
from .table_text import TextColumn, table

_LEVELS = "▁▂▃▄▅▆▇█"
_NAMES = ("frames", "messages", "bytes", "findings")


def intervals(report: Report, sparks: int) -> Iterator[Text]:
    """A line for each interval.

    Args:
        report: `intervals` of the report.
        sparks: Characters in a line of a terminal that can show sparklines; 0: it can't, or it is none.
    """
    listed, every_s = report["listed"], report["every_s"]
    yield title(f"Over time, every {every_s:g} s")
    if every_s != report["asked_s"]:
        yield Text(f"{report['asked_s']:g} s would be more than can be listed", "dim")
    if sparks:
        for name in ("messages", "bytes"):
            values = [interval[name] for interval in listed]
            line = spark(values, max(10, sparks - 24))
            most = size(max(values, default=0)) if name == "bytes" else max(values, default=0)
            yield Text(f"{name.capitalize():8}  {line}  most {most}")
    digits = len(f"{every_s % 1:g}".partition(".")[2])
    starts = [f"{interval['start_s']:.{digits}f}" for interval in listed]
    columns = [TextColumn("Start (s)", starts, right=True, whole=True)]
    for name in _NAMES:
        cells = [size(interval[name]) if name == "bytes" else str(interval[name]) for interval in listed]
        columns.append(TextColumn(name.capitalize(), cells, right=True, whole=True))
    lines, _ = table(columns, None)
    yield Text("\n".join(lines))


def spark(values: Sequence[int], width: int) -> str:
    """Values as bars of one character each, from nothing (a space) to the greatest; of more than `width` values, each
    bar is the greatest of some that follow each other.
    """
    count = min(width, len(values))
    edges = [index * len(values) // count for index in range(count + 1)] if count else []
    bars = [max(values[start:stop]) for start, stop in pairwise(edges)]
    most = max(bars, default=0)
    return "".join(_LEVELS[(bar * len(_LEVELS) - 1) // most] if bar else " " for bar in bars)
