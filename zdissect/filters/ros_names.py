"""Names of ROS 2: what keys and attachments of rmw_zenoh tell, and any field inside a message: `ros2.header.frame_id`.

Which fields there are, only definitions of messages tell, and only when a message is there. So the value that one is
compared with says what its values must be: text in quotes, a number, true or false.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from zdissect.filters.filter_error import Fault
from zdissect.filters.syntax_tree import Value
from zdissect.filters.typed_tree import Operand, RosValues
from zdissect.filters.value_types import BOOL, CONTENT, NONE, NUMBER, REAL, SECOND, TEXT, ValueType
from zdissect.ros2.naming import RosWords

_T = TypeVar("_T")
_INSIDE = re.compile(r"ros2\.[A-Za-z]\w*(\.[A-Za-z]\w*)*")
_REAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_KNOWN = {
    "ros2": ("A message of ROS 2: a sample, request or response on a key of rmw_zenoh.", NONE),
    "ros2.topic": ("Its topic or service, from the root on: /chatter.", ValueType("text", begins="/")),
    "ros2.type": ("Its type: std_msgs/msg/String.", TEXT),
    "ros2.seq": ("Sequence number that its publisher or client gave.", NUMBER),
    "ros2.source_ts": ("When it was published, by the publisher's clock.", ValueType("time", bare=SECOND)),
    "ros2.gid": ("Gid of its publisher or client, hex.", TEXT),
    "ros2.content": ("All of its content. A field inside: ros2.data, ros2.header.frame_id.", CONTENT),
}
_ABOUT = {
    "ros2.topic": "topic",
    "ros2.type": "type",
    "ros2.seq": "seq",
    "ros2.source_ts": "source_ts_ns",
    "ros2.gid": "gid",
}
_OF_TYPE: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "real": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "bool": lambda value: isinstance(value, bool),
}


def ros_names(make: Callable[[str, str, Operand], _T]) -> Iterator[_T]:
    """The names that don't depend on definitions, made by `make(name, doc, operand)`."""
    for name, (doc, kind) in _KNOWN.items():
        yield make(name, doc, RosValues(kind, name))


def field_inside(name: str) -> RosValues | None:
    """The field of a message that a name stands for; None if it is no such name."""
    return RosValues(CONTENT, name) if _INSIDE.fullmatch(name) else None


def as_compared(operand: Operand, word: str, value: Value) -> Operand:
    """An operand of no type yet, with that of what it is compared with; others as they are.

    Raises:
        Fault: Such values can't be compared so.
    """
    if operand.type is not CONTENT or not isinstance(operand, RosValues):
        return operand
    if word in ("contains", "matches") or value.form != "word":
        return replace(operand, type=TEXT)
    if value.text.lower() in ("true", "false"):
        if word not in ("==", "!="):
            raise Fault("true and false have no order")
        return replace(operand, type=BOOL)
    return replace(operand, type=REAL if _REAL.fullmatch(value.text) else TEXT)


def as_text(operand: Operand) -> Operand:
    """An operand of no type yet as text; others as they are."""
    return replace(operand, type=TEXT) if operand.type is CONTENT else operand


def real(text: str) -> int | float:
    """A number as it is written in a filter. Raises Fault if it is none."""
    if not _REAL.fullmatch(text):
        raise Fault(f"{text!r} is no number (12, 0.25, 1e3)")
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)


def values(operand: RosValues, words: RosWords) -> Callable[[dict[str, Any]], Iterable[Any]]:
    """A function that gives the values of a row.

    Args:
        operand: The name.
        words: Decodes messages.
    """
    name = operand.part
    if name == "ros2":
        return lambda row: (True,) if words.carries(row) else ()
    if name in _ABOUT:
        part = _ABOUT[name]
        return lambda row: _one(words.named(row).get(part)) if words.carries(row) else ()
    path = [part for part in re.sub(r"^ros2\.(content\b\.?)?", "", name).split(".") if part]
    fits = _OF_TYPE.get(operand.type.kind, lambda value: True)

    def inside(row: dict[str, Any]) -> Iterable[Any]:
        content = words.value(row) if words.carries(row) else None
        return (
            []
            if content is None
            else [value for value in _inside(content, path if path != [""] else []) if fits(value)]
        )

    return inside


def _one(value: Any) -> tuple[Any, ...]:
    return () if value is None else (value,)


def _inside(value: Any, path: list[str]) -> Iterator[Any]:
    """The values without fields at a path inside a value, and below it; each element of a list is one."""
    if isinstance(value, list):
        for one in value:
            yield from _inside(one, path)
    elif isinstance(value, dict):
        if not path:
            for one in value.values():
                yield from _inside(one, [])
        elif path[0] in value:
            yield from _inside(value[path[0]], path[1:])
    elif not path:
        yield value
