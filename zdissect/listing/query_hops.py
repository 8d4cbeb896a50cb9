"""The hops of a query: each REQUEST of it, and what came back for that, in the order of the capture."""

from dataclasses import dataclass, field

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.listing.listing import MOST_ROWS
from zdissect.session.requests import DEFAULT_TIMEOUT_MS
from zdissect.stats.keys import sender, wire_key
from zdissect.stats.query_stats import Queries
from zdissect.stats.same_query import Joined, Query, RequestKey

MOST_ANSWERS = 500_000
"""Answers that are kept of all queries together; what comes after them is only counted."""
_TIMEOUT = b"Timeout"
"""Payload of the ERR by which the implementation ends a request in time (notes 7.3)."""


@dataclass(slots=True, eq=False)
class Answer:
    """A RESPONSE on a hop."""

    frame: int
    now_ns: int
    node: str
    """Who sent it."""
    body: str
    """REPLY, REPLY DEL, ERR."""
    key: str | None
    size: int | None
    """Bytes of its payload; None where the capture doesn't hold it."""
    stamp: int
    """Timestamp of the sample (NTP64); 0 where it has none."""
    responder: str | None
    timed_out: bool
    """Whether it says that who is named as responder hasn't answered in time."""
    content: int
    """Hash of what stays the same wherever it goes."""
    passes_on: "Answer | None" = None
    """The answer on another hop that it is."""
    fate: str = ""
    """What became of it, if it got no further: see `query_fates`."""


@dataclass(slots=True, eq=False)
class QueryHop:
    """A REQUEST, and what came for it."""

    frame: int
    ts_ns: int
    now_ns: int
    flow: str
    request: RequestKey
    roles: tuple[str | None, str | None]
    """Those of its sender and of its receiver."""
    key: str | None
    """Its key expression, as it is on this hop."""
    parent: "QueryHop | None" = None
    """The REQUEST that it passes on; None if its sender is the one who asks."""
    confidence: str | None = None
    """How sure it is that it passes that on: `certain` (SourceInfo), `likely`, `ambiguous`; None for what is asked."""
    answers: list[Answer] = field(default_factory=list)
    count: int = 0
    """How many answers there are."""
    final: tuple[int, int] | None = None
    """Frame and time of its RESPONSE_FINAL."""
    passed_on: list["QueryHop"] = field(default_factory=list)
    """Those that pass it on."""


@dataclass(slots=True, eq=False)
class ListedQuery(Query):
    """A query with what is listed of it."""

    row: Row = field(default_factory=dict)
    """That of its first REQUEST, without what a query carries."""
    requests: dict[RequestKey, QueryHop] = field(default_factory=dict)
    replies: int = 0
    errors: int = 0
    response: int | None = None
    final: int | None = None
    first_ns: int | None = None
    final_ns: int | None = None
    chosen: bool = False

    @property
    def timeout_ns(self) -> int:
        """How long its asker waits."""
        return (self.row.get("timeout_ms") or DEFAULT_TIMEOUT_MS) * 1_000_000

    def state(self, now_ns: int) -> str:
        """What has become of it by the end of the capture, a time as deadlines count it."""
        if self.answers and self.open:
            return "unfinished"
        if self.answers:
            return "answered" if self.replies else "error"
        if not self.open:
            return "no answer"
        return "timed out" if now_ns - self.frame.now_ns >= self.timeout_ns else "open"


_KEPT = ("key_expr", "key_scope", "key_suffix", "parameters", "src_role", "request_id", "target", "timeout_ms",
         "consolidation")  # fmt: skip
_CONTENT = ("key_expr", "body", "reply_body", "payload", "encoding", "attachment", "timestamp_ntp64", "timestamp_id")
"""Columns of an answer that stay the same wherever it goes."""


class QueryDetails(Queries):
    """All queries, with their hops."""

    kind = ListedQuery

    def __init__(self) -> None:
        super().__init__()
        self.listed: list[ListedQuery] = []
        self.unlisted = 0
        self.room = MOST_ANSWERS
        self.is_chosen = True
        """Whether the message that comes next is."""

    def requested(self, joined: Joined, request: RequestKey, item: Dissection, row: Row) -> None:
        query = joined.query
        assert isinstance(query, ListedQuery)
        if not query.requests:
            query.row = {name: row[name] for name in _KEPT if name in row}
            self.list(query)
        frame, roles = item.frame, (row.get("src_role"), row.get("dst_role"))
        hop = QueryHop(frame.number, frame.ts_ns, frame.now_ns, item.flow.id, request, roles, wire_key(row))
        if joined.passes_on is not None:
            hop.parent = query.requests[joined.passes_on]
            hop.parent.passed_on.append(hop)
            named = "certain" if row.get("source_sn") is not None else "likely"
            hop.confidence = "ambiguous" if joined.ambiguous else named
        query.requests[request] = hop
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
        hop, frame = query.requests[request], item.frame
        own, after_ns = request[0][0] == query.asker, frame.now_ns - query.frame.now_ns
        if row["message"] == "RESPONSE_FINAL":
            hop.final = frame.number, frame.now_ns
            if own:
                query.final, query.final_ns = frame.number, after_ns
            return
        hop.count += 1
        if self.room or not hop.answers:
            self.room -= self.room > 0
            hop.answers.append(_answer(item, row))
        if own:
            query.errors += row.get("body") == "ERR"
            query.replies += row.get("body") != "ERR"
            if query.response is None:
                query.response, query.first_ns = frame.number, after_ns


def _answer(item: Dissection, row: Row) -> Answer:
    """What is kept of a RESPONSE."""
    body = "REPLY DEL" if row.get("reply_body") == "DEL" else str(row.get("body") or "RESPONSE")
    timed_out = body == "ERR" and row.get("payload") == _TIMEOUT and not row.get("responder_eid")
    content = hash(tuple(row.get(name) for name in _CONTENT))
    return Answer(
        item.frame.number, item.frame.now_ns, sender(item, row), body, wire_key(row), row.get("payload_len"),
        row.get("timestamp_ntp64") or 0, row.get("responder_zid"), timed_out, content,
    )  # fmt: skip
