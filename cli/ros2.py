"""`zdissect ros2 [VIEW] FILE...`: nodes, topics, services and actions of ROS 2 over rmw_zenoh, and what is wrong."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from zdissect.output.printable import dumps
from zdissect.pipeline import Pipeline

from .captures import Captures
from .command import Command
from .common import complain
from .exit_codes import DONE, FINDINGS, UNREADABLE
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
from .outcome import in_frames, not_shown
from .ros_moment import AtMoment
from .ros_reading import VIEWS, RosOptions, collect, made_view
from .stdio import for_json

if TYPE_CHECKING:
    from zdissect.ros2.summaries import RosReport


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
@click.option("-o", "out", metavar="OUT", help="Of bag: what to write: OUT.mcap, or a directory.")
@click.option("--force", is_flag=True, help="Of bag: replace OUT.")
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

    Before FILE..., a word chooses what is shown: nodes, topics, services, actions, graph, doctor (what is wrong),
    or bag (writes a ROS 2 bag). Without one: an overview. docs/ros2.md says what is in the JSON.
    """
    ros, capture = _chosen(ros, capture, display)
    if ros.view == "bag":
        from .ros_bag import write_bag

        return write_bag(ros, capture, display.msgs, reporting)
    from .ros_text import write

    asked = AtMoment(ros.at)
    captures = Captures(capture.files, capture.frames)
    pipeline = Pipeline(capture.pipeline(history=True))
    view = made_view(display.msgs, reporting.quiet)
    interrupted = collect(captures, view, pipeline, asked)
    from zdissect.ros2.summaries import RosReport

    report = RosReport(view, pipeline, asked.ts_ns(view.extent))
    outside = asked.outside(view.extent)
    if display.form == "json":
        for_json()
        _write_json(report, ros.view)
    else:
        write(report, ros.view, display)
    sys.stdout.flush()
    if interrupted:
        raise click.Abort
    if outside and not reporting.quiet:
        complain(outside)
    return _end(captures, report, pipeline, reporting)


def _chosen(ros: RosOptions, capture: CaptureOptions, display: DisplayOptions) -> tuple[RosOptions, CaptureOptions]:
    """The options, with the first word of FILE... as the view, if it is one."""
    files, view = capture.files, ""
    if files[0] in VIEWS:
        view, files = files[0], files[1:]
        if not files:
            raise click.UsageError(f"which capture? zdissect ros2 {view} FILE (a file of that name: ./{view})")
    if display.form in ("dot", "mermaid") and view not in ("", "graph"):
        raise click.UsageError(f"--{display.form} draws the graph: zdissect ros2 graph --{display.form} FILE")
    if (view == "bag") != (ros.out is not None):
        raise click.UsageError("a bag is written by: zdissect ros2 bag FILE -o OUT.mcap")
    if display.form in ("dot", "mermaid"):
        view = "graph"
    return replace(ros, view=view), replace(capture, files=files)


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
    if captures.problems:
        from .ros_hints import hints

        for text in hints(captures.problems, report.view.graph):
            complain(text)
    if not reporting.quiet:
        if not report.view.sessions.legs and (captures.frames or not captures.problems):
            complain(in_frames("no Zenoh found", captures.frames))
        elif not report.view.is_ros and (captures.frames or not captures.problems):
            complain("no ROS 2 found: neither tokens of rmw_zenoh (@ros2_lv/...) nor messages on keys of its topics")
        if unlisted := report.unlisted():
            complain(f"{unlisted} more messages, calls or entities aren't listed: only so many are kept. -c reads less")
        for text in not_shown(pipeline.decoder.unopened.total(), pipeline.others()):
            complain(text)
    if captures.problems:
        return UNREADABLE
    if reporting.fail_on is not None:
        from zdissect.grammar.rule import SEVERITIES

        least = SEVERITIES.index(reporting.fail_on)
        if any(SEVERITIES.index(problem["severity"]) >= least for problem in report.problems()):
            return FINDINGS
    return DONE


commands = {"ros2": ros2}
