"""What the sides of the sessions of a capture said, in a form that can be compared with another capture.

FRAME, FRAGMENT and KEEP_ALIVE aren't recorded: how messages share a FRAME, and when a side is silent, depends on time.
What a network message has of its FRAME is part of its content.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from zdissect.comparison.message_content import Content, content, shortened
from zdissect.comparison.varying import Names, names_of
from zdissect.dissection import Dissection, Item
from zdissect.engine.messages import DecodedMessage
from zdissect.listing.listed_findings import label
from zdissect.listing.listing import Entry, Listing
from zdissect.pipeline import Pipeline
from zdissect.stats.keys import wire_key

_CARRIERS = ("FRAME", "FRAGMENT", "KEEP_ALIVE")
MOST_COMPARED = 1000
"""Messages of a kind whose content is kept; further ones are only counted."""
MOST_CONTENTS = 50_000
"""Contents that are kept of a capture."""
MOST_KINDS = 20_000
"""Kinds that are told apart."""
_MOST_NODES = 64
"""ZenohIDs that are looked for in texts."""

_UNOPENED = {"none": "the beginning of this session", "partial": "a part of its handshake"}
"""What a capture lacks of a session, by what it has of the handshake."""

Kind = tuple[str, str]
"""What a message is, and its key: those of the same kind are compared with each other."""


@dataclass(slots=True)
class Said:
    """Messages of a kind."""

    count: int = 0
    contents: list[Content] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)
    """Their frames, as far as there are contents."""


Side = dict[Kind, Said]
"""What a side said: kinds in the order in which they came first."""


class Compared(NamedTuple):
    """A session, as it is compared."""

    number: int
    """Its number in the capture."""
    roles: tuple[str | None, str | None]
    """Of opener and acceptor."""
    title: str
    sides: tuple[Side, Side]
    lacks: str = ""
    """What the capture lacks of it; empty if it has all."""

    def without_keys(self) -> "Compared":
        """The same, with messages of all keys as one kind."""
        opener, acceptor = ({}, {})  # type: tuple[Side, Side]
        for side, said in zip((opener, acceptor), self.sides, strict=True):
            for kind, one in said.items():
                _join(side, {(kind[0], ""): one})
        return self._replace(sides=(opener, acceptor))


class Recording(Listing):
    """Records what was said, by conversation and direction. The pipeline must keep its history."""

    name = "recording"
    columns = ()

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[tuple[str, int], Side] = {}
        self.scouting: Side = {}
        self.nodes: dict[str, None] = {}
        self.interned: dict[Content, Content] = {}
        self.kinds = 0

    def take(self, item: Item, chosen: Sequence[bool] | None) -> None:
        if not isinstance(item, Dissection):
            return
        side = self.scouting if item.scouting else self.said.setdefault((item.flow.id, item.direction), {})
        for message in item.messages:
            if message.shared.get("message") not in _CARRIERS:
                self.record(side, message, item)

    def record(self, side: Side, message: DecodedMessage, item: Dissection) -> None:
        """Records a message."""
        row = message.row
        for zid in (row.get("src_zid"), row.get("zid")):
            if zid and len(self.nodes) < _MOST_NODES:
                self.nodes[zid] = None
        names = names_of(row, self.nodes)
        kind = label(row), shortened(names.key(wire_key(row)))
        said = side.get(kind)
        if said is None:
            if self.kinds >= MOST_KINDS:
                self.unlisted += 1
                return
            self.kinds += 1
            said = side[kind] = Said()
        said.count += 1
        if len(said.contents) < MOST_COMPARED and len(self.interned) < MOST_CONTENTS:
            made = self.content(message, names)
            said.contents.append(made)
            said.frames.append(item.frame.number)

    def content(self, message: DecodedMessage, names: Names) -> Content:
        """The content of a message; the same content is kept once."""
        made = content(message, names)
        return self.interned.setdefault(made, made)

    def rows(self, pipeline: Pipeline) -> list[Entry]:
        return []

    def sessions_of(self, pipeline: Pipeline) -> list[Compared]:
        """The sessions, after the pipeline's end; scouting, if there is any, is number 0."""
        links = {link.flow.id: link for link in pipeline.all_links()}
        out = [Compared(0, (None, None), "scouting", (self.scouting, {}))] if self.scouting else []
        for entry in self.sessions.report(pipeline.all_links(), self.extent.now_ns):
            sides: tuple[Side, Side] = ({}, {})
            for one in entry["links"]:
                flip = links[one["flow_id"]].flip if one["flow_id"] in links else 0
                for direction in (0, 1):
                    _join(sides[direction ^ flip], self.said.get((one["flow_id"], direction), {}))
            ends = entry["ends"]
            title = " → ".join(f"{end['role'] or '?'} {end['address']}" for end in ends)
            gaps = any(links[one["flow_id"]].session.gaps for one in entry["links"] if one["flow_id"] in links)
            lacks = "bytes of this session" if gaps else _UNOPENED.get(entry["handshake"], "")
            out.append(Compared(entry["session"], (ends[0]["role"], ends[1]["role"]), title, sides, lacks))
        return out


def _join(side: Side, more: Side) -> None:
    """Adds what a side said over another link."""
    for kind, said in more.items():
        known = side.setdefault(kind, Said())
        known.count += said.count
        known.contents += said.contents
        known.frames += said.frames
