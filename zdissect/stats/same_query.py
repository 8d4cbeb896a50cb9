"""Which REQUESTs are one query: what an application asks is sent to several neighbours, and passed on by routers.

Request ids change from link to link (notes 7.3), so a query is recognised by its content, by who was asked before, and
by time. This is the one place that tells what was asked from what was passed on.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.records import Frame
from zdissect.stats.keys import sender, wire_key
from zdissect.table import endpoint

TOGETHER_NS = 100_000_000
"""Most time between two requests of a node for one query, if a request was answered in between; and within which a node
passes a request on, where it may be one of several."""
MOST_ALIKE = 64
"""Most queries with the same content that a request may belong to."""

CONTENT = ("parameters", "payload", "attachment", "source_zid", "source_eid", "source_sn")
"""Columns that stay the same wherever a query goes, besides its key."""

Hop = tuple[str, str]
"""(asker, asked): the nodes at both ends of a link."""

RequestKey = tuple[Hop, int, int]
"""Hop, frame and id of a REQUEST."""


def hop_of(item: Dissection, row: Row) -> Hop:
    """(sender, receiver) of a message: the nodes of the session, whichever of its links carries it."""
    return sender(item, row), row.get("dst_zid") or endpoint(item.flow.ends[1 - item.direction])


def spelling(key: str | None) -> str:
    """What stays the same of a key wherever it goes. Slashes don't count: version 1.2 passes `ver/svc` on as scope
    `ver` and suffix `svc`, which is another key, but no other query or sample.
    """
    return (key or "").replace("/", "")


def content_of(row: Row, columns: tuple[str, ...] = CONTENT) -> int:
    """A hash of what stays the same of a REQUEST or PUSH, wherever it goes.

    An attachment or a SourceInfo is hardly ever the same twice: then the key needn't be known, as where a capture
    starts after its declaration.
    """
    unique = row.get("attachment") is not None or row.get("source_sn") is not None
    return hash(("" if unique else spelling(wire_key(row)), *(row.get(name) for name in columns)))


def known_key(row: Row) -> int | None:
    """A hash of what stays the same of its key, which may be long; None where that isn't known."""
    key = row.get("key_expr")
    return None if key is None else hash(spelling(key))


def may_be_same(one: int | None, other: int | None) -> bool:
    """Whether two keys, as `known_key` gives them, may be the same."""
    return one is None or other is None or one == other


@dataclass(slots=True)
class Received:
    """That a node has been sent a query."""

    request: RequestKey
    """The last REQUEST to it."""
    now_ns: int
    open: int = 0
    """REQUESTs to it without a RESPONSE_FINAL."""


@dataclass(slots=True, eq=False)
class Query:
    """A query on its way."""

    frame: Frame
    asked: Any
    """The counts of its key."""
    content: int
    """What `content_of` gives for its REQUESTs."""
    asker: str
    key: int | None
    """Its `known_key`."""
    received: dict[str, Received] = field(default_factory=dict)
    """The nodes that were sent it."""
    hops: set[Hop] = field(default_factory=set)
    open: int = 0
    """Requests of the querier that have no RESPONSE_FINAL."""
    answers: int = 0

    def fits(self, hop: Hop, key: int | None, now_ns: int) -> bool:
        """Whether a request with its content on this hop may belong to it."""
        if (
            self.over(now_ns)
            or not may_be_same(self.key, key)
            or (hop[0] != self.asker and hop[0] not in self.received)
        ):
            return False
        return hop not in self.hops and hop[::-1] not in self.hops

    def over(self, now_ns: int) -> bool:
        """Whether no request belongs to it any more."""
        return not self.open and now_ns - self.frame.now_ns > TOGETHER_NS

    def sent(self, request: RequestKey, now_ns: int) -> None:
        """Notes a REQUEST of it."""
        hop = request[0]
        self.hops.add(hop)
        before = self.received.get(hop[1])
        self.received[hop[1]] = Received(request, now_ns, 1 + (before.open if before is not None else 0))

    def ended(self, request: RequestKey) -> None:
        """Notes the RESPONSE_FINAL of a REQUEST of it."""
        self.received[request[0][1]].open -= 1


class Joined(NamedTuple):
    """The query that a REQUEST belongs to."""

    query: Query
    passes_on: RequestKey | None
    """The REQUEST to its sender that it passes on; None if its sender is the one who asks."""
    ambiguous: bool
    """Whether it could as well belong to another query with the same content."""


class Alike:
    """The queries by their content."""

    def __init__(self) -> None:
        self.known: dict[int, list[Query]] = {}
        """The oldest first."""

    def add(self, query: Query) -> None:
        """Takes a new query."""
        alike = self.known.setdefault(query.content, [])
        alike.append(query)
        del alike[:-MOST_ALIKE]

    def remove(self, query: Query) -> None:
        """Nothing belongs to a query any more."""
        alike = self.known.get(query.content, [])
        if query in alike:
            alike.remove(query)
        if not alike:
            self.known.pop(query.content, None)

    def find(self, content: int, hop: Hop, now_ns: int, row: Row) -> Joined | None:
        """The query that a request on this hop belongs to; None if it is a new one.

        Who has been asked and hasn't ended it passes it on; of several such queries the first one that came lately, as
        requests aren't reordered. A client passes nothing on.

        Args:
            row: The request.
        """
        source, alike, key = hop[0], self.known.get(content, []), known_key(row)
        while alike and alike[0].over(now_ns):
            del alike[0]
        fitting = [query for query in alike if query.fits(hop, key, now_ns)]
        if row.get("src_role") == "client":
            fitting = [query for query in fitting if query.asker == source]
        if not fitting:
            return None
        waiting = [*_asked_of(source, fitting)]
        if waiting:
            rivals = [one for one in _asked_of(source, alike) if now_ns - one.received[source].now_ns <= TOGETHER_NS]
            chosen = next((query for query in waiting if query in rivals), waiting[-1])
            return Joined(chosen, chosen.received[source].request, len(rivals or waiting) > 1)
        chosen = fitting[-1]
        known = chosen.received.get(source) if chosen.asker != source else None
        near = sum(now_ns - query.frame.now_ns <= TOGETHER_NS for query in fitting)
        return Joined(chosen, known.request if known is not None else None, near > 1 or known is not None)


def _asked_of(node: str, queries: Iterable[Query]) -> Iterator[Query]:
    """Those that a node has been sent, and hasn't ended."""
    for query in queries:
        known = query.received.get(node)
        if known is not None and known.open > 0:
            yield query
