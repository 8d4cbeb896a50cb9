"""The graph of ROS 2: nodes and their endpoints, from the liveliness tokens on all links.

A token is declared again on each link, and by routers: it is one entity, which begins with the first declaration and
ends when its own session undeclares it or goes, or when no one declares it any more.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.ros2.tokens import RosToken, is_token, parse_token
from zdissect.table import endpoint

MOST_ENTITIES = 100_000
"""Entities that are kept; further ones are only counted."""
MOST_ADDRESSES = 8
MOST_ABSENCES = 64

Side = tuple[str, int]
"""A flow, and a direction of it: who says something there."""


class Sighting(NamedTuple):
    """When something was seen."""

    frame: int
    ts_ns: int


def sighting(item: Dissection) -> Sighting:
    """When an item was seen."""
    return Sighting(item.frame.number, item.frame.ts_ns)


@dataclass(slots=True, eq=False)
class RosEntity:
    """A node, publisher, subscription, service server or client."""

    key: str
    token: RosToken
    since: Sighting
    until: Sighting | None = None
    ended: str = ""
    """How: `undeclared`, `session` (its session, or the last one that told of it, ended); empty if it is there yet."""
    holders: set[Side] = field(default_factory=set)
    """Who says that it is there."""
    absences: list[tuple[int, int]] = field(default_factory=list)
    """When it was away in between: from the first time to before the second one."""

    def alive(self, ts_ns: int) -> bool:
        """Whether it is known to be there at a time."""
        return self.throughout(ts_ns, ts_ns)

    def throughout(self, start_ns: int, stop_ns: int) -> bool:
        """Whether it is known to be there from one time to another."""
        if self.since.ts_ns > start_ns or (self.until is not None and stop_ns >= self.until.ts_ns):
            return False
        return not any(away <= stop_ns and start_ns < back for away, back in self.absences)

    def overlaps(self, other: "RosEntity") -> bool:
        """Whether both are there at some time."""
        begins = max(self.since.ts_ns, other.since.ts_ns)
        return all(one.until is None or begins < one.until.ts_ns for one in (self, other))

    def entry(self, addresses: dict[str, list[str]]) -> dict[str, Any]:
        """As JSON has it."""
        token = self.token
        out: dict[str, Any] = {"kind": token.kind} if token.name else {}
        if token.name:
            out |= {"name": token.name, "type": token.type, "hash": token.hash, "node": token.node}
            out["qos"] = token.qos.entry() if token.qos is not None else None
        else:
            out["name"] = token.node
        return out | {
            "domain": token.domain, "namespace": token.namespace, "enclave": token.enclave, "zid": token.zid,
            "nid": token.nid, "id": token.id, "addresses": addresses.get(token.zid, []),
            "since_frame": self.since.frame, "since_ts_ns": self.since.ts_ns,
            "until_frame": self.until.frame if self.until else None,
            "until_ts_ns": self.until.ts_ns if self.until else None, "ended": self.ended or None, "token": self.key,
        }  # fmt: skip


class RosGraph:
    """Collects entities. Fed with the rows of declarations, and of CLOSE."""

    def __init__(self) -> None:
        self.known: dict[str, RosEntity] = {}
        self.unlisted = 0
        self.unread: dict[str, Sighting] = {}
        """Tokens in the space of rmw_zenoh's that can't be read, as those of 2023."""
        self.addresses: dict[str, list[str]] = {}
        """By ZenohID, from sessions of its own."""

    @property
    def nodes(self) -> list[RosEntity]:
        """The nodes, in the order in which they came."""
        return [entity for entity in self.known.values() if entity.token.kind == "node"]

    @property
    def endpoints(self) -> list[RosEntity]:
        """The others."""
        return [entity for entity in self.known.values() if entity.token.kind != "node"]

    def declaration(self, item: Dissection, row: Row) -> None:
        """Takes a declaration or the end of one."""
        key, body = row.get("key_expr"), row.get("body")
        if key is None or not is_token(key):
            return
        side = item.flow.id, item.direction
        if body == "D_TOKEN":
            self.declared(key, item, side)
        elif body == "U_TOKEN" and (entity := self.known.get(key)) is not None:
            entity.holders.discard(side)
            if not entity.holders or row.get("src_zid") == entity.token.zid:
                self.end(entity, item, "undeclared")

    def declared(self, key: str, item: Dissection, side: Side) -> None:
        """Takes a token that is there."""
        entity = self.known.get(key)
        if entity is None:
            token = parse_token(key)
            if token is None:
                if "*" not in key and len(self.unread) < MOST_ENTITIES:
                    self.unread.setdefault(key, sighting(item))
                return
            if len(self.known) >= MOST_ENTITIES:
                self.unlisted += 1
                return
            entity = self.known[key] = RosEntity(key, token, sighting(item))
        if entity.until is not None and not entity.holders:
            if len(entity.absences) < MOST_ABSENCES:
                entity.absences.append((entity.until.ts_ns, item.frame.ts_ns))
            entity.until, entity.ended = None, ""
        entity.holders.add(side)

    def closed(self, item: Dissection) -> None:
        """Takes a CLOSE: what both sides have said on this flow counts no longer."""
        for entity in self.known.values():
            before = len(entity.holders)
            entity.holders = {side for side in entity.holders if side[0] != item.flow.id}
            if before and not entity.holders and entity.until is None:
                self.end(entity, item, "session")

    @staticmethod
    def end(entity: RosEntity, item: Dissection, how: str) -> None:
        """Ends an entity, if nothing did before."""
        if entity.until is None:
            entity.until, entity.ended = sighting(item), how

    def seen(self, item: Dissection, row: Row) -> None:
        """Takes the address of a message's sender."""
        zid = row.get("src_zid")
        if zid is None:
            return
        known = self.addresses.setdefault(zid, []) if len(self.addresses) < MOST_ENTITIES else []
        address = endpoint(item.flow.ends[item.direction])
        if address not in known and len(known) < MOST_ADDRESSES:
            known.append(address)

    def publishers_of(self, key: tuple[int, str, str, str]) -> list[RosEntity]:
        """The publishers of a topic: domain, name, type and hash."""
        return [
            entity for entity in self.known.values()
            if entity.token.kind == "publisher" and topic_of(entity.token) == key
        ]  # fmt: skip


def topic_of(token: RosToken) -> tuple[int, str, str, str]:
    """What decides who talks to whom: domain, name, type and hash. In rmw_zenoh it is the key."""
    return token.domain, token.name, token.type, token.hash
