"""What dissection says of a conversation, in the terms of tests."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.packets import CaptureBuilder
from zdissect.dissection import Dissection, Finding, Item, Notice, Skip, findings
from zdissect.engine.messages import DecodedMessage
from zdissect.pipeline import Options, Pipeline, dissect
from zdissect.records import Frame
from zdissect.table import Table

Row = dict[str, Any]

WHERE = frozenset({
    "file", "frame_number", "ts", "ts_ns", "message_index", "flow_id", "src_ip", "src_port", "dst_ip", "dst_port",
    "initiator", "request_frame", "response_time_ns", "key_frame", "interest_frame", "fragments", "link", "findings",
})  # fmt: skip
"""Columns that say where and when, and not what."""


class LocatedFinding(NamedTuple):
    """A finding: how bad it is, the message it belongs to, and the field and bytes that it points at."""

    code: str
    severity: str
    message: str
    field: str
    data: bytes


@dataclass
class Observed:
    """The items of a dissection."""

    items: list[Item]

    @property
    def messages(self) -> list[DecodedMessage]:
        return [message for item in self.items if isinstance(item, Dissection) for message in item.messages]

    @property
    def rows(self) -> list[Row]:
        """Rows of the message table."""
        table = Table()
        return [row for item in self.items if isinstance(item, Dissection) for row in table.rows(item)]

    @property
    def names(self) -> list[str]:
        """Names of all messages."""
        return [message.row["message"] for message in self.messages]

    @property
    def keys(self) -> list[str | None]:
        """Key expressions of all messages that have one, or would if it were known."""
        return [message.row.get("key_expr") for message in self.messages if "key_scope" in message.row]

    def of(self, name: str) -> list[Row]:
        """Rows of one kind of message, or of one body."""
        return [row for row in self.rows if name in (row["message"], row.get("body"))]

    @property
    def findings(self) -> list[Finding]:
        return [finding for item in self.items for finding in findings(item)]

    @property
    def codes(self) -> list[str]:
        return [finding.rule.code for finding in self.findings]

    @property
    def summaries(self) -> list[tuple[int, str, list[str]]]:
        """Frame, messages (`-` where none can be told) and findings of each item."""
        ones = [(item.frame.number, Observed([item])) for item in self.items]
        return [(number, " ".join(name or "-" for name in one.names), one.codes) for number, one in ones]

    @property
    def located(self) -> list[LocatedFinding]:
        return [_located(finding) for finding in self.findings]

    @property
    def skips(self) -> list[Skip]:
        return [item for item in self.items if isinstance(item, Skip)]

    @property
    def notices(self) -> list[Notice]:
        return [item for item in self.items if isinstance(item, Notice)]


def _located(finding: Finding) -> LocatedFinding:
    code, severity = finding.rule.code, finding.rule.severity
    item = finding.item
    if isinstance(item, Notice):
        return LocatedFinding(code, severity, "", "", b"")
    if isinstance(item, Skip):
        return LocatedFinding(code, severity, "", "", item.data)
    here = finding.start, finding.stop
    spans = (span for span in item.tape.spans if span[2:4] == here and span[0].kind not in ("message", "unit"))
    field = next((span[0].path for span in spans), "")
    owner = ""
    for message in item.messages:
        start = item.tape.start + message.row["offset"]
        if start <= finding.start:
            owner = message.row["message"] or ""
    return LocatedFinding(code, severity, owner, field.removeprefix("zenoh."), item.tape.data[slice(*here)])


def observed(what: Any, options: Options | None = None) -> Observed:
    """Dissects a conversation, a capture in the making, or frames."""
    frames: Iterable[Frame] = what
    if isinstance(what, CaptureBuilder):
        frames = what.frames
    elif hasattr(what, "capture"):
        frames = what.capture.frames
    return Observed(list(dissect(frames, options)))


def assert_healthy(what: Any, options: Options | None = None) -> Observed:
    """Messages are read, and nothing is found: a capture that nothing is read from has no findings either."""
    found = observed(what, options)
    assert found.names
    assert not found.codes, found.located
    return found


def dissected(capture: CaptureBuilder, options: Options | None = None) -> tuple[Observed, dict[str, int]]:
    """What is shown of a capture in the making, and how many conversations of other protocols aren't."""
    pipeline = Pipeline(options or Options())
    items: list[Item] = []
    for frame in capture.frames:
        items += pipeline.feed(frame)
    items += pipeline.close()
    return Observed(items), dict(pipeline.others())


def content(rows: Iterable[Row]) -> list[tuple[tuple[str, str], ...]]:
    """Rows without what says where and when they were seen, to be compared across captures."""
    return [tuple(sorted((name, repr(cell)) for name, cell in row.items() if name not in WHERE)) for row in rows]
