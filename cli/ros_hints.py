"""What words among FILE... of `zdissect ros2` were perhaps meant for, where there are no such files."""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from zdissect.capture import CaptureError

from .common import nearest
from .ros_reading import VIEWS

if TYPE_CHECKING:
    from zdissect.ros2.graph import RosGraph


def hints(problems: Iterable[CaptureError], graph: "RosGraph") -> Iterator[str]:
    """A line for each word that isn't a file, if it may be a view, or a name of ROS 2."""
    kinds = dict[str, str]()
    for entity in graph.endpoints:
        token = entity.token
        kinds[token.full_node] = "node"
        kinds[token.name] = "service" if token.kind.startswith("service") else "topic"
    for problem in problems:
        word = problem.path
        if word == "-" or os.path.lexists(word):
            continue
        name = f"/{word.strip('/')}"
        if name in kinds:
            kind = kinds[name]
            only = f"; its messages: zdissect -T line -Y 'ros2.topic == \"{name}\"' FILE" if kind == "topic" else ""
            yield f"{name} is a {kind}: zdissect ros2 {kind}s FILE shows it among all{only}"
        elif near := nearest(word, VIEWS):
            yield f"{word} is neither a file nor a view{near}"
        elif near := nearest(name, kinds):
            yield f"{word} is neither a file nor a name of ROS 2 here{near}"
