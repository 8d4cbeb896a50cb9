"""The queries of a capture, a row each: who asked what, and what came back, and when.

A query is what an application asks; the REQUESTs to its node's neighbours, and those by which routers pass it on, are
its hops (see `stats.query_stats`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from zdissect.dissection import Dissection, Item
from zdissect.listing.hop_times import HopTimes
from zdissect.listing.listing import Entry, Listing, columns
from zdissect.listing.query_fates import CONSOLIDATED, KEPT_BACK, LATE, Ending, settle, state_of
from zdissect.listing.query_hops import Answer, ListedQuery, QueryDetails, QueryHop
from zdissect.pipeline import Pipeline
from zdissect.stats.keys import wire_key

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
ended           text      -          What ended it: final (all who were asked), node timeout (of one of them), asker timeout (not on the wire: so long it waits), session (it was over), open.
ended_by        zid       -          Whose final or timeout that was.
consolidated    number    -          Replies that came, and that the asker drops because others on their keys count.
late            number    -          Answers that came after the asker, or a node on the way, had stopped waiting.
not_passed_on   number    -          Answers that a node on the way got, and left out.
silent          list      -          Nodes that were asked, and from which neither an answer nor an end came.
requests         number    Hops       REQUESTs of this query on all sessions.
parameters       long      Parameters Parameters of the selector.
hops            rows      -          Each REQUEST, with its answers: see docs/hops.md.
""")  # noqa: E501


class _Unmade(NamedTuple):
    """Hops of a row that aren't made yet."""

    query: ListedQuery
    ending: Ending


class QueryListing(Listing):
    """The queries; of a choice of messages those with a request or answer among them, in full."""

    name = "queries"
    columns = _COLUMNS
    shown_as = "trees"

    def __init__(self) -> None:
        super().__init__()
        self.queries = QueryDetails()
        self.numbers: dict[str, int] = {}
        """Those of the sessions, by flow, once the rows were made."""

    def take(self, item: Item, chosen: Sequence[bool] | None) -> None:
        if not isinstance(item, Dissection):
            return
        for index, message in enumerate(item.messages):
            if message.row["layer"] == "network":
                self.queries.is_chosen = chosen is None or chosen[index]
                self.queries.feed(item, message.row)

    def rows(self, pipeline: Pipeline) -> list[Entry]:
        self.unlisted = self.queries.unlisted
        report = self.sessions.report(pipeline.all_links(), self.extent.now_ns)
        links = [(session["session"], link) for session in report for link in session["links"]]
        self.numbers = {link["flow_id"]: number for number, link in links}
        over = {
            link["flow_id"]: link["last_ts_ns"] for _, link in links if link["ended"]["how"] not in ("open", "silent")
        }
        chosen = [query for query in self.queries.listed if query.chosen]
        return [self.row(query, settle(query, self.extent.now_ns, over)) for query in chosen]

    def summary(self) -> dict[str, Any]:
        """How long the queries took: what `HopTimes.report` says."""
        times = HopTimes()
        for query in self.queries.listed:
            if query.chosen:
                times.feed(query)
        return times.report()

    def row(self, query: ListedQuery, ending: Ending) -> Entry:
        """The row of a query."""
        first, hops = next(iter(query.requests.values())), query.requests.values()
        known: Entry = {column.name: query.row.get(column.name) for column in _COLUMNS}  # target, parameters...
        fates = [answer.fate for hop in hops for answer in hop.answers]
        return known | {
            "request_frame": query.frame.number,
            "ts_ns": query.frame.ts_ns,
            "key_expr": wire_key(query.row),
            "asker_role": query.row.get("src_role"),
            "asker": query.asker,
            "session": self.numbers.get(first.flow),
            "flow_id": first.flow,
            "request_id": first.request[2],
            "response_frame": query.response,
            "final_frame": None if query.open else query.final,
            "replies": query.replies,
            "errors": query.errors,
            "first_time_ns": query.first_ns,
            "final_time_ns": None if query.open else query.final_ns,
            "state": query.state(self.extent.now_ns),
            "ended": ending.how,
            "ended_by": ending.by,
            "consolidated": fates.count(CONSOLIDATED),
            "late": fates.count(LATE),
            "not_passed_on": fates.count(KEPT_BACK),
            "silent": [hop.request[0][1] for hop in hops if state_of(hop, ending) == "silent"],
            "requests": len(query.requests),
            "hops": _Unmade(query, ending),
        }

    def whole(self, row: Entry) -> Entry:
        query, ending = row["hops"]
        return row | {"hops": [_hop(hop, query, ending, self.numbers) for hop in query.requests.values()]}


def _hop(hop: QueryHop, query: ListedQuery, ending: Ending, numbers: dict[str, int]) -> Entry:
    """The entry of a hop."""
    (source, target), _, ident = hop.request
    parent, first = hop.parent, hop.answers[0] if hop.answers else None
    return {
        "frame": hop.frame,
        "ts_ns": hop.ts_ns,
        "after_ns": hop.now_ns - query.frame.now_ns,
        "session": numbers.get(hop.flow),
        "flow_id": hop.flow,
        "request_id": ident,
        "from": source,
        "from_role": hop.roles[0],
        "to": target,
        "to_role": hop.roles[1],
        "key_expr": hop.key,
        "passes_on_frame": parent.frame if parent is not None else None,
        "passes_on_id": parent.request[2] if parent is not None else None,
        "confidence": hop.confidence,
        "held_ns": hop.now_ns - parent.now_ns if parent is not None else None,
        "response_frame": first.frame if first is not None else None,
        "first_time_ns": first.now_ns - hop.now_ns if first is not None else None,
        "final_frame": hop.final[0] if hop.final is not None else None,
        "final_time_ns": hop.final[1] - hop.now_ns if hop.final is not None else None,
        "state": state_of(hop, ending),
        "answer_count": hop.count,
        "answers": [_answer(answer, query) for answer in hop.answers],
    }


def _answer(answer: Answer, query: ListedQuery) -> Entry:
    """The entry of an answer."""
    before = answer.passes_on
    return {
        "frame": answer.frame,
        "after_ns": answer.now_ns - query.frame.now_ns,
        "body": answer.body,
        "key_expr": answer.key,
        "payload_len": answer.size,
        "responder": answer.responder,
        "timeout": answer.timed_out,
        "passes_on_frame": before.frame if before is not None else None,
        "held_ns": answer.now_ns - before.now_ns if before is not None else None,
        "fate": answer.fate or None,
    }
