"""One line per message, with all that it says: that of `--long`, and of pasted bytes."""

from operator import itemgetter
from typing import Any, NamedTuple

from zdissect.engine.messages import Row
from zdissect.output.repeated_findings import gathered
from zdissect.output.style import Style
from zdissect.output.text import count, payload, quoted, safe, unresolved

_NAMES = ("request_id", "interest_id", "interest_mode", "expr_id", "entity_id", "target", "consolidation", "budget",
          "timeout_ms", "version", "whatami", "zid", "resolution_sn", "batch_size", "lease_ms", "initial_sn", "patch",
          "close_reason", "locators")  # fmt: skip
_SHOWN = 16
"""Bytes shown of a batch that couldn't be decoded."""


def key(row: Row) -> str:
    """The key expression of a message: resolved, or `?9/q` (`?9` stands for a declared id that isn't known here)."""
    if row.get("key_expr") is not None:
        return safe(row["key_expr"])
    return unresolved(row) if row.get("key_scope") is not None else ""


class Words(NamedTuple):
    """What a line says that comes from columns which many messages share."""

    begin: str
    """Name, body, key and parameters."""
    channel: str | None
    """What stands after the sequence number of a transport message; None for others."""
    others: str
    encoding: str
    """That of the payload, and..."""
    encoded: str
    """... what is said of it after the payload."""


def words(row: Row, style: Style, data: bytes = b"") -> Words:
    """What a line says that comes from a row, or from that of a template; `data` as for `summary`."""
    name = f"{style.message}{row['message']}{style.end}"
    if row["message"] is None:
        name = f"{style.error}undecoded{style.end}: {shown_bytes(data)}".rstrip()
    begin = [f"  {name}" if row["layer"] == "network" else name]
    if row.get("body"):
        body = row["body"] + (f" {row['reply_body']}" if row.get("reply_body") else "")
        begin.append(f"{style.message}{body}{style.end}")
    if text := key(row):
        begin.append(f"{style.value}{text}{style.end}")
    if row.get("parameters") is not None:
        begin.append(f"?{safe(row['parameters'])}")
    channel = None
    if row["layer"] == "transport":
        channel = f" {row.get('reliability', '')} {row.get('priority', '')}".rstrip()
    others = "".join([f"  {name} {column_text(row[name])}" for name in _NAMES if row.get(name) is not None])
    encoding = row.get("encoding") or ""
    encoded = f"  {style.dim}{safe(encoding)}{style.end}" if encoding and encoding != "zenoh/bytes" else ""
    return Words("  ".join(begin), channel, others, encoding, encoded)


def said(words: Words, sn: int | None, data: bytes | None, limit: int) -> str:
    """A line without findings: what is shared, with sequence number and payload of a message."""
    begin, channel, others, encoding, encoded = words
    order = f"  sn {sn}{channel}" if channel is not None and sn is not None else ""
    if data is None:
        return f"{begin}{order}{others}"
    return f"{begin}{order}{others}  {payload(data, encoding, limit)}{encoded}"


def summary(row: Row, style: Style, limit: int, data: bytes = b"") -> str:
    """What a message says, in a line; `data` is shown if no message can be told in it."""
    parts = [said(words(row, style, data), row.get("sn"), row.get("payload"), limit)]
    for finding, text in gathered(row.get("findings", ()), itemgetter("code"), itemgetter("message")):
        parts.append(f"{style.severity(finding['severity'])}[{finding['severity']}: {safe(text)}]{style.end}")
    return "  ".join(parts)


def shown_bytes(data: bytes) -> str:
    """The first bytes of a batch that couldn't be decoded, with their number."""
    return f"{count(len(data))}  {data[:_SHOWN].hex(' ')}{' ..' if len(data) > _SHOWN else ''}"


def column_text(value: Any) -> str:
    """A value of a column."""
    if isinstance(value, list):
        return ",".join(safe(str(item)) for item in value)
    return quoted(value) if isinstance(value, str) and " " in value else safe(str(value))
