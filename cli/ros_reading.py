"""Reads captures for `zdissect ros2`: what is asked, and the view that collects it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zdissect.fed import fed
from zdissect.pipeline import Pipeline

from .captures import Captures
from .common import complain
from .interrupts import UntilInterrupted
from .ros_definitions import definitions
from .ros_moment import AtMoment

if TYPE_CHECKING:
    from zdissect.ros2.content import Contents
    from zdissect.ros2.view import RosView

VIEWS = ("nodes", "topics", "services", "actions", "graph", "doctor", "bag")


@dataclass(frozen=True, slots=True)
class RosOptions:
    """What is asked of ROS 2."""

    view: str = ""
    """One of `VIEWS`; empty: an overview."""
    at: str = ""
    out: str | None = None
    force: bool = False


def collect(captures: Captures, view: "RosView", pipeline: Pipeline, asked: AtMoment) -> bool:
    """Reads all frames; returns whether Ctrl-C ended it."""
    with UntilInterrupted(captures) as frames:
        for frame, items in fed(pipeline, frames):
            asked.frame(frame)
            view.frame(frame)
            for item in items:
                view.feed(item)
    for item in pipeline.close():
        view.feed(item)
    return frames.interrupted


def made_view(msgs: tuple[str, ...], quiet: bool) -> "RosView":
    """A view that decodes contents, if the library for it is installed."""
    from zdissect.ros2.view import RosView

    contents = contents_of(msgs)
    if contents is None and not quiet:
        complain("contents aren't decoded without rosbags: pip install 'zdissect[ros2]'")
    return RosView(contents)


def contents_of(directories: tuple[str, ...]) -> "Contents | None":
    """What decodes contents; None without rosbags. Raises click.BadParameter for a DIR that can't be read."""
    from zdissect.ros2.content import Contents
    from zdissect.ros2.type_finder import TypeFinder, can_decode

    own = definitions(directories)
    return Contents(TypeFinder(own)) if can_decode() else None
