"""The rows of `findings`. Those about a whole file are made in `file_stats`."""

from typing import Any

from zdissect.dissection import Dissection, Finding, Notice
from zdissect.export.tables import TABLES_VERSION


def finding_row(finding: Finding) -> dict[str, Any]:
    """The row of a finding."""
    rule, text, item, start, stop = finding
    base = item.tape.start if isinstance(item, Dissection) else 0
    nowhere = isinstance(item, Notice)
    return {
        "file": item.frame.source,
        "frame_number": item.frame.number,
        "ts": item.frame.ts_ns // 1000,
        "ts_ns": item.frame.ts_ns,
        "flow_id": item.flow.id,
        "buffer": None if nowhere else item.buffer.name if isinstance(item, Dissection) else "stream",
        "offset": None if nowhere else start - base,
        "length": None if nowhere else stop - start,
        "severity": rule.severity,
        "group": rule.group,
        "code": rule.code,
        "message": text,
        "schema_version": TABLES_VERSION,
    }
