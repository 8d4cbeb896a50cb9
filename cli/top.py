"""`zdissect top`: keys by rate and size, sessions and findings, while they come."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from zdissect.dissection import InTurn, Item
from zdissect.endless import Endless
from zdissect.fed import as_they_come
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.session.model import Link
from zdissect.stats.activity import Activity

from .captures import Captures, captured
from .command import Command
from .common import complain
from .exit_codes import DONE, SIGNALLED, UNREADABLE
from .options import (
    CaptureOptions,
    DisplayOptions,
    LiveOptions,
    ReportOptions,
    as_records,
    autostop_option,
    capture_filter_option,
    decode_as_option,
    files_or_interface,
    frames_option,
    interface_option,
    interfaces_option,
    quiet_option,
    raw_keys_option,
)
from .outcome import not_shown
from .stdio import for_json
from .top_screen import ORDERS, Printed, Screen, View

if TYPE_CHECKING:
    from .interface import Interface


@click.command("top", cls=Command)
@files_or_interface
@interface_option
@interfaces_option
@capture_filter_option
@click.option("--sort", "order", type=click.Choice(list(ORDERS)), default="rate", help="Order of the keys.")
@click.option("--every", type=click.FloatRange(min=0.1), metavar="S", help="Seconds between two tables; 1 if live.")
@click.option("-n", "iterations", type=click.IntRange(min=1), metavar="N", help="End after N tables.")
@click.option("--top", "rows", type=click.IntRange(min=0), metavar="N", help="Keys to show; 0 for all.")
@click.option(
    "--batch", "form", flag_value="batch", help="Print one table after the other, as if there were no terminal."
)
@click.option("--json", "form", flag_value="json", help="One JSON object per line for each table, with all keys.")
@autostop_option
@frames_option
@decode_as_option
@raw_keys_option
@quiet_option()
@as_records(capture=CaptureOptions, live=LiveOptions, display=DisplayOptions, reporting=ReportOptions)
def top(
    capture: CaptureOptions, live: LiveOptions, display: DisplayOptions, reporting: ReportOptions, order: str,
    every: float | None, iterations: int | None, rows: int | None,
) -> int:  # fmt: skip
    """Shows which keys carry how much, in messages and bytes a second, with their last values; sessions and findings.

    On an interface (-i) the table is updated every second; rates are over the last ten. For files, and for standard
    input without --every, only the final table is shown, with rates since the first message of each key.
    """
    with captured(capture, live) as captures:
        if captures.live and every is None:
            every = 1.0
        elif iterations is not None and every is None:
            raise click.UsageError("for files -n needs --every S: it counts tables")
        if not reporting.quiet and captures.greeting():
            complain(captures.greeting())
        with _view(order, rows, display) as view:
            run = TopRun(captures, capture.pipeline(), view)
            run.run(every, iterations)
    for problem in captures.problems:
        complain(str(problem))
    if not reporting.quiet:
        for text in not_shown(run.pipeline.decoder.unopened.total(), run.pipeline.others()):
            complain(text)
    if not reporting.quiet and captures.summary():
        complain(captures.summary())
    if captures.signal:
        return SIGNALLED + captures.signal
    return UNREADABLE if captures.problems else DONE


def _view(order: str, rows: int | None, display: DisplayOptions) -> View:
    """Where tables are shown."""
    if display.form != "json":
        shown = Printed if display.form == "batch" or not sys.stdout.isatty() else Screen
        return shown(order, rows, display.raw_keys)
    from .top_json import JsonLines

    for_json()
    return JsonLines(order, rows)


class TopRun:
    """One run over files, or an interface."""

    def __init__(self, captures: "Captures | Interface", options: Options, view: View) -> None:
        self.captures, self.view = captures, view
        self.pipeline = Pipeline(options)
        self.source = Endless(self.pipeline, self.pipeline)
        self.activity = Activity()
        self.shown = 0
        self.due = False
        """Whether a table is due."""
        self.whole = False
        """Whether all has been taken of the frames that came together."""

    def run(self, every: float | None, iterations: int | None) -> None:
        """Shows a table after so many seconds, and one at the end; ends after so many tables."""
        live = self.captures.live
        due = time.monotonic() + every if every is not None and live else None
        for items in self.fed(every if not live else None):
            for item in items:
                if isinstance(item, InTurn):
                    item.take()
                else:
                    self.activity.take(item)
            if not self.whole:
                continue
            self.whole = False
            if due is not None and every is not None and (now := time.monotonic()) >= due:
                due = max(due + every, now)
                self.due = True
            if self.due:
                self.due = False
                self.show()
                if self.shown == iterations:
                    return
        links = self.links()
        for item in self.source.close():
            self.activity.take(item)
        self.show(links)

    def fed(self, every: float | None) -> Iterable[Iterable[Item | InTurn[None]]]:
        """What frames complete that have come together, in parts.

        Args:
            every: Seconds of capture time after which a table is due, which knows of no frame that comes later.
        """
        captures = self.captures
        arriving = captures.arriving() if isinstance(captures, Captures) else captures
        frames = arriving if every is None else self.timed(every)
        return as_they_come(self.pipeline, frames, self.activity.usual, self.between)

    def between(self) -> list[Item]:
        """What else there is when all that came together was fed."""
        self.whole = True
        return [*self.passed(), *self.source.swept()]

    def timed(self, every: float) -> Iterator[Frame | None]:
        """The frames of files, and None where a table is due by their time."""
        due: float | None = None
        for frame in self.captures:
            if frame is None:
                continue
            yield frame
            now = frame.ts_ns / 1e9
            if due is None:
                due = now + every
            elif now >= due:
                due = max(due + every, now)
                self.due = True
                yield None

    def passed(self) -> list[Item]:
        """What the time shows that passes without frames."""
        now_ns = self.captures.now_ns
        return self.source.passed(now_ns) if now_ns is not None else []

    def now_ns(self) -> int:
        """The time of the capture."""
        live_ns, last = self.captures.now_ns, self.pipeline.last
        return live_ns if live_ns is not None else last.ts_ns if last is not None else 0

    def links(self) -> list[Link]:
        """The links that haven't ended."""
        return [link for link in self.pipeline.sessions.links.values() if not link.over]

    def show(self, ended: list[Link] | None = None) -> None:
        """Shows how it stands; at the end with the links that were there until then."""
        now_ns, links = self.now_ns(), self.links() if ended is None else ended
        self.view.show(self.activity, links, self.captures.frames, now_ns, final=ended is not None)
        self.activity.mark(now_ns)
        self.shown += 1


commands = {"top": top}
