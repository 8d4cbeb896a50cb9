"""How long queries take: by key, by hop, and inside the nodes that pass them on or answer them."""

from typing import Any

from zdissect.listing.listing import Entry
from zdissect.listing.query_hops import ListedQuery, QueryHop
from zdissect.stats.distribution import Distribution
from zdissect.stats.keys import wire_key

MOST_GROUPS = 10_000
"""Keys, hops and nodes that are told apart, each."""
_KEPT = 10_000
"""Times kept of each; beyond that, a sample of them."""

Times = dict[str, Distribution]
"""Distributions of one group, by name; `all` counts."""


class HopTimes:
    """Collects the times of queries: their answers must have been matched (`query_fates.settle`)."""

    def __init__(self) -> None:
        self.keys: dict[str, Times] = {}
        self.hops: dict[tuple[str, str], Times] = {}
        self.nodes: dict[str, Times] = {}
        self.roles: dict[str, str | None] = {}

    def feed(self, query: ListedQuery) -> None:
        """Takes a query."""
        key = times_of(self.keys, wire_key(query.row) or "")
        add(key, "first", query.first_ns)
        add(key, "final", None if query.open else query.final_ns)
        count(key)
        for hop in query.requests.values():
            self.hop(hop)

    def hop(self, hop: QueryHop) -> None:
        """Takes one of its hops."""
        times = times_of(self.hops, hop.request[0])
        self.roles |= zip(hop.request[0], hop.roles, strict=True)
        first = hop.answers[0] if hop.answers else None
        count(times)
        add(times, "first", None if first is None else first.now_ns - hop.now_ns)
        add(times, "final", None if hop.final is None else hop.final[1] - hop.now_ns)
        source, target = hop.request[0]
        if hop.parent is not None:
            add(times_of(self.nodes, source), "forwarding", hop.now_ns - hop.parent.now_ns)
        if first is not None and not hop.passed_on:
            add(times_of(self.nodes, target), "answering", first.now_ns - hop.now_ns)
        for one in hop.answers:
            if one.passes_on is not None:
                add(times_of(self.nodes, target), "returning", one.now_ns - one.passes_on.now_ns)

    def report(self) -> dict[str, Any]:
        """`keys` (`key_expr`, `queries`, `first_ns`, `final_ns`), `hops` (`from`, `to`, their roles, `requests` and the
        same times) and `nodes` (`node`, `role`, `forwarding_ns`: from a request to the one that passes it on;
        `returning_ns`: from an answer to the one that passes it on; `answering_ns`: from a request that isn't passed on
        to its first answer). Each time has `count`, `min`, `median`, `p95` and `max`, or is null.
        """
        keys = [
            {"key_expr": key, "queries": amount(times), **_first_and_final(times)} for key, times in ranked(self.keys)
        ]
        hops = [
            {
                "from": hop[0], "from_role": self.roles[hop[0]], "to": hop[1], "to_role": self.roles[hop[1]],
                "requests": amount(times), **_first_and_final(times),
            }
            for hop, times in ranked(self.hops)
        ]  # fmt: skip
        nodes = [
            {
                "node": node, "role": self.roles.get(node),
                **{f"{name}_ns": reported(times, name) for name in ("forwarding", "returning", "answering")},
            }
            for node, times in self.nodes.items()
        ]  # fmt: skip
        return {"keys": keys, "hops": hops, "nodes": nodes}


def times_of(groups: dict[Any, Times], name: Any) -> Times:
    """The times of a group; those of another one, which isn't kept, if there are too many."""
    if name not in groups and len(groups) >= MOST_GROUPS:
        return {}
    return groups.setdefault(name, {})


def add(times: Times, name: str, value: int | None) -> None:
    """Adds a time, if there is one."""
    if value is not None:
        times.setdefault(name, Distribution(_KEPT)).add(value)


def count(times: Times) -> None:
    """Counts a member of a group."""
    times.setdefault("all", Distribution(0)).add(0)


def amount(times: Times) -> int:
    """How many members a group has."""
    return times["all"].count if "all" in times else 0


def reported(times: Times, name: str) -> Entry | None:
    """What a report says of some times; None without any."""
    return times[name].report() if name in times else None


def _first_and_final(times: Times) -> Entry:
    return {"first_ns": reported(times, "first"), "final_ns": reported(times, "final")}


def ranked(groups: dict[Any, Times]) -> list[tuple[Any, Times]]:
    """Those with most first."""
    return sorted(groups.items(), key=lambda pair: (-amount(pair[1]), pair[0]))
