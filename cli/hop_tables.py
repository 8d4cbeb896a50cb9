"""What listings say in sum, as tables: times by key and by hop, and inside nodes."""

from typing import Any

from zdissect.output.style import Style
from zdissect.output.text import safe

from .stats_cells import short_zid
from .stats_units import duration
from .table_text import TextColumn, table

Entry = dict[str, Any]

_TITLES = {
    "key_expr": "Key", "queries": "Queries", "requests": "Requests", "from": "From", "to": "To", "node": "Node",
    "samples": "Samples", "left_out": "Left out", "final_ns": "End", "first_ns": "First answer",
    "forwarding_ns": "Passing on", "returning_ns": "Passing back", "answering_ns": "Answering",
    "latency_ns": "Latency", "since_stamp_ns": "Since stamped",
}  # fmt: skip
_HEADS = {"keys": "By key", "hops": "By hop", "nodes": "Inside nodes"}
_QUANTILES = ("median", "p95", "max")


def summary_lines(report: dict[str, Any], width: int | None, style: Style) -> tuple[list[str], list[str]]:
    """The lines of all tables that have rows, and the titles of columns that had no room."""
    lines, dropped = list[str](), dict[str, None]()
    for name, entries in report.items():
        if entries:
            shown, left = table(_columns(entries), width, style.dim, style.end)
            lines += ["", *shown] if lines else shown
            lines[-len(shown)] = f"{style.frame}{_HEADS.get(name, name)}{style.end}\n{shown[0]}"
            dropped |= dict.fromkeys(left)
    return lines, list(dropped)


def _columns(entries: list[Entry]) -> list[TextColumn]:
    """The columns of a table: times as their median, 95th percentile and maximum."""
    out = []
    for name in entries[0]:
        title = _TITLES.get(name)
        values = [entry[name] for entry in entries]
        if title is None or all(value in (None, 0) for value in values):
            continue
        if not name.endswith("_ns"):
            number = isinstance(values[0], int)
            cells = [
                _node(entry, name) if name in ("from", "to", "node") else safe(str(entry[name])) for entry in entries
            ]
            out.append(TextColumn(title, cells, number, number))
            continue
        for index, quantile in enumerate(_QUANTILES):
            cells = ["" if value is None else duration(value[quantile] / 1e9) for value in values]
            head = f"{title} {quantile}" if index == 0 else quantile
            out.append(TextColumn(head, cells, True, True, 1 if quantile == "p95" else 0))
    return out


def _node(entry: Entry, name: str) -> str:
    """A node with its role."""
    role, zid = entry.get("role" if name == "node" else f"{name}_role"), entry[name]
    return f"{role or ''} {safe(zid) if ':' in zid else short_zid(safe(zid), narrow=True)}".strip()
