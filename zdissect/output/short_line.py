"""What a message says, in a line that is fit to read: its name, key, what matters of it, its payload, its findings.

PUSH, REQUEST, RESPONSE and DECLARE go by the names of their bodies. What is as it usually is isn't said.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

from zdissect.engine.messages import Row
from zdissect.output.cutting import Part
from zdissect.output.line import column_text, key, shown_bytes
from zdissect.output.repeated_findings import gathered
from zdissect.output.style import Style
from zdissect.output.text import payload_text, safe

_NAME_COLUMNS, _KEY_COLUMNS = 12, 20
"""What names and keys are padded to, so that what follows is aligned."""
_NARROW = 5
"""The same for names where there is little room, and none for keys: enough for PUT, DEL, QUERY, REPLY."""
_USUAL = {"version": 9, "target": "BestMatching", "resolution_sn": 32, "reliability": "reliable", "priority": "Data"}
"""What isn't said."""

_WORDS = {"whatami": "", "zid": "", "locators": "", "request_id": "id", "expr_id": "id", "entity_id": "id",
          "interest_id": "interest", "interest_mode": "", "target": "target", "consolidation": "", "budget": "budget",
          "timeout_ms": "timeout", "close_reason": "", "version": "version", "resolution_sn": "sn bits",
          "batch_size": "batch", "lease_ms": "lease", "initial_sn": "sn", "patch": "patch"}  # fmt: skip
"""The other columns that are shown, in order, and the word before the value."""

_OTHERS = {
    "PUSH": (), "FRAME": (), "FRAGMENT": (), "KEEP_ALIVE": (),
    "REQUEST": ("request_id", "target", "consolidation", "budget", "timeout_ms"),
    "RESPONSE": ("request_id",), "RESPONSE_FINAL": ("request_id",),
    "DECLARE": ("expr_id", "entity_id", "interest_id"),
}  # fmt: skip
"""Those of frequent messages; others may have any."""

_KINDS = {
    "PUSH": "data", "REQUEST": "query", "RESPONSE": "query", "RESPONSE_FINAL": "query", "DECLARE": "declaration",
    "INTEREST": "declaration",
}  # fmt: skip
"""The colour of a message; that of all others is `transport`."""


class ShortLine:
    """Makes the parts of a line.

    Args:
        style: The colours.
        limit: How many bytes of a payload are shown.
        wide: Whether there is room for columns.
    """

    def __init__(self, style: Style, limit: int, wide: bool) -> None:
        self.limit = limit
        self.name_columns, self.key_columns = (_NAME_COLUMNS, _KEY_COLUMNS) if wide else (_NARROW, 0)
        self.style = style
        self.colours = {name: str(getattr(style, kind)) for name, kind in _KINDS.items()}

    def parts(self, row: Row, data: bytes, around: Row | None) -> list[Part]:
        """Its text without the findings.

        Args:
            data: The bytes of the batch, shown if no message can be told in it.
            around: The row of the FRAME that begins with it; None for all that follow in that FRAME.
        """
        style, get = self.style, row.get
        name = get("body") or get("message")
        if name is None:
            return [(style.error, "undecoded"), ("", f": {shown_bytes(data)}".rstrip())]
        if get("reply_body") == "DEL":
            name = f"{name} DEL"
        parts = [(self.colours.get(row["message"], style.transport), name)]
        if text := key(row):
            if (selector := get("parameters")) is not None:
                text = f"{text}?{safe(selector)}"
            gap = " " * max(1, self.name_columns + 1 - len(name))
            parts.append((style.value, f"{gap}{text:<{self.key_columns}}"))
        elif len(name) < self.name_columns:
            parts.append(("", " " * (self.name_columns - 1 - len(name))))
        if "response_time_ns" in row:
            parts.append(("", f"  +{duration(row['response_time_ns'])} (frame {get('request_frame')})"))
        if (value := get("payload")) is not None:
            encoding = get("encoding") or ""
            rest = " …" if len(value) > self.limit else ""
            parts.append(
                ("", f"  {len(value)} B {payload_text(value, encoding, self.limit)}{rest}" if value else "  0 B")
            )
            if encoding and encoding != "zenoh/bytes":
                parts.append((style.dim, f"  {safe(encoding)}"))
        parts += [("", text) for text in _others(row)]
        if row["layer"] == "transport" and "sn" in row:
            around = row
        if around is not None:
            parts.append((style.dim, _order(around)))
        fragments = get("fragments") or []
        if len(fragments) > 1:
            parts.append((style.dim, f"  {len(fragments)} fragments from frame {fragments[0]}"))
        return parts

    def findings(self, found: list[Any]) -> list[Part]:
        """The findings of a message."""
        return [
            (self.style.severity(finding["severity"]), f"[{finding['severity']}: {safe(text)}]")
            for finding, text in gathered(found, itemgetter("code"), itemgetter("message"))
        ]


def _others(row: Row) -> Iterable[str]:
    """What else a message says, each with its gap."""
    for name in _OTHERS.get(row["message"], _WORDS):
        value = row.get(name)
        if value is not None and value != _USUAL.get(name):
            yield f"  {_WORDS[name]} {_shown(name, value)}" if _WORDS[name] else f"  {_shown(name, value)}"


def _shown(name: str, value: Any) -> str:
    if name.endswith("_ms"):
        return f"{value} ms" if value % 1000 else f"{value // 1000} s"
    return column_text(value)


def _order(row: Row) -> str:
    """The sequence number of a FRAME or FRAGMENT, with what isn't usual of it."""
    unusual = (row.get(name) for name in ("reliability", "priority"))
    return f"  sn {' '.join((str(row['sn']), *(text for text in unusual if text and text not in _USUAL.values())))}"


def duration(ns: int) -> str:
    """`0.274 ms`, `41.3 ms`, `1.25 s`."""
    if ns < 10_000_000:
        return f"{ns / 1e6:.3f} ms"
    return f"{ns / 1e6:.1f} ms" if ns < 10**9 else f"{ns / 1e9:.2f} s"


def folded_frames(rows: Sequence[Row], chosen: Sequence[bool] | None) -> Iterator[tuple[Row, Row | None]]:
    """(row of a message, that of the FRAME that it is the first one of) for the messages that have a line.

    A FRAME has one only where none of its messages has. `chosen`: which messages are shown at all; None: all.
    """
    frame, alone = None, False
    for row, wanted in zip(rows, repeat(True) if chosen is None else chosen, strict=False):
        if row["layer"] == "network":
            if wanted:
                yield row, frame
                frame = None
            continue
        if frame is not None and alone:
            yield frame, None
        frame = None
        if row["message"] == "FRAME":
            frame, alone = row, wanted
        elif wanted:
            yield row, None
    if frame is not None and alone:
        yield frame, None
