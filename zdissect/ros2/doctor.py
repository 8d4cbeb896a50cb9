"""All that an expert would say of a capture of ROS 2, the worst first."""

from collections.abc import Iterator
from typing import Any

from zdissect.ros2.call_problems import call_problems, goal_problems
from zdissect.ros2.goals import RosGoal
from zdissect.ros2.mismatches import Mismatches
from zdissect.ros2.network_problems import (
    attachment_problems,
    clock_problems,
    discovery_problems,
    duplicate_problems,
    gone_problems,
    loss_problems,
    router_problems,
)
from zdissect.ros2.problem import KINDS, Problem, few
from zdissect.ros2.publications import RosPublisher
from zdissect.ros2.qos_hints import qos_problems
from zdissect.ros2.view import RosView

_WEIGHT = ("error", "warning", "note")
_KINDS = tuple(KINDS)


def problems(view: RosView, sessions: list[dict[str, Any]], goals: list[RosGoal]) -> list[Problem]:
    """The problems, the worst first.

    Args:
        view: What was collected.
        sessions: The entries of the sessions in the capture.
        goals: Those of its actions.
    """
    found = [*_problems(view, sessions, goals)]
    return sorted(found, key=lambda one: (_WEIGHT.index(one.severity), _KINDS.index(one.kind), one.name))


def _problems(view: RosView, sessions: list[dict[str, Any]], goals: list[RosGoal]) -> Iterator[Problem]:
    graph, publishers, last_ns = view.graph, view.messages.publishers.values(), view.extent.last_ns
    whole = not view.holes and all(session["handshake"] in ("complete", "join") for session in sessions)
    types = view.contents.types if view.contents is not None else None
    yield from Mismatches(graph, view.heard, types, whole).problems()
    yield from qos_problems(graph, _latest(view))
    yield from call_problems(view.calls.listed.values(), view.extent.now_ns)
    yield from goal_problems(goals)
    yield from loss_problems(publishers, graph, view.holes)
    yield from clock_problems(publishers, graph)
    yield from attachment_problems(view.messages)
    yield from gone_problems(graph, sessions)
    yield from duplicate_problems(graph)
    yield from router_problems(graph, sessions)
    if whole:
        yield from discovery_problems(graph, view.told, view.asked, last_ns)
    if graph.unread:
        text = f"{len(graph.unread)} liveliness tokens can't be read: they are of an older rmw_zenoh, or of another one"
        yield Problem("old-tokens", "", "", None, text, few(one.frame for one in graph.unread.values()))


def _latest(view: RosView) -> dict[tuple[int, str, str, str], RosPublisher]:
    """By topic, the publisher whose messages are the latest."""
    out: dict[tuple[int, str, str, str], RosPublisher] = {}
    for publisher in view.messages.publishers.values():
        known = out.get(publisher.key)
        if known is None or publisher.source_last > known.source_last:
            out[publisher.key] = publisher
    return out
