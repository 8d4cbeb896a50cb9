"""One line per message, with all that it says: that of `--long`, and of pasted bytes."""

from operator import itemgetter
from typing import Any

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


def summary(row: Row, style: Style, limit: int, data: bytes = b"") -> str:
    """What a message says, in a line; `data` is shown if no message can be told in it."""
    name = f"{style.message}{row['message']}{style.end}"
    if row["message"] is None:
        name = f"{style.error}undecoded{style.end}: {shown_bytes(data)}".rstrip()
    if row["layer"] == "network":
        name = "  " + name
    words = [name]
    if row.get("body"):
        body = row["body"] + (f" {row['reply_body']}" if row.get("reply_body") else "")
        words.append(f"{style.message}{body}{style.end}")
    if text := key(row):
        words.append(f"{style.value}{text}{style.end}")
    if row.get("parameters") is not None:
        words.append(f"?{safe(row['parameters'])}")
    if row["layer"] == "transport" and "sn" in row:
        words.append(f"sn {row['sn']} {row.get('reliability', '')} {row.get('priority', '')}".rstrip())
    words += [f"{name} {column_text(row[name])}" for name in _NAMES if row.get(name) is not None]
    if row.get("payload") is not None:
        words.append(payload(row["payload"], row.get("encoding", ""), limit))
        if row.get("encoding") and row["encoding"] != "zenoh/bytes":
            words.append(f"{style.dim}{safe(row['encoding'])}{style.end}")
    if "findings" in row:
        for finding, text in gathered(row["findings"], itemgetter("code"), itemgetter("message")):
            colour = style.severity(finding["severity"])
            words.append(f"{colour}[{finding['severity']}: {safe(text)}]{style.end}")
    return "  ".join(words)


def shown_bytes(data: bytes) -> str:
    """The first bytes of a batch that couldn't be decoded, with their number."""
    return f"{count(len(data))}  {data[:_SHOWN].hex(' ')}{' ..' if len(data) > _SHOWN else ''}"


def column_text(value: Any) -> str:
    """A value of a column."""
    if isinstance(value, list):
        return ",".join(safe(str(item)) for item in value)
    return quoted(value) if isinstance(value, str) and " " in value else safe(str(value))
