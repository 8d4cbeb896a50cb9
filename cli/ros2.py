"""`zdissect ros2 [VIEW] FILE...`: nodes, topics, services and actions of ROS 2 over rmw_zenoh, and what is wrong."""

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from zdissect.fed import fed
from zdissect.output.printable import dumps
from zdissect.pipeline import Pipeline

from .captures import Captures
from .command import Command
from .common import complain
from .exit_codes import DONE, FINDINGS, UNREADABLE
from .interrupts import UntilInterrupted
from .list_cells import json_lines
from .options import (
    CaptureOptions,
    DisplayOptions,
    ReportOptions,
    as_records,
    color_option,
    decode_as_option,
    fail_on_option,
    files_argument,
    frames_option,
    pager_option,
    quiet_option,
    times_option,
)
from .outcome import not_opened
from .ros_definitions import definitions
from .ros_moment import AtMoment
from .stdio import for_json

if TYPE_CHECKING:
    from zdissect.ros2.summaries import RosReport
    from zdissect.ros2.view import RosView

VIEWS = ("nodes", "topics", "services", "actions", "graph", "doctor")


@dataclass(frozen=True, slots=True)
class RosOptions:
    """What is asked of ROS 2."""

    view: str = ""
    """One of `VIEWS`; empty: an overview."""
    at: str = ""
    msgs: tuple[str, ...] = ()


@click.command("ros2", cls=Command)
@files_argument
@click.option(
    "--at", metavar="TIME|FRAME", default="", help="Only what is there at a time (ISO 8601, 06:12:30.5, +3.2) or frame."
)
@click.option(
    "--msgs", metavar="DIR", multiple=True, help="Definitions of your own: .msg, .srv, .action files below DIR."
)
@click.option("--json", "form", flag_value="json", help="All that is known, as JSON.")
@click.option("--dot", "form", flag_value="dot", help="Of the graph: for Graphviz.")
@click.option("--mermaid", "form", flag_value="mermaid", help="Of the graph: for Mermaid.")
@times_option
@decode_as_option
@frames_option
@color_option
@pager_option
@fail_on_option
@quiet_option()
@as_records(capture=CaptureOptions, display=DisplayOptions, reporting=ReportOptions, ros=RosOptions)
def ros2(capture: CaptureOptions, display: DisplayOptions, reporting: ReportOptions, ros: RosOptions) -> int:
    """Shows ROS 2 in captures of rmw_zenoh: who publishes, subscribes, serves and calls, what was sent, and why
    something doesn't arrive.

    Before FILE..., a word chooses what is shown: nodes, topics, services, actions, graph, or doctor (what is
    wrong). Without one: an overview. docs/ros2.md says what is in the JSON.
    """
    ros, capture = _chosen(ros, capture, display)
    from .ros_text import write

    asked = AtMoment(ros.at)
    captures = Captures(capture.files, capture.frames)
    pipeline = Pipeline(capture.pipeline(history=True))
    view = made_view(ros)
    interrupted = _collect(captures, view, pipeline, asked)
    from zdissect.ros2.summaries import RosReport

    report = RosReport(view, pipeline, asked.ts_ns(view.extent))
    if display.form == "json":
        for_json()
        _write_json(report, ros.view)
    else:
        write(report, ros.view, display)
    sys.stdout.flush()
    if interrupted:
        raise click.Abort
    return _end(captures, report, pipeline, reporting)


def made_view(ros: RosOptions) -> "RosView":
    """A view that decodes contents, if the library for it is installed."""
    from zdissect.ros2.view import RosView

    contents = contents_of(ros.msgs)
    if contents is None:
        complain("contents aren't decoded without rosbags: pip install 'zdissect[ros2]'")
    return RosView(contents)


def contents_of(directories: tuple[str, ...]) -> Any:
    """What decodes contents; None without rosbags. Raises click.BadParameter for a DIR that can't be read."""
    from zdissect.ros2.content import Contents
    from zdissect.ros2.type_finder import TypeFinder, can_decode

    own = definitions(directories)
    return Contents(TypeFinder(own)) if can_decode() else None


def _chosen(ros: RosOptions, capture: CaptureOptions, display: DisplayOptions) -> tuple[RosOptions, CaptureOptions]:
    """The options, with the first word of FILE... as the view, if it is one."""
    files, view = capture.files, ""
    if files[0] in VIEWS:
        view, files = files[0], files[1:]
        if not files:
            raise click.UsageError(f"which capture? zdissect ros2 {view} FILE (a file of that name: ./{view})")
    if display.form in ("dot", "mermaid") and view not in ("", "graph"):
        raise click.UsageError(f"--{display.form} draws the graph: zdissect ros2 graph --{display.form} FILE")
    if display.form in ("dot", "mermaid"):
        view = "graph"
    return replace(ros, view=view), replace(capture, files=files)


def _collect(captures: Captures, view: "RosView", pipeline: Pipeline, asked: AtMoment) -> bool:
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


def _write_json(report: "RosReport", view: str) -> None:
    """All entries, or those of one view."""
    if not view or view == "graph":
        sys.stdout.write(dumps(report.all() if not view else report.graph()) + "\n")
        return
    rows = report.problems() if view == "doctor" else getattr(report, view)()
    sys.stdout.writelines(json_lines(rows))


def _end(captures: Captures, report: "RosReport", pipeline: Pipeline, reporting: ReportOptions) -> int:
    """What is missing, on standard error, and the exit code."""
    for problem in captures.problems:
        complain(str(problem))
    if not reporting.quiet:
        if not report.view.sessions.legs and (captures.frames or not captures.problems):
            complain(f"no Zenoh found in {captures.frames} frames")
        elif not report.view.is_ros and not captures.problems:
            complain("no ROS 2 found: neither tokens of rmw_zenoh (@ros2_lv/...) nor messages on keys of its topics")
        if unlisted := report.unlisted():
            complain(f"{unlisted} more messages, calls or entities aren't listed: only so many are kept. -c reads less")
        if unopened := not_opened(pipeline.decoder.unopened.total()):
            complain(unopened)
    if captures.problems:
        return UNREADABLE
    if reporting.fail_on is not None:
        from zdissect.grammar.rule import SEVERITIES

        least = SEVERITIES.index(reporting.fail_on)
        if any(SEVERITIES.index(problem["severity"]) >= least for problem in report.problems()):
            return FINDINGS
    return DONE


commands = {"ros2": ros2}
