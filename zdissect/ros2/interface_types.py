"""Interfaces of ROS 2, messages, services and actions, as the types that rosbags knows: from their definitions.

A service is made of a request and a response, an action of services and a message around its goal, result and feedback
(ROS 2's design of actions, and rosidl_generator_type_description); the type hash of a service is that of a type with
its request, response and event.
"""

from typing import Any

Fields = dict[str, Any]
"""Types as rosbags keeps them: constants and fields by name."""

EMPTY = "structure_needs_at_least_one_member"
"""The name of the byte that stands in a message without fields."""


def interface_types(name: str, text: str) -> Fields:
    """The types that a definition makes, by name.

    Args:
        name: `pkg/msg/T`, `pkg/srv/T` or `pkg/action/T`.
        text: What is in its file.

    Raises:
        Exception: It can't be read; rosbags says where, in several types of errors.
    """
    kind = name.split("/")[1]
    parts = _parts(text)
    if kind == "msg":
        return _message(name, text)
    if kind == "srv":
        return _service(name, _message(f"{name}_Request", parts[0]), _message(f"{name}_Response", parts[1]))
    return _action(name, parts)


def _parts(text: str) -> list[str]:
    """What stands between lines of `---`: three, or empty ones."""
    out = [""]
    for line in text.splitlines():
        if line.strip().startswith("---"):
            out.append("")
        else:
            out[-1] += line + "\n"
    return [*out, "", ""][: max(3, len(out))]


def _message(name: str, text: str) -> Fields:
    """One type, with references to others of its package."""
    from rosbags.typesys import get_types_from_msg  # slow to load

    package, _, base = name.split("/")
    constants, fields = next(iter(get_types_from_msg(text, f"{package}/msg/{base}").values()))
    return {name: (constants, fields or [(EMPTY, _base("uint8"))])}


def _base(name: str) -> Any:
    from rosbags.interfaces import Nodetype

    return Nodetype.BASE, (name, 0)


def _named(name: str) -> Any:
    from rosbags.interfaces import Nodetype

    return Nodetype.NAME, name


def _at_most_one(name: str) -> Any:
    from rosbags.interfaces import Nodetype

    return Nodetype.SEQUENCE, (_named(name), 1)


def _service(name: str, request: Fields, response: Fields) -> Fields:
    """A service, whose hash covers all of these."""
    asked, answered, event = f"{name}_Request", f"{name}_Response", f"{name}_Event"
    info = ("info", _named("service_msgs/msg/ServiceEventInfo"))
    return {
        **request, **response,
        event: ([], [info, ("request", _at_most_one(asked)), ("response", _at_most_one(answered))]),
        name: ([], [
            ("request_message", _named(asked)), ("response_message", _named(answered)),
            ("event_message", _named(event)),
        ]),
    }  # fmt: skip


def _action(name: str, parts: list[str]) -> Fields:
    """An action: two services, and a message for feedback."""
    goal, result, feedback = f"{name}_Goal", f"{name}_Result", f"{name}_Feedback"
    goal_id = ("goal_id", _named("unique_identifier_msgs/msg/UUID"))
    stamp = ("stamp", _named("builtin_interfaces/msg/Time"))
    send, get = f"{name}_SendGoal", f"{name}_GetResult"
    return {
        **_message(goal, parts[0]), **_message(result, parts[1]), **_message(feedback, parts[2]),
        **_service(
            send,
            {f"{send}_Request": ([], [goal_id, ("goal", _named(goal))])},
            {f"{send}_Response": ([], [("accepted", _base("bool")), stamp])},
        ),
        **_service(
            get,
            {f"{get}_Request": ([], [goal_id])},
            {f"{get}_Response": ([], [("status", _base("int8")), ("result", _named(result))])},
        ),
        f"{name}_FeedbackMessage": ([], [goal_id, ("feedback", _named(feedback))]),
    }  # fmt: skip


def defining(name: str) -> str:
    """The interface whose definition makes a type of a key: `pkg/action/T` for `pkg/action/T_SendGoal`."""
    if "/action/" in name:
        for suffix in ("_SendGoal", "_GetResult", "_FeedbackMessage"):
            if name.endswith(suffix):
                return name.removesuffix(suffix)
    return name
