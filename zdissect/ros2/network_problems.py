"""What is wrong below topics and services: sessions that went, discovery, routers, clocks, loss, mixed releases."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from zdissect.ros2.graph import RosEntity, RosGraph, topic_of
from zdissect.ros2.problem import Problem, few, listed
from zdissect.ros2.publications import RosMessages, RosPublisher

_EARLY_NS = 5_000_000
"""A message that is captured that much before it was published shows that clocks disagree."""
_LATE_NS = 10 * 10**9
"""The same for messages that all are captured so much later; it may be less, and then queues are as likely."""
_FEWEST = 3
_NEAR_END_NS = 10**9
"""What begins so shortly before the end of the capture needn't be known everywhere."""
_GONE = ("fin", "rst", "lease", "silent")
"""Ends of sessions without a CLOSE."""
_LAYOUTS = {
    "current": "the layout of 33 bytes",
    "named": "the layout with names, of older releases",
    "map": "that of Zenoh 0.11",
}


def gone_problems(graph: RosGraph, sessions: list[dict[str, Any]]) -> Iterator[Problem]:
    """Nodes whose sessions ended without a word."""
    ends: dict[str, list[str]] = defaultdict(list)
    for session in sessions:
        for end in session["ends"]:
            if end["zid"]:
                ends[end["zid"]].append(session["ended"]["how"] if _by(session, end) else "other")
    for zid, nodes in _by_session(graph.nodes).items():
        hows = [how for how in ends.get(zid, []) if how != "other"]
        undeclared = all(node.ended == "undeclared" and node.until for node in nodes)
        if hows and all(how in _GONE for how in ends[zid]) and not undeclared:
            words = {
                "fin": "closed without CLOSE",
                "rst": "reset",
                "lease": "silent past its lease",
                "silent": "silent past its lease",
            }
            text = f"{_nodes(nodes)} went away: its connection was {words[hows[0]]}"
            yield _node_problem("node-gone", nodes, text)


def _by(session: dict[str, Any], end: dict[str, Any]) -> bool:
    """Whether a session's end was, or may have been, this side's."""
    ended, side = session["ended"], session["ends"].index(end)
    return ended["by"] is None or (ended["by"] == side) != (ended["how"] == "lease")


def duplicate_problems(graph: RosGraph) -> Iterator[Problem]:
    """Nodes of the same name at the same time."""
    named: dict[tuple[int, str], list[RosEntity]] = defaultdict(list)
    for node in graph.nodes:
        named[node.token.domain, node.token.full_node].append(node)
    for nodes in named.values():
        twins = [node for node in nodes[1:] if any(node.overlaps(other) for other in nodes if other is not node)]
        if twins:
            where = listed(f"{node.token.zid[:8]}…" for node in nodes)
            text = f"{len(twins) + 1} nodes are called {nodes[0].token.full_node} at the same time (sessions {where})"
            yield _node_problem("duplicate-node", nodes, text)


def discovery_problems(
    graph: RosGraph, told: dict[str, set[str]], asked: dict[tuple[str, int], int], last_ns: int
) -> Iterator[Problem]:
    """Nodes that never heard of others, although they asked for all tokens of the domain.

    Args:
        graph: The entities.
        told: The tokens that each session was told of, by its ZenohID.
        asked: When a session began to ask for the tokens of a domain.
        last_ns: The time of the last frame.
    """
    nodes = _by_session(graph.nodes)
    for (zid, domain), since_ns in asked.items():
        if zid not in nodes:
            continue
        unheard = [
            entity for entity in graph.nodes
            if entity.token.zid != zid and entity.token.domain == domain and entity.key not in told.get(zid, ())
            and (entity.until is None or entity.until.ts_ns > since_ns + _NEAR_END_NS)
            and last_ns - max(entity.since.ts_ns, since_ns) > _NEAR_END_NS
            and all(one.until is None or one.until.ts_ns > entity.since.ts_ns + _NEAR_END_NS for one in nodes[zid])
        ]  # fmt: skip
        if unheard:
            yield _node_problem(
                "discovery-missing", nodes[zid], f"{_nodes(nodes[zid])} never hears of {_nodes(unheard)}"
            )


def router_problems(graph: RosGraph, sessions: list[dict[str, Any]]) -> Iterator[Problem]:
    """That no router is there."""
    if not graph.nodes or any(end["role"] in (None, "router") for session in sessions for end in session["ends"]):
        return
    text = "no session with a router is in the capture: rmw_zenoh's nodes find each other through one (rmw_zenohd)"
    yield Problem("no-router", "", "", None, text, few(node.since.frame for node in graph.nodes))


def clock_problems(publishers: Iterable[RosPublisher], graph: RosGraph) -> Iterator[Problem]:
    """Publishers whose clock isn't that of the capture, each once for a session."""
    told: set[str] = set()
    for publisher in publishers:
        if publisher.latencies is None or publisher.live < _FEWEST or (publisher.origin or publisher.gid) in told:
            continue
        least = publisher.latencies[0]
        if -_EARLY_NS <= least <= _LATE_NS:
            continue
        told.add(publisher.origin or publisher.gid)
        how = f"{-least / 1e9:.3g} s before they are published" if least < 0 else f"at least {least / 1e9:.3g} s later"
        text = f"messages on {publisher.key.name} are captured {how}: clocks disagree"
        yield Problem("clock-skew", "topic", publisher.key.name, publisher.key.domain, text, (publisher.first.frame,))


def loss_problems(publishers: Iterable[RosPublisher], graph: RosGraph, holes: int) -> Iterator[Problem]:
    """Messages whose numbers are missing although somebody subscribed all the time."""
    subscriptions: dict[tuple[int, str, str, str], list[RosEntity]] = defaultdict(list)
    for entity in graph.endpoints:
        if entity.token.kind == "subscription":
            subscriptions[topic_of(entity.token)].append(entity)
    for publisher in publishers:
        there = subscriptions.get(publisher.key, [])
        lost = {
            seq: around for seq, around in publisher.missing.items()
            if any(one.throughout(around[0].ts_ns, around[1].ts_ns) for one in there)
        }  # fmt: skip
        if not lost:
            continue
        why = " (the capture itself has holes)" if holes else ""
        numbers = listed((str(seq) for seq in sorted(lost)), 6)
        missing = len(lost) + publisher.untold
        text = f"{missing} of {publisher.messages + missing} messages are missing: number {numbers}{why}"
        frames = few(one.frame for around in lost.values() for one in around)
        more = (("gid", publisher.gid), ("missing", sorted(lost)[:100]))
        yield Problem(
            "loss", "topic", publisher.key.name, publisher.key.domain, f"{publisher.key.name}: {text}", frames, more
        )


def attachment_problems(messages: RosMessages) -> Iterator[Problem]:
    """Layouts of attachments that don't go together, and samples without any."""
    layouts: dict[tuple[int, str], dict[str, RosPublisher]] = defaultdict(dict)
    for publisher in messages.publishers.values():
        layouts[publisher.key.domain, publisher.key.name].setdefault(publisher.layout, publisher)
    for (domain, name), some in layouts.items():
        if len(some) > 1:
            used = listed(_LAYOUTS[layout] for layout in some)
            text = f"{name}: publishers' attachments have {used}: releases of rmw_zenoh that don't go together"
            yield Problem(
                "attachment-mismatch", "topic", name, domain, text, few(one.first.frame for one in some.values())
            )
    for key, times in messages.bare.items():
        text = f"{key.name}: {len(times)} samples have no attachment of rmw_zenoh, which drops them"
        yield Problem("no-attachment", "topic", key.name, key.domain, text, few(one.frame for one in times[:16]))


def _by_session(nodes: Iterable[RosEntity]) -> dict[str, list[RosEntity]]:
    out: dict[str, list[RosEntity]] = defaultdict(list)
    for node in nodes:
        out[node.token.zid].append(node)
    return out


def _nodes(nodes: list[RosEntity]) -> str:
    return listed(node.token.full_node for node in nodes)


def _node_problem(kind: str, nodes: list[RosEntity], text: str) -> Problem:
    token = nodes[0].token
    frames = few(one.frame for node in nodes for one in (node.since, node.until) if one is not None)
    return Problem(kind, "node", token.full_node, token.domain, text, frames)
