"""What a message says, in a line that is fit to read: its name, key, what matters of it, its payload, its findings.

PUSH, REQUEST, RESPONSE and DECLARE go by the names of their bodies. What is as it usually is isn't said.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from zdissect.engine.messages import DecodedMessage, Row
from zdissect.engine.templates import PAYLOAD, SN, PerTemplate
from zdissect.output.line import column_text, key, shown_bytes
from zdissect.output.repeated_findings import gathered
from zdissect.output.style import Style
from zdissect.output.text import payload_text, prose, safe
from zdissect.ros2.content import summary
from zdissect.ros2.naming import RosWords, ros_name

if TYPE_CHECKING:
    from zdissect.vector.usual_batches import UsualBatches

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


class ShortWords(NamedTuple):
    """What a line says that comes from columns which many messages share."""

    begin: str
    """Name, key, and how long the answer took."""
    reads: Callable[[bytes], str]
    """Says what a payload is, and..."""
    encoded: str
    """... what is said of its encoding after it."""
    end: str
    """The other columns, and fragments."""
    numbered: bool
    """Whether it has its own sequence number and not that of a FRAME around it."""
    unusual: str
    """What isn't usual of the channel, after the sequence number."""


class ShortLine:
    """Makes the text of a line.

    Args:
        style: The colours.
        limit: How many bytes of a payload are shown.
        wide: Whether there is room for columns.
        ros: Says what keys and payloads of ROS 2 are; None: they are shown as they are.
    """

    def __init__(self, style: Style, limit: int, wide: bool, ros: RosWords | None = None) -> None:
        self.limit = limit
        self.ros = ros
        self.name_columns, self.key_columns = (_NAME_COLUMNS, _KEY_COLUMNS) if wide else (_NARROW, 0)
        self.style = style
        self.colours = {name: str(getattr(style, kind)) for name, kind in _KINDS.items()}
        self.known = PerTemplate(self.words)

    def text(self, message: DecodedMessage, around: DecodedMessage | None) -> str:
        """Its text without the findings.

        Args:
            around: The FRAME that begins with it; None for all that follow in that FRAME.
        """
        words, payload, sn = self.told(message)
        begin, reads, encoded, end, numbered, unusual = words
        if payload is not None:
            begin = f"{begin}{reads(payload)}{encoded}"
        if around is not None:
            words, _, sn = self.told(around)
            unusual = words.unusual
        elif not numbered or sn is None:
            return begin + end
        return f"{begin}{end}{self.painted(self.style.dim, f'  sn {sn}{unusual}')}"

    def texts(self, usual: "UsualBatches", brief: bool) -> tuple[Iterator[str], list[int]]:
        """(the text of each line, the number of lines of each batch) of usual batches. A FRAME has a line only where it
        is empty, a KEEP_ALIVE not where it is to be brief."""
        whole, (kinds, kind) = usual.whole, usual.whole.kinds
        words = [self.known[one.template] for one in kinds]
        lines, around, counts = usual.folded(brief)
        ends = [
            self.painted(self.style.dim, f"  sn %d{own.unusual}") if one.template.row["message"] == "FRAME" else ""
            for own, one in zip(words, kinds, strict=True)
        ]
        columns = (
            map(words.__getitem__, kind[lines].tolist()),
            whole.column("payload", lines),
            whole.column("sn", lines),
            map([*ends, ""].__getitem__, around.tolist()),
        )
        texts = (
            f"{begin}{end}{last and last % sn}"
            if data is None
            else f"{begin}{reads(data)}{encoded}{end}{last and last % sn}"
            for (begin, reads, encoded, end, _, _), data, sn, last in zip(*columns, strict=True)
        )
        return texts, counts

    def told(self, message: DecodedMessage) -> tuple[ShortWords, bytes | None, int | None]:
        """(what is shared, payload, sequence number) of a message."""
        template = message.template
        if template is not None:
            return self.known[template], message.cell[PAYLOAD], message.cell[SN]
        row = message.row
        return self.words(row), row.get("payload"), row.get("sn")

    def undecoded(self, data: bytes) -> str:
        """The text of a batch in which no message can be told."""
        return f"{self.painted(self.style.error, 'undecoded')}: {shown_bytes(data)}".rstrip()

    def words(self, row: Row) -> ShortWords:
        """What a line says that comes from a row, or from that of a template."""
        style, get = self.style, row.get
        name = get("body") or row["message"]
        if get("reply_body") == "DEL":
            name = f"{name} DEL"
        begin = self.painted(self.colours.get(row["message"], style.transport), name)
        if text := self.key(row):
            if (selector := get("parameters")) is not None:
                text = f"{text}?{safe(selector)}"
            gap = " " * max(1, self.name_columns + 1 - len(name))
            begin += self.painted(style.value, f"{gap}{text:<{self.key_columns}}")
        else:
            begin += " " * (self.name_columns - 1 - len(name))
        if "response_time_ns" in row:
            begin += f"  +{duration(row['response_time_ns'])} (frame {get('request_frame')})"
        encoding = get("encoding") or ""
        encoded = self.painted(style.dim, f"  {safe(encoding)}") if encoding and encoding != "zenoh/bytes" else ""
        end = "".join(_others(row))
        fragments = get("fragments") or []
        if len(fragments) > 1:
            end += self.painted(style.dim, f"  {len(fragments)} fragments from frame {fragments[0]}")
        channel = (get(name) for name in ("reliability", "priority"))
        unusual = "".join([f" {text}" for text in channel if text and text not in _USUAL.values()])
        reads = partial(self.payload, encoding=encoding)
        if self.ros is not None and self.ros.carries(row):
            reads, encoded = partial(self.content, self.ros, row, reads), ""
        return ShortWords(begin, reads, encoded, end, row["layer"] == "transport", unusual)

    def key(self, row: Row) -> str:
        """The key expression; of ROS 2, its name there."""
        name = ros_name(row.get("key_expr") or "") if self.ros is not None else None
        return key(row) if name is None else safe(name)

    def content(self, ros: RosWords, row: Row, otherwise: Callable[[bytes], str], data: bytes) -> str:
        """The content of a message of ROS 2; if it isn't known, its bytes.

        Args:
            ros: Decodes it.
            row: That of the message, or of its template.
            otherwise: Shows bytes.
            data: The payload.
        """
        value = ros.value({**row, "payload": data})
        return otherwise(data) if value is None else f"  {prose(summary(value, self.limit))}"

    def payload(self, data: bytes, encoding: str) -> str:
        """Its size, and its first bytes."""
        if not data:
            return "  0 B"
        rest = " …" if len(data) > self.limit else ""
        return f"  {len(data)} B {payload_text(data, encoding, self.limit)}{rest}"

    def findings(self, found: list[Any]) -> str:
        """The findings of a message."""
        return "  ".join(
            self.painted(self.style.severity(finding["severity"]), f"[{finding['severity']}: {safe(text)}]")
            for finding, text in gathered(found, itemgetter("code"), itemgetter("message"))
        )

    def painted(self, colour: str, text: str) -> str:
        """A text in a colour, which may be empty."""
        return f"{colour}{text}{self.style.end}" if colour else text


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


def duration(ns: int) -> str:
    """`0.274 ms`, `41.3 ms`, `1.25 s`."""
    if ns < 10_000_000:
        return f"{ns / 1e6:.3f} ms"
    return f"{ns / 1e6:.1f} ms" if ns < 10**9 else f"{ns / 1e9:.2f} s"


def folded_frames(rows: Sequence[Row], chosen: Sequence[bool] | None) -> Iterator[tuple[int, int]]:
    """(index of a message, that of the FRAME that it is the first one of, else -1) for the messages that have a line.

    A FRAME has one only where none of its messages has. `chosen`: which messages are shown at all; None: all.
    """
    frame, alone = -1, False
    for place, row in enumerate(rows):
        wanted = chosen is None or chosen[place]
        if row["layer"] == "network":
            if wanted:
                yield place, frame
                frame = -1
            continue
        if frame >= 0 and alone:
            yield frame, -1
        frame = -1
        if row["message"] == "FRAME":
            frame, alone = place, wanted
        elif wanted:
            yield place, -1
    if frame >= 0 and alone:
        yield frame, -1
