"""`zdissect stats FILE...`: what is in captures, as tables or as JSON."""

import codecs
import io
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from zdissect.fed import fed_as
from zdissect.output.printable import dumps
from zdissect.output.style import Style
from zdissect.pipeline import Options, Pipeline
from zdissect.session.occurrences import Occurrences
from zdissect.stats import Stats

from .captures import Captures
from .command import Command
from .common import complain
from .durations import SpanOfTime
from .exit_codes import UNREADABLE
from .first_pass import look_ahead
from .interrupts import UntilInterrupted
from .options import (
    CaptureOptions,
    DisplayOptions,
    LiveOptions,
    ReportOptions,
    as_records,
    color_option,
    decode_as_option,
    fail_on_option,
    files_argument,
    filter_option,
    frames_option,
    jobs_option,
    pager_option,
    quiet_option,
    raw_keys_option,
)
from .outcome import absences, exit_code, in_frames, not_shown
from .paging import write_paged
from .ros_rows import RosNames
from .stats_feed import StatsFeed
from .stdio import for_json

if TYPE_CHECKING:
    from zdissect.filters import Filter

_UNLIMITED = 100_000
"""Columns where nothing is folded: output that isn't a terminal."""
_NARROW = 110


@click.command("stats", cls=Command)
@files_argument
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
@click.option(
    "--top", type=click.IntRange(min=0), default=25, metavar="N", help="Keys to show; 0 for all.", show_default=True
)
@click.option(
    "--every",
    "every_ns",
    type=SpanOfTime(),
    metavar="TIME",
    help="Also messages and bytes over time, in intervals of this length: 100ms, 1s, 2min.",
)
@filter_option("Only messages that match a display filter: `zdissect filter --help`.")
@raw_keys_option
@frames_option
@decode_as_option
@jobs_option
@quiet_option()
@fail_on_option
@color_option
@pager_option
@as_records(capture=CaptureOptions, display=DisplayOptions, reporting=ReportOptions)
def stats(
    as_json: bool,
    top: int,
    every_ns: int | None,
    capture: CaptureOptions,
    display: DisplayOptions,
    reporting: ReportOptions,
) -> int:
    """Counts what is in captures: sessions, messages by kind, keys, queries and their response times, findings, and
    what became of every payload byte. Several files are read in order as one capture; - is standard input.
    """
    options = capture.pipeline(history=True)
    if display.wanted is not None and display.wanted.looks_ahead:
        look_ahead(display.wanted, capture, LiveOptions(), options)
    captures = Captures(capture.files, capture.frames)
    report = None
    if display.jobs != 1 and captures.large:
        report = _by_all_cores(captures, options, every_ns, display)
    interrupted = False
    if report is None:
        report, interrupted = _collect(captures, options, StatsFeed(Stats(every_ns), display.wanted))
    if as_json:
        for_json()
        click.echo(dumps(report, indented=True))
    elif report["capture"]["frames"] or not captures.problems:
        shown = report if display.raw_keys else RosNames(report).of(report)
        write_paged(_tables(shown, top, display.style), not display.no_pager)
    sys.stdout.flush()
    for problem in captures.problems:
        complain(str(problem))
    if not reporting.quiet:
        _summary(report, captures, display.wanted)
    if interrupted:
        raise click.Abort
    found = Counter({one["code"]: one["count"] for one in report["findings"]})
    return UNREADABLE if captures.problems else exit_code(found, reporting.fail_on)


def _summary(report: dict[str, Any], captures: Captures, wanted: "Filter | None") -> None:
    """What is missing, on standard error."""
    frames = report["capture"]["frames"]
    for text in absences(Occurrences(**report["refused"]), Occurrences(**report["queries"]["silent"])):
        complain(text)
    if not report["messages"] and (frames or not captures.problems):
        what = "no Zenoh found" if wanted is None else f"nothing matches {wanted.text}"
        complain(in_frames(what, frames))
    unopened = Counter({kind["what"]: kind["frames"] for kind in report["unopened"]})
    for text in not_shown(unopened, Counter(report["conversations"])):
        complain(text)


def _by_all_cores(
    captures: Captures, options: Options, every_ns: int | None, display: DisplayOptions
) -> dict[str, Any] | None:
    """The report, made by several processes; None if one has to make it."""
    from .stats_of_groups import WantedReport, report_of_groups  # only here: most files are small

    try:
        return report_of_groups(WantedReport(captures, options, every_ns, display.wanted), display.jobs)
    except KeyboardInterrupt:
        complain("several processes have no report before the end of a file; with -j 1, Ctrl-C gives that of a part")
        raise


def _collect(captures: Captures, options: Options, feed: StatsFeed) -> tuple[dict[str, Any], bool]:
    """(report of all files, whether Ctrl-C ended it). What is good counts in any case."""
    pipeline = Pipeline(options)
    with UntilInterrupted(captures) as frames:
        for frame, items in fed_as(pipeline, feed.frames(frames), feed.usual):
            feed.stats.frame(frame)
            feed.feed(items)
    feed.feed(pipeline.close())
    return feed.stats.finish(pipeline), frames.interrupted


def _tables(report: dict[str, Any], top: int, style: Style) -> Iterator[str]:
    """The lines of the tables; nothing is cut or folded unless a terminal is too narrow."""
    from rich.console import Console  # only here: JSON needs none of it

    from .stats_tables import show, theme

    color = bool(style.end)
    terminal = sys.stdout.isatty()
    columns = shutil.get_terminal_size().columns if terminal else _UNLIMITED
    sparks = columns if terminal and codecs.lookup(sys.stdout.encoding).name == "utf-8" else 0
    console = Console(
        file=io.StringIO(), width=columns, force_terminal=color, no_color=not color, highlight=False, markup=False,
        emoji=False, color_system="256" if color else None, legacy_windows=False, theme=theme(style),
    )  # fmt: skip
    show(report, console, top, columns < _NARROW, sparks)
    # by way of a text: rich ends the program with 1 when it writes to a closed pipe
    assert isinstance(console.file, io.StringIO)
    yield from (f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


commands = {"stats": stats}
