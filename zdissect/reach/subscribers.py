"""Which subscribers the neighbours of a node have declared to it, at a time."""

from dataclasses import dataclass
from typing import NamedTuple

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.flow.conversation import Flow
from zdissect.session.keyexprs import intersects
from zdissect.stats.same_query import Hop, hop_of

MOST_SUBSCRIBERS = 100_000
"""Subscribers that are known at once; what is declared beyond that isn't expected to be served."""
MOST_ANSWERS = 100_000
"""Answers that are remembered until something is declared."""
MOST_COMPARED = 5_000_000
"""Most keys that are compared with subscribers, in all: some ten seconds. After that it isn't looked who subscribes."""
SETTLED_NS = 50_000_000
"""Time after which a node has taken a declaration into account."""


class Subscriber(NamedTuple):
    """A subscriber that a neighbour has declared to a node."""

    hop: Hop
    """(who declared it, to whom)."""
    role: str | None
    """Role of who declared it."""
    key: str
    frame: int
    now_ns: int
    flow: Flow


@dataclass(frozen=True, slots=True)
class _Identity:
    hop: Hop
    ident: int
    key: str | None
    """Its key, where declarations have no ids (notes 6.1)."""


class Subscribers:
    """Those of a capture, as it goes on."""

    def __init__(self) -> None:
        self.alive: dict[_Identity, Subscriber] = {}
        self.by_node: dict[str, dict[_Identity, Subscriber]] = {}
        """Those that were declared to each node."""
        self.closed: set[str] = set()
        """Flows on which a CLOSE was said."""
        self.known: dict[tuple[str, str], tuple[Subscriber, ...]] = {}
        """What `of` found, since the last change."""
        self.compared = 0

    def feed(self, item: Dissection, row: Row) -> None:
        """Takes a DECLARE or CLOSE."""
        if row["message"] == "CLOSE":
            self.closed.add(item.flow.id)
            return
        body, ident = row.get("body"), row.get("entity_id")
        if ident is None or body not in ("D_SUBSCRIBER", "U_SUBSCRIBER"):
            return
        hop, key = hop_of(item, row), row.get("key_expr")
        identity = _Identity(hop, ident, None if ident else key)
        known = self.alive.pop(identity, None)
        self.by_node.get(hop[1], {}).pop(identity, None)
        if body == "D_SUBSCRIBER" and key and len(self.alive) < MOST_SUBSCRIBERS:
            frame = item.frame
            since = known if known is not None and known.key == key and known.flow is item.flow else None
            number, now_ns = (since.frame, since.now_ns) if since is not None else (frame.number, frame.now_ns)
            made = Subscriber(hop, row.get("src_role"), key, number, now_ns, item.flow)
            self.alive[identity] = self.by_node.setdefault(hop[1], {})[identity] = made
        self.known.clear()

    def of(self, node: str, key: str, now_ns: int) -> dict[str, Subscriber]:
        """The neighbours to which a node should pass a sample on, each with a subscriber of it; by their names."""
        found = self.known.get((node, key))
        if found is None:
            if len(self.known) >= MOST_ANSWERS:
                self.known.clear()
            there = self.by_node.get(node, {}).values()
            self.compared += len(there)
            if self.exhausted:
                return {}
            found = self.known[node, key] = tuple(one for one in there if intersects(one.key, key))
        settled = (one for one in found if now_ns - one.now_ns >= SETTLED_NS and not self.over(one.flow, now_ns))
        return {one.hop[0]: one for one in settled}

    @property
    def exhausted(self) -> bool:
        """Whether so much was compared that it isn't looked any more who subscribes."""
        return self.compared > MOST_COMPARED

    def over(self, flow: Flow, now_ns: int) -> bool:
        """Whether a flow has ended by a time."""
        ended = (ended_ns for _, how, ended_ns in flow.endings if how != "capture")
        return flow.id in self.closed or any(ended_ns <= now_ns for ended_ns in ended)
