"""What a first pass over a capture notes: which frames the selected messages came from, and which others these need.

Memory: eight bytes per frame, and what is needed for the selected messages, for declarations, requests and handshakes.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from zdissect.dissection import Dissection, Item, findings
from zdissect.engine.messages import DecodedMessage
from zdissect.flow.conversation import Flow

Select = Callable[[Item], list[bool]]
"""Tells for each message of an item whether it is selected; for what has no messages, one answer."""

REFERENCES = ("key_frame", "request_frame", "interest_frame")
"""Columns that name frames that a message can't be understood without."""
MOST_COMMENTS = 20
"""Findings of a frame that are noted."""
_NONE: set[int] = set()


@dataclass(slots=True)
class ConversationPart:
    """What is selected of a conversation, and what it needs."""

    flow: Flow
    selected: set[int] = field(default_factory=set)
    messages: set[int] = field(default_factory=set)
    """Fingerprints of the selected messages."""
    keys: set[str] = field(default_factory=set)
    """Keys that they are about."""
    needs: set[int] = field(default_factory=set)
    """Frames that they refer to."""
    openings: set[int] = field(default_factory=set)
    """Frames of its handshakes and SYNs."""
    declarations: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Frames that declare subscribers and the like, by key."""


class Index:
    """What is known of a capture. Frames are numbered through all files, from 1."""

    def __init__(self, select: Select) -> None:
        self.select = select
        self.parts: dict[str, ConversationPart] = {}
        """By flow."""
        self.flows: list[str] = []
        self.numbers: dict[str, int] = {}
        self.of_frame = array("q")
        """For each frame the place of its flow in `flows`; -1 if it has none."""
        self.units: dict[int, set[int]] = {}
        """By the frame that completes what others refer to: all frames that this came from."""
        self.pieces: dict[int, set[int]] = {}
        """By the frame that completes a fragment of a message that isn't complete: all frames that it came from."""
        self.references: dict[int, set[int]] = {}
        """By frame: those that what is in it refers to."""
        self.comments: defaultdict[int, list[str]] = defaultdict(list)
        """Findings, by frame."""

    def frame(self, flow: Flow | None, opens: bool) -> None:
        """Takes the next frame, and the conversation that it belongs to; `opens`: it is a SYN."""
        if flow is None:
            self.of_frame.append(-1)
            return
        if flow.id not in self.numbers:
            self.numbers[flow.id] = len(self.flows)
            self.flows.append(flow.id)
        self.of_frame.append(self.numbers[flow.id])
        if opens:
            self.part(flow).openings.add(len(self.of_frame))

    def part(self, flow: Flow) -> ConversationPart:
        """What is known of a conversation."""
        return self.parts.get(flow.id) or self.parts.setdefault(flow.id, ConversationPart(flow))

    def item(self, item: Item) -> None:
        """Takes what the dissection of a frame gives."""
        number = item.frame.number
        for found in findings(item):
            if len(self.comments[number]) < MOST_COMMENTS:
                self.comments[number].append(f"{found.rule.severity}: {found.rule.code}: {found.message}")
        chosen = self.select(item)
        part = self.part(item.flow)
        if not isinstance(item, Dissection) or not item.messages:
            if any(chosen):
                part.selected.update(item.frames if isinstance(item, Dissection) else (number,))
            return
        frames = self.carriers(item)
        for message, selected in zip(item.messages, chosen, strict=True):
            if selected:
                part.selected |= frames
                self.selected(part, item, message)
            self.message(part, item, message.row, frames)

    def carriers(self, item: Dissection) -> set[int]:
        """The frames that an item came from. A message in fragments has a frame for each, the one that completes it;
        each may have come in several, too.
        """
        out, number = set(item.frames), item.frame.number
        if item.messages[0].row.get("fragments"):
            for one in item.frames:  # what comes after it in this frame may be the first fragment of another message
                out |= self.pieces.get(one, _NONE) if one == number else self.pieces.pop(one, _NONE)
        return out

    def selected(self, part: ConversationPart, item: Dissection, message: DecodedMessage) -> None:
        """Notes what a selected message is, and what it refers to."""
        row = message.row
        part.messages.add(fingerprint(item, row))
        part.needs.update(row[name] for name in REFERENCES if row.get(name))
        if row.get("key_expr"):
            part.keys.add(row["key_expr"])

    def message(self, part: ConversationPart, item: Dissection, row: dict[str, Any], frames: set[int]) -> None:
        """Notes what others may need of a message."""
        name, body, number = row["message"], row.get("body") or "", item.frame.number
        if name is None:
            return
        if name.startswith(("INIT", "OPEN", "JOIN")):
            if name != "JOIN" or len(part.openings) < 2:
                part.openings |= frames
        elif name == "FRAGMENT":
            if len(frames) > 1:
                self.pieces[number] = self.pieces.get(number, _NONE) | frames
        elif name in ("REQUEST", "INTEREST") or body.startswith("D_"):
            references = {row[one] for one in REFERENCES if row.get(one)}
            if references:
                self.references.setdefault(number, set()).update(references)
            if len(frames) > 1:
                self.units[number] = self.units.get(number, _NONE) | frames
            if body.startswith("D_") and body != "D_KEYEXPR" and row.get("key_expr"):
                part.declarations[row["key_expr"]].update((number, *frames))


def fingerprint(item: Dissection, row: dict[str, Any]) -> int:
    """By what a message is known again: where it is, what it is, and its key."""
    place = item.frame.number, item.buffer.name, row["offset"], row["message"], row.get("body"), row.get("key_expr")
    return hash((*place, row.get("payload_len"), row.get("length")))


def whole(index: Index, flows: Iterable[str]) -> set[int]:
    """All frames of conversations, up to the last that is selected of each."""
    last = {index.numbers[flow]: max(index.parts[flow].selected) for flow in flows if flow in index.numbers}
    return {number for number, flow in enumerate(index.of_frame, 1) if number <= last.get(flow, 0)}
