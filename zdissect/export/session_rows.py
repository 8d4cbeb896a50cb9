"""The rows of `sessions`: each is made as soon as its connection has ended, so that none is kept longer than that."""

from collections.abc import Iterator
from typing import Any

from zdissect.dissection import Item, Notice
from zdissect.export.tables import TABLES_VERSION
from zdissect.flow.conversation import Flow
from zdissect.pipeline import Pipeline
from zdissect.session.model import Link
from zdissect.stats.sessions import SessionStats
from zdissect.table import ip_columns

_PARAMETERS = {
    "sn_bits": "resolution_sn", "rid_bits": "resolution_rid", "batch_size": "batch_size", "patch": "patch",
    "qos": "qos", "low_latency": "low_latency", "compression": "compression", "multilink": "multilink", "shm": "shm",
}  # fmt: skip


class Links:
    """Collects what flows carry, and makes their rows."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.flows: dict[str, tuple[Flow, SessionStats]] = {}

    def feed(self, item: Item) -> None:
        """Takes a dissection or skipped bytes."""
        if isinstance(item, Notice):
            return
        self.stats(item.flow).feed(item)

    def stats(self, flow: Flow) -> SessionStats:
        """What is collected about a flow."""
        known = self.flows.get(flow.id)
        if known is None:
            known = self.flows[flow.id] = flow, SessionStats()
        return known[1]

    def ended(self, file: str, last_ns: int) -> Iterator[dict[str, Any]]:
        """The rows of the links that have ended since the last call."""
        links = self.pipeline.links
        while links:
            yield from self.row(links.pop(0), file, last_ns)

    def rest(self, file: str, last_ns: int) -> Iterator[dict[str, Any]]:
        """The rows of all others, at the end of the capture."""
        yield from self.ended(file, last_ns)
        for flow, _ in list(self.flows.values()):
            yield from self.row(self.pipeline.sessions.links.get(flow.id) or Link(flow), file, last_ns)

    def row(self, link: Link, file: str, last_ns: int) -> Iterator[dict[str, Any]]:
        """The row of a link; none if it carried nothing, or only scouting."""
        flow, collected = self.flows.pop(link.flow.id, (None, None))
        if flow is None or collected is None:
            return
        for report in collected.report([link], last_ns):
            yield _row(report, flow, link) | {"file": file, "session": link.session.opened.flow_id or link.flow.id}


def _row(report: dict[str, Any], flow: Flow, link: Link) -> dict[str, Any]:
    """A report about a link, flat."""
    ended = report["links"][0]["ended"]
    out = {
        "flow_id": flow.id,
        "link": flow.link,
        "handshake": report["handshake"],
        "first_ts_ns": report["first_ts_ns"],
        "first_ts": report["first_ts_ns"] // 1000,
        "last_ts_ns": report["last_ts_ns"],
        "last_ts": report["last_ts_ns"] // 1000,
        "skipped_bytes": report["skipped_bytes"],
        "ended": ended["how"],
        "close_reason": ended["reason"],
        "schema_version": TABLES_VERSION,
    }
    by = ended["by"]  # a side of the session; the columns are about the ends of the flow
    out["ended_by"] = None if by is None else ("opener", "other")[by ^ link.flip]
    for column, name in _PARAMETERS.items():
        out[name] = (report["negotiated"] or {}).get(column)
    for direction, prefix in enumerate(("opener", "other")):
        end, said = flow.ends[direction], report["ends"][direction ^ link.flip]
        out |= ip_columns(end, prefix)
        for name in ("zid", "role", "version", "lease_ms", "initial_sn", "messages", "bytes"):
            out[f"{prefix}_{name}"] = said[name]
    return out
