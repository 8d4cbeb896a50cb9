"""What is wrong with calls of services, and with goals of actions."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from zdissect.ros2.calls import RosCall
from zdissect.ros2.goals import RosGoal
from zdissect.ros2.problem import Problem, few, listed

_SET_PARAMETERS = "rcl_interfaces/srv/SetParameters"
_OUTCOMES = {
    "error": "service-error",
    "late": "service-late",
    "timed out": "service-timeout",
    "no answer": "service-timeout",
}


def call_problems(calls: Iterable[RosCall], now_ns: int) -> Iterator[Problem]:
    """The problems of calls, each once for a service.

    Args:
        calls: The calls.
        now_ns: The time of the last frame.
    """
    found: dict[tuple[str, str, int], list[RosCall]] = defaultdict(list)
    for call in calls:
        kinds = [_OUTCOMES.get(call.state(now_ns), "")]
        if len(call.responses) > 1:
            kinds.append("service-two-servers")
        if call.key.type.startswith(_SET_PARAMETERS) and _refused(call):
            kinds.append("parameter-refused")
        for kind in filter(None, kinds):
            found[kind, call.key.name, call.key.domain].append(call)
    for (kind, name, domain), some in found.items():
        yield _problem(kind, name, domain, some)


def _problem(kind: str, name: str, domain: int, calls: list[RosCall]) -> Problem:
    """The problem of some calls of one service."""
    numbers = listed((str(call.attachment.seq) for call in calls), 8)
    first = calls[0]
    frames = [call.asked.frame for call in calls]
    frames += [call.answered.frame for call in calls if call.answered] + [
        call.error_frame for call in calls if call.error_frame
    ]
    texts = {
        "service-error": lambda: f'the server answers call {numbers} with an error: "{first.error}"',
        "service-late": lambda: (
            f"the response to call {numbers} comes {_seconds(first.took_ns)} after the request; "
            f"the client has waited {_seconds(first.patience_ns)}"
        ),
        "service-timeout": lambda: f"call {numbers} gets no response{_limit(first)}",
        "service-two-servers": lambda: (
            f"call {numbers} gets responses from several servers; the client takes the first"
        ),
        "parameter-refused": lambda: f"call {numbers} sets parameters that the node refuses: {listed(_refused(first))}",
    }
    more: tuple[tuple[str, Any], ...] = (
        ("calls", [{"client_gid": c.attachment.gid, "seq": c.attachment.seq} for c in calls]),
    )
    return Problem(kind, "service", name, domain, f"{name}: {texts[kind]()}", few(frames), more)


def _seconds(ns: int | None) -> str:
    return f"{(ns or 0) / 1e9:.3g} s"


def _limit(call: RosCall) -> str:
    """How long it was waited for, as far as that is known."""
    if call.patience_ns is None:
        return ", and the query ends without one"
    return (
        f" within {_seconds(call.patience_ns)}" if call.expired or not call.finals else ": the query ends without one"
    )


def _refused(call: RosCall) -> list[str]:
    """The parameters that weren't set, as far as contents are known: `colour (not declared)`."""
    answer, asked = call.response.value if call.response is not None else None, call.request.value
    if answer is None or asked is None:
        return []
    results = answer.get("results") or [answer["result"]] * len(asked["parameters"])
    pairs = zip(asked["parameters"], results, strict=False)
    return [f"{one['name']} ({said['reason'] or 'no reason'})" for one, said in pairs if not said["successful"]]


def goal_problems(goals: Iterable[RosGoal]) -> Iterator[Problem]:
    """The problems of goals, each once for an action."""
    found: dict[tuple[str, str, int], list[RosGoal]] = defaultdict(list)
    kinds = {"rejected": "action-rejected", "canceled": "action-cancelled", "aborted": "action-aborted"}
    for goal in goals:
        if kind := kinds.get(goal.status or ""):
            found[kind, goal.key.action, goal.key.domain].append(goal)
    for (kind, name, domain), some in found.items():
        how = {"action-rejected": "isn't accepted", "action-cancelled": "is canceled", "action-aborted": "is aborted"}[
            kind
        ]
        ids = listed(goal.goal_id[:8] for goal in some)
        calls = [call for goal in some for call in (goal.send, goal.result) if call is not None]
        frames = [call.asked.frame for call in calls] + [call.answered.frame for call in calls if call.answered]
        more = (("goals", [goal.goal_id for goal in some]),)
        yield Problem(kind, "action", name, domain, f"{name}: goal {ids} {how}", few(frames), more)
