"""`zdissect ros2 bag FILE... -o OUT.mcap`: the messages of a capture as a ROS 2 bag."""

from typing import TYPE_CHECKING

import click

from zdissect.output.text import prose
from zdissect.pipeline import Pipeline

from .captures import Captures
from .common import complain, complain_of_leftovers
from .exit_codes import DONE, UNREADABLE
from .options import CaptureOptions, ReportOptions
from .outcome import not_shown
from .ros_moment import AtMoment
from .ros_reading import RosOptions, collect, contents_of
from .stats_units import many

if TYPE_CHECKING:
    from zdissect.export.bag import Bag


def write_bag(ros: RosOptions, capture: CaptureOptions, msgs: tuple[str, ...], reporting: ReportOptions) -> int:
    """Writes a bag; returns the exit code."""
    contents = contents_of(msgs)
    if contents is None or ros.out is None:
        raise click.UsageError("bags are written by rosbags: pip install 'zdissect[ros2]'")
    from zdissect.export.bag import Bag
    from zdissect.export.payload_files import AlreadyThere
    from zdissect.ros2.view import RosView

    captures, pipeline = Captures(capture.files, capture.frames), Pipeline(capture.pipeline(history=True))
    bag = Bag(ros.out, contents, ros.force)
    view = RosView(None, bag.write)
    bag.graph = view.graph
    interrupted = False
    try:
        with bag:
            interrupted = collect(captures, view, pipeline, AtMoment(""))
            if not bag.messages:
                raise _NothingError
    except _NothingError:
        complain(f"there are no messages of ROS 2: {ros.out} isn't written")
        for text in not_shown(pipeline.decoder.unopened.total(), pipeline.others()):
            complain(text)
    except AlreadyThere as problem:
        raise click.UsageError(str(problem)) from None
    complain_of_leftovers(bag.removed)
    for unread in captures.problems:
        complain(str(unread))
    if not reporting.quiet and bag.messages:
        _summary(bag, ros.out)
    if interrupted:
        raise click.Abort
    return UNREADABLE if captures.problems else DONE


class _NothingError(Exception):
    """There is nothing to be written."""


def _summary(bag: "Bag", path: str) -> None:
    """What was written, on standard error."""
    complain(f"{path}: {many(bag.messages, 'message')} on {many(len(bag.channels), 'topic')}")
    for name, why in bag.undefined.items():
        complain(prose(f"{name} is in it without its definition: {why}"))
    if len(bag.domains) > 1:
        complain(f"they are from several domains: {', '.join(map(str, sorted(bag.domains)))}")
