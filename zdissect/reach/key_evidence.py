"""What a capture tells about a key: who sends on it, who subscribes to it, who asked about it; and who is linked."""

from dataclasses import dataclass, field
from typing import Any

from zdissect.dissection import Dissection, Item
from zdissect.engine.messages import DecodedMessage, Row
from zdissect.pipeline import Pipeline
from zdissect.reach.sample_hops import Sample, SampleHops
from zdissect.session.declared_options import interest_options
from zdissect.session.keyexprs import intersects
from zdissect.stats.same_query import Hop, hop_of, spelling
from zdissect.stats.sessions import SessionStats

MOST_KEPT = 100_000
"""Samples, declarations, interests and other keys that are kept, each."""


@dataclass(slots=True, eq=False)
class DeclaredSubscriber:
    """A subscriber that has something in common with the key."""

    hop: Hop
    """(who declares it, to whom)."""
    key: str
    frame: int
    now_ns: int
    until_frame: int | None = None
    until_ns: int | None = None


@dataclass(slots=True, eq=False)
class AskedInterest:
    """An interest in subscribers of the key, as publishers of clients have it."""

    hop: Hop
    key: str | None
    """None for all keys."""
    frame: int
    final_frame: int | None = None
    answers: list[int] = field(default_factory=list)
    """Frames with subscribers that answer it."""


class Evidence:
    """Collects; fed with all items of a capture.

    Args:
        key: The key expression that it is about.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.hops = SampleHops()
        self.samples: list[Sample] = []
        self.declared: list[DeclaredSubscriber] = []
        self.alive: dict[tuple[Hop, int, str | None], DeclaredSubscriber] = {}
        self.asked: dict[tuple[Hop, int], AskedInterest] = {}
        self.roles: dict[str, str | None] = {}
        """Of all nodes that said something, or were spoken to."""
        self.said: dict[str, int] = {}
        """Messages of each node."""
        self.other_keys: dict[str, dict[str, None]] = {}
        """What each node subscribes to that has nothing in common with the key."""
        self.spellings: set[str] = set()
        """What stays the same of the keys of samples wherever they go."""
        self.sent_keys: dict[str, None] = {}
        """Keys of samples that have nothing in common with it."""
        self.unresolved: dict[Hop, int] = {}
        """Frame of the first sample on each hop whose key isn't known."""
        self.left = 0
        """What wasn't kept."""
        self.end_ns = 0
        self.stats = SessionStats()
        self.sessions: list[dict[str, Any]] = []
        self.gaps: set[str] = set()
        """Flows of which the capture lacks bytes, or the beginning."""

    def feed(self, item: Item) -> None:
        """Takes what a pipeline gave that keeps its history."""
        self.stats.feed(item)
        if not isinstance(item, Dissection):
            return
        for message in item.messages:
            shared = message.shared
            if shared["layer"] == "scouting" or shared["message"] is None:
                continue
            self.node(item, shared)
            name = shared["message"]
            if name == "PUSH":
                self.sample(item, message)
            elif name == "DECLARE":
                self.declare(item, message.row)
            elif name == "INTEREST":
                self.interest(item, message)
        for sample in self.hops.over(item.frame.now_ns):
            self.keep(sample)

    def node(self, item: Dissection, row: Row) -> None:
        """Notes who speaks."""
        hop = hop_of(item, row)
        for name, role in zip(hop, (row.get("src_role"), row.get("dst_role")), strict=True):
            if role is not None or (name not in self.roles and len(self.roles) < MOST_KEPT):
                self.roles[name] = role
        if hop[0] in self.said or len(self.said) < MOST_KEPT:
            self.said[hop[0]] = self.said.get(hop[0], 0) + 1

    def sample(self, item: Dissection, message: DecodedMessage) -> None:
        """Takes a PUSH."""
        key = message.row.get("key_expr")
        if key is None:
            self.unresolved.setdefault(hop_of(item, message.row), item.frame.number)
        elif intersects(key, self.key):
            if len(self.spellings) < MOST_KEPT:
                self.spellings.add(spelling(key))
            self.hops.feed(item, message, chosen=True)
        elif spelling(key) in self.spellings:  # perhaps one of these, whose key a node has changed
            self.hops.feed(item, message, chosen=False)
        elif len(self.sent_keys) < MOST_KEPT:
            self.sent_keys[key] = None

    def keep(self, sample: Sample) -> None:
        """Keeps a sample of the key to which nothing belongs any more, if there is room."""
        if not sample.chosen:
            return
        if len(self.samples) < MOST_KEPT:
            self.samples.append(sample)
        else:
            self.left += 1

    def declare(self, item: Dissection, row: Row) -> None:
        """Takes a DECLARE."""
        hop, body, ident = hop_of(item, row), row.get("body"), row.get("entity_id")
        interest = self.asked.get((hop[::-1], row.get("interest_id") or 0))
        if body == "D_FINAL" and interest is not None:
            interest.final_frame = interest.final_frame or item.frame.number
        if ident is None or body not in ("D_SUBSCRIBER", "U_SUBSCRIBER"):
            return
        key, frame = row.get("key_expr"), item.frame
        place = hop, ident, None if ident else key
        known = self.alive.pop(place, None)
        if known is not None:
            known.until_frame, known.until_ns = frame.number, frame.now_ns
        if body == "U_SUBSCRIBER" or key is None:
            return
        if not intersects(key, self.key):
            others = self.other_keys.setdefault(hop[0], {})
            if len(others) < MOST_KEPT // 100:
                others[key] = None
            return
        if interest is not None:
            interest.answers.append(frame.number)
        if known is not None and known.key == key:
            known.until_frame = known.until_ns = None  # said again
            self.alive[place] = known
        elif len(self.declared) < MOST_KEPT:
            self.alive[place] = one = DeclaredSubscriber(hop, key, frame.number, frame.now_ns)
            self.declared.append(one)
        else:
            self.left += 1

    def interest(self, item: Dissection, message: DecodedMessage) -> None:
        """Takes an INTEREST."""
        row = message.row
        ident, key, hop = row.get("interest_id"), row.get("key_expr"), hop_of(item, row)
        if ident is None or "subscribers" not in interest_options(message) or row.get("src_role") != "client":
            return
        if (key is None or intersects(key, self.key)) and len(self.asked) < MOST_KEPT:
            self.asked[hop, ident] = AskedInterest(hop, key, item.frame.number)

    def close(self, pipeline: Pipeline, now_ns: int) -> None:
        """The capture is over, at a time as deadlines count it."""
        self.end_ns = now_ns
        for sample in self.hops.over(None):
            self.keep(sample)
        self.samples.sort(key=lambda sample: sample.frame.number)
        links = pipeline.all_links()
        self.sessions = self.stats.report(links, now_ns)
        refused = {link.flow.id for link in links if link.refused(0) or link.refused(1)}
        self.sessions = [one for one in self.sessions if not {link["flow_id"] for link in one["links"]} <= refused]
        gaps = {link.flow.id for link in links if link.session.gaps}
        for one in self.sessions:
            flows = {link["flow_id"] for link in one["links"]}
            if flows & gaps or one["handshake"] in ("partial", "none"):
                self.gaps |= flows
