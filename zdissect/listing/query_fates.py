"""What became of a query and of its answers: which were passed on, what ended it, and who never answered.

What a node does with an answer that it doesn't pass on isn't on the wire. Only what follows from the rules of the
protocol is said: what comes too late, and what a querier drops when it consolidates (checked against applications).
"""

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from zdissect.grammar.primitives import ENDLESS_MS
from zdissect.listing.query_hops import Answer, ListedQuery, QueryHop

CONSOLIDATED = "consolidated"
"""The asker drops it: another reply on this key counts."""
LATE = "late"
"""It came when the one who asked had stopped waiting."""
KEPT_BACK = "not passed on"
"""The node that got it ended the request without it."""


class Ending(NamedTuple):
    """What ended a query."""

    how: str
    """`final` (all who were asked said so), `node timeout` (of one that was asked), `asker timeout` (it isn't on the
    wire: so long it waits), `session` (that with whom was asked), `open`."""
    by: str | None
    """Whose final, or timeout."""


def settle(query: ListedQuery, now_ns: int, ends_ns: Mapping[str, int]) -> Ending:
    """Finds out what became of the answers of a query, and what ended it.

    Args:
        query: Its answers are changed.
        now_ns: The end of the capture, a time as deadlines count it.
        ends_ns: When flows ended that ended before the capture did, by capture time.
    """
    for hop in query.requests.values():
        if hop.passed_on:
            _match(hop)
    ending = _ending(query, now_ns, ends_ns)
    deadline_ns = _deadline_ns(query)
    came = sorted((one for hop in asked(query) for one in hop.answers), key=lambda one: one.frame)
    for one in came:
        if deadline_ns is not None and one.now_ns >= deadline_ns:
            one.fate = LATE
    if ending.how not in ("open", "session"):
        _consolidate([one for one in came if not one.fate and one.body != "ERR"], query.row.get("consolidation"))
    return ending


def asked(query: ListedQuery) -> list[QueryHop]:
    """The requests of the asker itself."""
    return [hop for hop in query.requests.values() if hop.parent is None]


def state_of(hop: QueryHop, ending: Ending) -> str:
    """`answered`, `error`, `no answer` (ended without one), `unfinished` (answers, but no end), `silent` (neither, and
    nobody waits any more), `open`.
    """
    if hop.final is None:
        return "unfinished" if hop.count else "open" if ending.how == "open" else "silent"
    if not hop.count:
        return "no answer"
    return "error" if all(one.body == "ERR" for one in hop.answers) else "answered"


def _match(hop: QueryHop) -> None:
    """Finds the answers of a hop among those that its receiver got for it, and what became of the others."""
    got: dict[int, deque[Answer]] = {}
    for one in sorted((one for below in hop.passed_on for one in below.answers), key=lambda one: one.frame):
        got.setdefault(one.content, deque()).append(one)
    for answer in hop.answers:
        alike = got.get(answer.content)
        if alike and alike[0].frame <= answer.frame:
            answer.passes_on = alike.popleft()
    whole = hop.count == len(hop.answers)
    for one in (one for left in got.values() for one in left):
        if hop.final is not None and whole:
            one.fate = LATE if one.frame > hop.final[0] else KEPT_BACK


def _deadline_ns(query: ListedQuery) -> int | None:
    """When its asker stops waiting; None if it never does."""
    endless = (query.row.get("timeout_ms") or 0) >= ENDLESS_MS
    return None if endless else query.frame.now_ns + query.timeout_ns


def _ending(query: ListedQuery, now_ns: int, ends_ns: Mapping[str, int]) -> Ending:
    hops, deadline_ns = asked(query), _deadline_ns(query)
    finals = [(hop.final[1], hop) for hop in hops if hop.final is not None]
    last_ns = max((ns for ns, _ in finals), default=now_ns)
    if len(finals) == len(hops) and (deadline_ns is None or last_ns < deadline_ns):
        origins = [_origin(one) for hop in hops for one in hop.answers if one.timed_out]
        by = max(finals, key=lambda pair: pair[0])[1].request[0][1]
        return Ending("node timeout", origins[0]) if origins else Ending("final", by)
    open_hops = [hop for hop in hops if hop.final is None]
    if open_hops and all(hop.flow in ends_ns for hop in open_hops):
        last = max(open_hops, key=lambda hop: ends_ns[hop.flow])
        after_ns = ends_ns[last.flow] - query.frame.ts_ns
        if deadline_ns is None or after_ns < query.timeout_ns:
            return Ending("session", last.request[0][1])
    if deadline_ns is not None and max(now_ns, last_ns) >= deadline_ns:
        return Ending("asker timeout", query.asker)
    return Ending("open", None)


def _origin(answer: Answer) -> str:
    """The node that made an answer, as far as the capture tells."""
    while answer.passes_on is not None:
        answer = answer.passes_on
    return answer.node


def _consolidate(replies: list[Answer], mode: str | None) -> None:
    """Notes which replies the asker drops, by the consolidation that it asked for (notes 7.3).

    Latest: of each key the newest counts, of several without a time the last. Monotonic: older than one before it.
    """
    best: dict[str | None, Answer] = {}
    for one in replies if mode in ("Latest", "Monotonic") else ():
        before = best.get(one.key)
        if before is None:
            best[one.key] = one
        elif mode == "Latest":
            loser, best[one.key] = (one, before) if one.stamp < before.stamp else (before, one)
            loser.fate = CONSOLIDATED
        elif one.stamp and one.stamp < before.stamp:
            one.fate = CONSOLIDATED
        elif one.stamp:
            best[one.key] = one
