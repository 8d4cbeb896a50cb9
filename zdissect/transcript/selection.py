"""Which messages are followed."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.session.keyexprs import intersects
from zdissect.stats.same_query import RequestKey, hop_of

CARRIERS = frozenset({"FRAME", "FRAGMENT", "KEEP_ALIVE"})
"""Messages that say nothing but what they carry, or that a node is there."""


Channel = tuple[Any, ...]
"""Reliability and priority."""


class SessionPlace(NamedTuple):
    """Where messages of a flow belong."""

    session: int
    """Number of its session."""
    flip: int
    """1 if the flow's direction 0 is the acceptor of the session."""


@dataclass(slots=True)
class Selection:
    """What is followed: an empty one follows nothing."""

    title: str
    """What it is, for people."""
    flows: frozenset[str] = frozenset()
    """All that sessions say."""
    carriers: bool = False
    """Their carriers, too."""
    key: str | None = None
    """All that is about keys that this expression has in common."""
    requests: set[RequestKey] = field(default_factory=set)
    """These, and their answers."""
    chain: "Chain | None" = None
    interests: set[tuple[Any, ...]] = field(default_factory=set)
    """Interests that were selected, whose D_FINAL belongs to them: flow, direction, id."""

    def has(self, item: Dissection, row: Row) -> bool:
        """Whether a message is followed. Messages must come in the order of the capture."""
        if item.flow.id in self.flows:
            return self.carriers or row["message"] not in CARRIERS
        if self.chain is not None:
            return self.chain.has(item, row)
        if row["layer"] != "network":
            return False
        return self.answers(item, row) or self.about(item, row)

    def answers(self, item: Dissection, row: Row) -> bool:
        """Whether it is one of the requests, or an answer to one."""
        name = row["message"]
        if name not in ("REQUEST", "RESPONSE", "RESPONSE_FINAL"):
            return False
        hop, ident = hop_of(item, row), row.get("request_id") or 0
        if name == "REQUEST":
            return (hop, item.frame.number, ident) in self.requests
        return (hop[::-1], row.get("request_frame") or 0, ident) in self.requests

    def about(self, item: Dissection, row: Row) -> bool:
        """Whether it is about the key."""
        if self.key is None:
            return False
        name, ident = row["message"], row.get("interest_id")
        if row.get("body") == "D_FINAL":
            return (item.flow.id, 1 - item.direction, ident) in self.interests
        key = row.get("key_expr")
        if key is None or not intersects(self.key, key):
            return False
        if name == "REQUEST":
            self.requests.add((hop_of(item, row), item.frame.number, row.get("request_id") or 0))
        elif name == "INTEREST":
            self.interests.add((item.flow.id, item.direction, ident))
        return True


@dataclass(frozen=True, slots=True)
class Chain:
    """The fragments of one message."""

    flow: str
    direction: int
    frames: tuple[int, ...]
    channel: Channel
    sns: frozenset[int]
    """Sequence numbers of the fragments."""

    def has(self, item: Dissection, row: Row) -> bool:
        """Whether a message is one of the fragments, or what they give."""
        if item.flow.id != self.flow or item.direction != self.direction:
            return False
        if row["message"] == "FRAGMENT":
            own = item.frame.number in self.frames and row.get("sn") in self.sns
            return own and channel_of(row) == self.channel
        return tuple(row.get("fragments") or ()) == self.frames


def channel_of(row: Row) -> Channel:
    """What tells the chains of a direction apart."""
    return row.get("reliability"), row.get("priority")
