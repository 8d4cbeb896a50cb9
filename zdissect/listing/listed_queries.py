"""The queries of a capture, a row each: who asked what, and what came back, and when.

A query is what an application asks; the REQUESTs to its node's neighbours, and those by which routers pass it on, are
its hops (see `stats.query_stats`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from zdissect.dissection import Dissection, Item
from zdissect.engine.messages import Row
from zdissect.listing.listing import MOST_ROWS, Entry, Listing, columns
from zdissect.pipeline import Pipeline
from zdissect.session.requests import DEFAULT_TIMEOUT_MS
from zdissect.stats.keys import wire_key
from zdissect.stats.query_stats import Queries, Query, RequestKey

_COLUMNS = columns("""
request_frame    number    Frame!     Number of the frame with its first REQUEST.
ts_ns            time      Time       Time of that frame.
key_expr         long      Key!       Key expression; ?9/q where the declared id 9 isn't known.
asker_role       text      Asked_by   Role of the node that asked.
asker            zid       ZenohID    Its ZenohID, or its address.
session          number    Session    Number of the session that carries the first REQUEST.
flow_id          text      -          The conversation of the first REQUEST.
request_id       number    Id         Id of the first REQUEST.
target           text      Target     Who is to answer.
timeout_ms       number    -          How long the querier waits.
response_frame   number    First_in   Frame with the first answer that came back to the asker.
final_frame      number    Final_in   Frame with the last RESPONSE_FINAL to the asker, once there are all.
replies          number    Replies    Replies that came back to the asker.
errors           number    Errors     Errors that came back.
first_time_ns    duration  First_after! Time to the first answer.
final_time_ns    duration  Final_after  Time to the RESPONSE_FINAL that ended it.
state            text      State!     answered; error (errors only); no answer (ended without one); unfinished (answers, but no end); timed out, open (neither answer nor end, past the timeout or not).
requests         number    Hops       REQUESTs of this query on all sessions.
parameters       long      Parameters Parameters of the selector.
hops             rows      -          Each of them: frame, session, flow_id, request_id, from, to, response_frame, final_frame.
""")  # noqa: E501


@dataclass(slots=True, eq=False)
class _Hop:
    """A REQUEST, and what came for it."""

    frame: int
    flow: str
    key: RequestKey
    response: int | None = None
    final: int | None = None

    def entry(self, numbers: dict[str, int]) -> Entry:
        """Its entry."""
        (source, target), _, ident = self.key
        return {
            "frame": self.frame, "session": numbers.get(self.flow), "flow_id": self.flow, "request_id": ident,
            "from": source, "to": target, "response_frame": self.response, "final_frame": self.final,
        }  # fmt: skip


@dataclass(slots=True, eq=False)
class ListedQuery(Query):
    """A query with what is listed of it."""

    row: Row = field(default_factory=dict)
    """That of its first REQUEST, without what a query carries."""
    requests: dict[RequestKey, _Hop] = field(default_factory=dict)
    replies: int = 0
    errors: int = 0
    response: int | None = None
    final: int | None = None
    first_ns: int | None = None
    final_ns: int | None = None
    chosen: bool = False

    def state(self, now_ns: int) -> str:
        """What has become of it by the end of the capture, a time as deadlines count it."""
        if self.answers and self.open:
            return "unfinished"
        if self.answers:
            return "answered" if self.replies else "error"
        if not self.open:
            return "no answer"
        timeout_ms = self.row.get("timeout_ms") or DEFAULT_TIMEOUT_MS
        return "timed out" if now_ns - self.frame.now_ns >= timeout_ms * 1_000_000 else "open"


_KEPT = ("key_expr", "key_scope", "key_suffix", "parameters", "src_role", "request_id", "target", "timeout_ms")


class QueryDetails(Queries):
    """All queries, with their hops."""

    kind = ListedQuery

    def __init__(self) -> None:
        super().__init__()
        self.listed: list[ListedQuery] = []
        self.unlisted = 0
        self.is_chosen = True
        """Whether the message that comes next is."""

    def requested(self, query: Query, request: RequestKey, item: Dissection, row: Row) -> None:
        assert isinstance(query, ListedQuery)
        if not query.requests:
            query.row = {name: row[name] for name in _KEPT if name in row}
            self.list(query)
        query.requests[request] = _Hop(item.frame.number, item.flow.id, request)
        query.chosen = query.chosen or self.is_chosen

    def list(self, query: ListedQuery) -> None:
        """Lists a query, if there is room."""
        if len(self.listed) >= MOST_ROWS:
            self.listed = [one for one in self.listed if one.chosen or one.open]
            if len(self.listed) > 0.9 * MOST_ROWS:  # else each new one would go through all of them
                self.unlisted += 1
                return
        self.listed.append(query)

    def returned(self, query: Query, request: RequestKey, item: Dissection, row: Row) -> None:
        assert isinstance(query, ListedQuery)
        query.chosen = query.chosen or self.is_chosen
        hop, frame = query.requests[request], item.frame.number
        own = request[0][0] == query.asker
        if row["message"] == "RESPONSE_FINAL":
            hop.final = frame
            if own:
                query.final, query.final_ns = frame, item.frame.now_ns - query.frame.now_ns
            return
        hop.response = hop.response or frame
        if own:
            query.errors += row.get("body") == "ERR"
            query.replies += row.get("body") != "ERR"
            if query.response is None:
                query.response, query.first_ns = frame, item.frame.now_ns - query.frame.now_ns


class QueryListing(Listing):
    """The queries; of a choice of messages those with a request or answer among them, in full."""

    name = "queries"
    columns = _COLUMNS

    def __init__(self) -> None:
        super().__init__()
        self.queries = QueryDetails()

    def take(self, item: Item, pipeline: Pipeline, chosen: Sequence[bool] | None) -> None:
        if not isinstance(item, Dissection):
            return
        for index, message in enumerate(item.messages):
            if message.row["layer"] == "network":
                self.queries.is_chosen = chosen is None or chosen[index]
                self.queries.feed(item, message.row)

    def rows(self, pipeline: Pipeline) -> list[Entry]:
        self.unlisted = self.queries.unlisted
        numbers = self.session_numbers(pipeline)
        return [self.row(query, numbers) for query in self.queries.listed if query.chosen]

    def row(self, query: ListedQuery, numbers: dict[str, int]) -> Entry:
        """The row of a query."""
        first = next(iter(query.requests.values()))
        known: Entry = {column.name: query.row.get(column.name) for column in _COLUMNS}  # target, parameters...
        return known | {
            "request_frame": query.frame.number,
            "ts_ns": query.frame.ts_ns,
            "key_expr": wire_key(query.row),
            "asker_role": query.row.get("src_role"),
            "asker": query.asker,
            "session": numbers.get(first.flow),
            "flow_id": first.flow,
            "request_id": first.key[2],
            "response_frame": query.response,
            "final_frame": None if query.open else query.final,
            "replies": query.replies,
            "errors": query.errors,
            "first_time_ns": query.first_ns,
            "final_time_ns": None if query.open else query.final_ns,
            "state": query.state(self.extent.now_ns),
            "requests": len(query.requests),
            "hops": [hop.entry(numbers) for hop in query.requests.values()],
        }
