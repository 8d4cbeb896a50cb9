"""QoS of publishers and subscriptions that don't go together.

rmw_zenoh knows no incompatible QoS: each publisher of a key matches each subscription (its design, Quality of Service).
So this explains lost history, or what would happen with another RMW; it is no reason for silence.
"""

from collections import defaultdict
from collections.abc import Iterator

from zdissect.ros2.graph import RosEntity, RosGraph, topic_of
from zdissect.ros2.problem import Problem, few
from zdissect.ros2.publications import RosPublisher
from zdissect.ros2.qos_words import RosQos
from zdissect.ros2.rmw_keys import action_of

_ARRIVES = "incompatible under DDS, but rmw_zenoh delivers"
_MANUAL = "manual_by_topic"

Topic = tuple[int, str, str, str]


def qos_problems(graph: RosGraph, last_sent: dict[Topic, RosPublisher]) -> Iterator[Problem]:
    """The problems, each once for a topic and policy.

    Args:
        graph: The endpoints.
        last_sent: By topic, the publisher whose messages are the latest.
    """
    sides: dict[Topic, tuple[list[RosEntity], list[RosEntity]]] = defaultdict(lambda: ([], []))
    for entity in graph.endpoints:
        if entity.token.kind in ("publisher", "subscription") and entity.token.qos is not None:
            sides[topic_of(entity.token)][entity.token.kind == "subscription"].append(entity)
    for topic, (publishers, subscriptions) in sides.items():
        told: set[str] = set()
        for publisher in publishers:
            for subscription in subscriptions:
                for policy, text in _differences(publisher, subscription):
                    if policy not in told:
                        told.add(policy)
                        yield _problem(topic, policy, text, (publisher, subscription))
        for late in subscriptions if "durability" not in told else ():
            if text := _too_late(late, publishers, last_sent.get(topic)):
                yield _problem(topic, "durability", text, (late, *publishers))
                break


def _problem(topic: Topic, policy: str, text: str, entities: tuple[RosEntity, ...]) -> Problem:
    frames = few(entity.since.frame for entity in entities)
    return Problem("qos-mismatch", "topic", topic[1], topic[0], f"{topic[1]}: {text}", frames, (("policy", policy),))


def _differences(publisher: RosEntity, subscription: RosEntity) -> Iterator[tuple[str, str]]:
    """Policies by which a subscription asks for more than a publisher offers, and what follows."""
    offered, asked = publisher.token.qos or RosQos(), subscription.token.qos or RosQos()
    pub, sub = publisher.token.full_node, subscription.token.full_node
    if offered.reliability == "best_effort" and asked.reliability == "reliable":
        yield "reliability", f"{pub} offers best effort, {sub} asks for reliable: {_ARRIVES}"
    if offered.durability == "volatile" and asked.durability == "transient_local":
        yield (
            "durability",
            (
                f"{sub} asks for transient local, {pub} is volatile and keeps no history: only messages after the "
                "subscription arrive"
            ),
        )
    if _longer(offered.deadline_ns, asked.deadline_ns):
        yield "deadline", f"{sub} asks for a shorter deadline than {pub} offers: {_ARRIVES}"
    if asked.liveliness == _MANUAL and offered.liveliness == "automatic":
        yield "liveliness", f"{sub} asks for manual liveliness, {pub} offers automatic: {_ARRIVES}"
    elif _longer(offered.lease_ns, asked.lease_ns):
        yield "liveliness", f"{sub} asks for a shorter liveliness lease than {pub} offers: {_ARRIVES}"


def _longer(offered_ns: int | None, asked_ns: int | None) -> bool:
    """Whether an offered time is longer than the one that is asked for; None is infinite."""
    return asked_ns is not None and (offered_ns is None or offered_ns > asked_ns)


def _too_late(subscription: RosEntity, publishers: list[RosEntity], sent: RosPublisher | None) -> str:
    """What a volatile subscription to latched messages misses, if it came after the last of them; else empty.

    Logs and the states of actions are kept for all, and few who come later want them from the start.
    """
    if subscription.token.name == "/rosout" or action_of(subscription.token.name):
        return ""
    token, latched = subscription.token, [one.token.qos for one in publishers if one.token.qos is not None]
    if not latched or any(qos.durability != "transient_local" for qos in latched):
        return ""
    if token.qos is None or token.qos.durability != "volatile" or sent is None:
        return ""
    if sent.source_last == 0 or sent.source_last >= subscription.since.ts_ns:
        return ""
    return (
        f"{token.full_node} subscribes volatile, after the last message, which {publishers[0].token.full_node} keeps "
        "for those who ask for transient local: it gets nothing"
    )
