"""Queries: how many there are, when they were answered, and which were never answered.

A query is what an application asks. Its node sends a REQUEST to every neighbour that may answer, and routers pass it
on: these are requests of one query (see `same_query`). Only what the asker received counts: a
query that one neighbour answered isn't unanswered because another one had no answer.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from zdissect.dissection import Dissection, Item
from zdissect.engine.messages import Row
from zdissect.session.occurrences import Occurrences
from zdissect.stats.distribution import Distribution
from zdissect.stats.keys import wire_key
from zdissect.stats.same_query import (
    CONTENT,
    TOGETHER_NS,
    Alike,
    Joined,
    Query,
    RequestKey,
    content_of,
    hop_of,
    known_key,
)

MOST_OPEN = 100_000
"""Most queries, and requests, that wait for answers; beyond that, the oldest are dropped."""
MOST_UNANSWERED = 20_000
"""The same where only those are counted that nobody answered: about 30 MB."""
MOST_KEYS = 10_000
KEPT_PER_KEY = 1000
"""Response times kept for each key; beyond that, a sample of them."""
WAIT_NS = 3600 * 10**9
"""How long a query may wait for answers in a capture without an end; hardly any timeout is longer."""
ROOM = 256
"""So many more queries are known before it is looked for those that are over."""
COLUMNS = (
    "message", "body", "src_zid", "dst_zid", "src_role", "request_id", "request_frame", "response_time_ns",
    "key_expr", "key_scope", "key_suffix", *CONTENT,
)  # fmt: skip
"""All columns by which queries are told apart, and counted."""

MADE_OF = frozenset({"REQUEST", "RESPONSE", "RESPONSE_FINAL"})
"""The messages that queries are made of."""


@dataclass(slots=True)
class Asked:
    """The queries on one key."""

    queries: int = 0
    requests: int = 0
    """REQUESTs of these queries on all links."""
    replies: int = 0
    errors: int = 0
    unanswered: int = 0
    """Queries without any answer, and without a RESPONSE_FINAL from one of the nodes that were asked."""
    empty: int = 0
    """Queries that ended without any answer."""
    first: Distribution = field(default_factory=lambda: Distribution(KEPT_PER_KEY))
    """Times to the first reply."""
    final: Distribution = field(default_factory=lambda: Distribution(KEPT_PER_KEY))
    """Times to RESPONSE_FINAL."""

    def report(self) -> dict[str, Any]:
        """The entry of a key."""
        return {
            "queries": self.queries,
            "requests": self.requests,
            "replies": self.replies,
            "errors": self.errors,
            "without_reply": self.empty,
            "unanswered": self.unanswered,
            "response_time_ns": self.first.report(),
            "final_time_ns": self.final.report(),
        }


class Queries:
    """All queries."""

    kind: type[Query] = Query
    """Class of a query; subclasses keep more."""

    def __init__(self) -> None:
        self.most_open, self.most_keys = MOST_OPEN, MOST_KEYS
        self.all = Asked(first=Distribution(), final=Distribution())
        self.keys: dict[str, Asked] = {}
        self.others = Asked()
        """Queries on keys above the limit."""
        self.known: OrderedDict[int, Query] = OrderedDict()
        self.alike = Alike()
        self.open: OrderedDict[RequestKey, Query] = OrderedDict()
        self.forgotten = Occurrences()
        """Unanswered queries that have been forgotten."""
        self.stray = 0
        """Answers whose query isn't in the capture, or has ended."""

    def take(self, item: Item) -> None:
        """Takes an item of the pipeline, with the requests and answers in it."""
        if isinstance(item, Dissection):
            for message in item.messages:
                if message.shared["message"] in MADE_OF:
                    self.feed(item, message.row)

    def feed(self, item: Dissection, row: Row) -> None:
        """Takes a message."""
        name = row["message"]
        if name == "REQUEST":
            self.ask(item, row)
        elif name == "RESPONSE" or name == "RESPONSE_FINAL":
            request = hop_of(item, row)[::-1], row.get("request_frame") or 0, row.get("request_id") or 0
            query = self.open.get(request)
            if query is None:
                self.stray += 1
                return
            self.returned(query, request, item, row)
            if name == "RESPONSE_FINAL":
                query.ended(request)
                del self.open[request]
            if request[0][0] == query.asker:  # answers to other nodes are passed on, or not
                self.answered(query, row)

    def concerns(self, item: Dissection, row: Row, chosen: bool) -> bool:
        """Whether a message is of a query that counts where only chosen ones do: a REQUEST that was chosen, an answer
        to such a one, or a chosen answer whose request nobody knows."""
        if row["message"] == "REQUEST":
            return chosen
        request = hop_of(item, row)[::-1], row.get("request_frame") or 0, row.get("request_id") or 0
        return request in self.open or (chosen and row.get("request_frame") is None)

    def ask(self, item: Dissection, row: Row) -> None:
        """Takes a REQUEST."""
        hop, now_ns = hop_of(item, row), item.frame.now_ns
        content = content_of(row)
        joined = self.alike.find(content, hop, now_ns, row)
        query = joined.query if joined is not None else self.new(item, row, content, hop[0])
        from_asker = hop[0] == query.asker
        for totals in (self.all, query.asked):
            totals.requests += 1
        self.count(query, -1)
        query.open += from_asker
        self.count(query, 1)
        request = hop, item.frame.number, row.get("request_id") or 0
        query.sent(request, now_ns)
        self.open[request] = query
        self.requested(joined or Joined(query, None, ambiguous=False), request, item, row)
        if len(self.open) > self.most_open:
            self.open.popitem(last=False)

    def requested(self, joined: Joined, request: RequestKey, item: Dissection, row: Row) -> None:
        """Hook for a REQUEST, with the query that it belongs to; does nothing here."""

    def returned(self, query: Query, request: RequestKey, item: Dissection, row: Row) -> None:
        """Hook for a RESPONSE or RESPONSE_FINAL to a request, whoever sent the request."""

    def new(self, item: Dissection, row: Row, content: int, asker: str) -> Query:
        """A new query."""
        key = wire_key(row) or ""
        asked = self.keys.get(key)
        if asked is None:
            asked = self.others if len(self.keys) >= self.most_keys else self.keys.setdefault(key, Asked())
        query = self.kind(item.frame.bare(), asked, content, asker, known_key(row))  # the bytes of frames would add up
        self.known[id(query)] = query
        self.alike.add(query)
        for totals in (self.all, asked):
            totals.queries += 1
        self.count(query, 1)
        if len(self.known) > self.most_open:
            self.forget()
        return query

    def forget(self) -> None:
        """Gives up the oldest query."""
        _, query = self.known.popitem(last=False)
        self.give_up(query)

    def give_up(self, query: Query) -> None:
        """Nothing belongs to a query any more, which isn't known any more."""
        if not query.answers:
            self.forgotten.add(query.frame)
        self.alike.remove(query)

    def answered(self, query: Query, row: Row) -> None:
        """Takes an answer that the asker received."""
        self.count(query, -1)
        final = row["message"] == "RESPONSE_FINAL"
        query.open -= final
        query.answers += not final
        self.count(query, 1)
        for totals in (self.all, query.asked):
            if final:
                totals.final.add(row["response_time_ns"])
                continue
            totals.errors += row.get("body") == "ERR"
            totals.replies += row.get("body") != "ERR"
            if query.answers == 1:
                totals.first.add(row["response_time_ns"])

    def count(self, query: Query, sign: int) -> None:
        """Counts the state of a query (sign 1), or uncounts it (-1) before it changes."""
        for totals in (self.all, query.asked):
            totals.unanswered += sign * (query.open > 0 and not query.answers)
            totals.empty += sign * (not query.open and not query.answers)

    def silent(self) -> Occurrences:
        """Queries that nobody answered."""
        out = Occurrences(self.forgotten.count, list(self.forgotten.frames))
        for query in self.known.values():
            if not query.answers:
                out.add(query.frame)
        return out

    def report(self) -> dict[str, Any]:
        """Totals, and the keys with most queries first."""
        ordered = sorted(self.keys.items(), key=lambda pair: (-pair[1].queries, pair[0]))
        listed = [{"key_expr": name, **asked.report()} for name, asked in ordered]
        others = self.others.report() if self.others.queries else None
        total = {**self.all.report(), "silent": self.silent().report(), "stray_answers": self.stray}
        return {**total, "keys": listed, "others": others}


class Unanswered(Queries):
    """Only which queries nobody answered: no keys, and no times.

    Args:
        most_open: So many queries, and requests, that wait for answers are kept at most; None: MOST_UNANSWERED. If it
            is given, queries that are over aren't kept either, and need no memory in a capture without an end.
    """

    def __init__(self, most_open: int | None = None) -> None:
        super().__init__()
        self.most_keys = 0
        self.all, self.others = (Asked(first=Distribution(0), final=Distribution(0)) for _ in range(2))
        self.forgets = most_open is not None
        self.room = ROOM
        """So many queries are known before it is looked for those that are over."""
        self.most_open = MOST_UNANSWERED if most_open is None else most_open

    def new(self, item: Dissection, row: Row, content: int, asker: str) -> Query:
        """A query that wasn't known."""
        if self.forgets and len(self.known) >= self.room:
            self.settle(item.frame.now_ns)
            self.room = len(self.known) + ROOM
        return super().new(item, row, content, asker)

    def settle(self, now_ns: int) -> None:
        """Forgets queries that were answered to their end, so long ago that no request belongs to them any more; and
        whatever is older than `WAIT_NS`, which counts as unanswered if it is.
        """
        for ident, query in list(self.known.items()):
            age_ns = now_ns - query.frame.now_ns
            if age_ns > WAIT_NS or (query.answers and not query.open and age_ns > TOGETHER_NS):
                del self.known[ident]
                self.give_up(query)
        while self.open and now_ns - next(iter(self.open.values())).frame.now_ns > WAIT_NS:
            self.open.popitem(last=False)
