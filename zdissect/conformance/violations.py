"""Findings that count, by who broke which rule: repeats are one violation, with the bytes of the first."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from zdissect.conformance.reactions import Reactions
from zdissect.conformance.terms import VerdictTerms
from zdissect.dissection import Dissection, Item, Notice, Skip
from zdissect.grammar.profiles import duty
from zdissect.grammar.rule import CAPTURE
from zdissect.listing import FindingListing
from zdissect.listing.listing import Entry
from zdissect.records import Frame
from zdissect.session.liveness import OTHER_SIDE

MOST_VIOLATIONS = 10_000
"""Violations that are told apart; what comes after them is only counted."""
MOST_FRAMES = 10
"""Frames that are named of a violation."""
MOST_BEFORE = 8
"""Bytes that are kept of what is before a place where nothing is left."""
MOST_BYTES = 32
"""Bytes that are kept of a violation."""

_UNANSWERED = ("no-final", "interest-unanswered")
"""Rules whose findings are about who asks, and which the other side breaks."""
_SILENT = "lease-exceeded"
_UNSAID = (*_UNANSWERED, _SILENT)
"""Rules that are broken by what isn't said."""


@dataclass(slots=True, eq=False)
class Violation:
    """A rule that a side of a conversation broke, once or again and again, with the same kind of message."""

    code: str
    severity: str
    """By the profile."""
    direction: int
    """The side that broke it."""
    first: Entry
    """The finding of the first time, as `zdissect findings` has it."""
    frame: Frame
    """Its frame, without bytes."""
    place: str
    """The field that it points at, by its name; empty if it is about no single field."""
    buffer: str
    """What the bytes are part of: tcp, udp, decompressed...; empty if it is about no bytes."""
    start: int
    """Where they begin there."""
    size: int
    """How many they are."""
    data: bytes
    """The first of them; where there are none, because something is missing, the last ones before that."""
    count: int = 0
    frames: list[int] = field(default_factory=list)
    last: int = 0


def who(code: str, text: str, direction: int, notice: bool) -> int:
    """The side that broke a rule.

    Args:
        code: The rule.
        text: What the finding says.
        direction: Of the message that it is at, or the side that the notice is about.
        notice: Whether it is a notice.
    """
    if code not in _UNSAID:
        return direction
    subject = 1 - direction if not notice and text.startswith(OTHER_SIDE) else direction
    return subject if code == _SILENT else 1 - subject


class Violations(FindingListing):
    """Collects violations by the terms of a verdict, and what of the capture no rule can see."""

    def __init__(self, terms: VerdictTerms) -> None:
        super().__init__()
        self.terms = terms
        self.known: dict[tuple[str, int, str, str | None, str | None], Violation] = {}
        self.reactions = Reactions()
        self.lacks: dict[str, Counter[str]] = {}
        """By conversation, how often the capture lacks something, by rule."""
        self.waived: Counter[str] = Counter()
        """Findings that don't count by the profile, by rule."""
        self.messages = 0
        self.nodes: set[str] = set()
        """The ZenohIDs of nodes: here, of those that were scouting; in a report, all of them."""

    def take(self, item: Item, chosen: Sequence[bool] | None) -> None:
        if isinstance(item, Dissection):
            self.messages += len(item.messages)
            if item.scouting and len(self.nodes) < MOST_VIOLATIONS:
                self.nodes |= {message.row["zid"] for message in item.messages if message.row.get("zid")}
        self.reactions.feed(item)
        super().take(item, chosen)

    def keep(self, item: Item, entry: Entry) -> None:
        code, text, flow = entry["code"], entry["text"], item.flow
        severity = self.terms.profile.severity(code)
        if entry["group"] == CAPTURE:
            self.lacks.setdefault(flow.id, Counter())[code] += 1
            return
        if severity is None:
            self.waived[code] += 1
            return
        if self.terms.judged and not self.terms.zid and duty(code) != self.terms.judged:
            return
        if code in _UNSAID:  # the message that shows it has nothing to do with it
            entry |= {"message": None, "key_expr": None, "src": None}
        direction = who(code, text, item.direction, isinstance(item, Notice))
        source = None if flow.id else entry.get("src") or str(item.frame.number)
        key = (flow.id, direction, code, entry.get("message"), source)
        violation = self.known.get(key)
        if violation is None:
            if len(self.known) >= MOST_VIOLATIONS:
                self.unlisted += 1
                return
            violation = self.known[key] = self._first(item, entry, severity, direction)
        violation.count += 1
        violation.last = item.frame.number
        if len(violation.frames) < MOST_FRAMES and item.frame.number not in violation.frames[-1:]:
            violation.frames.append(item.frame.number)

    def _first(self, item: Item, entry: Entry, severity: str, direction: int) -> Violation:
        """A new violation; what the other side does from now on is its reaction."""
        super().keep(item, entry)
        if self.found:
            self.found.pop()  # its place is here
        place, buffer, start, stop, data = _bytes(item, entry)
        violation = Violation(
            entry["code"], severity, direction, entry, item.frame.bare(),
            place, buffer, start, stop - start, data[:MOST_BYTES],
        )  # fmt: skip
        self.reactions.await_one(violation, item.flow, 1 - direction)
        return violation


def _bytes(item: Item, entry: Entry) -> tuple[str, str, int, int, bytes]:
    """(field, buffer, start, stop, bytes) that a finding is about."""
    if isinstance(item, Skip):
        return "", f"{item.flow.link} stream", item.offset, item.offset + item.size, item.data
    if isinstance(item, Notice) or entry["code"] in _UNSAID:
        return "", "", 0, 0, b""
    tape, at = item.tape, entry["offset"]
    places = [
        (start, stop) for code, start, stop, text in tape.remarks if (code, text) == (entry["code"], entry["text"])
    ]
    start, stop = next((one for one in places if one[0] - tape.start == at), places[0] if places else (at, at))
    spans = [span[0].path for span in tape.spans if span[2:4] == (start, stop) and span[0].kind not in _WHOLES]
    first = start if stop > start else max(tape.start, start - MOST_BEFORE)
    return spans[-1] if spans else "", item.buffer.name, start, stop, bytes(tape.data[first : max(start, stop)])


_WHOLES = ("message", "unit")
