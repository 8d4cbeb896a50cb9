"""How far `zdissect batch` is, and what it did, on standard error."""

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .common import complain
from .outcome import describe, not_opened
from .stats_units import many

if TYPE_CHECKING:
    from rich.progress import Progress

    from zdissect.export.directory import Report
    from zdissect.spark.background import Stages

_EVERY_S = 30
"""Seconds between two lines where there is no terminal."""
_CLASSES = ("decoded", "undecoded", "skipped", "framing", "opaque", "not_zenoh", "repeated")
_MOST = 10
"""Files that can't be read, of which the reason is printed."""


class SilentProgress:
    """Shows nothing, and measures the time."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.files = self.size = 0

    @property
    def seconds(self) -> float:
        """Since the start."""
        return max(time.monotonic() - self.began, 1e-6)

    def begin(self, files: int, size: int) -> None:
        """Receives how much there is to do."""
        self.files, self.size = files, size

    def update(self, files: int, size: int, messages: int) -> None:
        """Receives how much has been done."""

    def stages(self, now: "Stages") -> None:
        """Receives how far Spark is."""

    def spark(self, now: "Stages") -> str:
        """How far Spark is, in words."""
        amount = f"{many(self.files, 'file')}, {self.size / 1e6:.1f} MB"
        if not now.tasks:
            return amount
        running = f"{now.running} running" if now.running else "none running"  # a cluster without free workers
        return f"{amount}, stage {now.number}: {now.done} of {now.tasks} tasks, {running}"


class ProgressLines(SilentProgress):
    """A line now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.next = self.began + _EVERY_S

    def due(self) -> bool:
        """Whether it is time for the next."""
        now = time.monotonic()
        if now < self.next:
            return False
        self.next = now + _EVERY_S
        return True

    def update(self, files: int, size: int, messages: int) -> None:
        if self.due():
            share = f"{100 * min(size, self.size) // max(self.size, 1)} %"
            complain(f"{share}, {files} of {self.files} files, {messages} messages, {_left(self, size)}")

    def stages(self, now: "Stages") -> None:
        if self.due():
            complain(f"{self.spark(now)}, {self.seconds:.0f} s")


class ProgressBar(SilentProgress):
    """A progress bar."""

    def __init__(self, bar: "Progress", first: str = "looking for captures") -> None:
        super().__init__()
        self.bar = bar
        self.task = bar.add_task(first, total=None, detail="")

    def begin(self, files: int, size: int) -> None:
        super().begin(files, size)
        self.bar.update(self.task, total=max(size, 1), description="converting")

    def update(self, files: int, size: int, messages: int) -> None:
        rate = round(messages / self.seconds)
        detail = f"{files}/{self.files} files, {messages} messages, {rate}/s"
        self.bar.update(self.task, completed=min(size, self.size), detail=detail)

    def stages(self, now: "Stages") -> None:
        self.bar.update(self.task, completed=now.done, total=now.tasks or None, detail=self.spark(now))


@contextmanager
def progress(quiet: bool, spark: bool) -> Iterator[SilentProgress]:
    """What shows how far it is: a bar on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield SilentProgress() if quiet else ProgressLines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    what, bar, detail = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[detail]}")
    # a descriptor of its own: while Spark starts, that of standard error is turned aside for what Java has to say
    with open(os.dup(2), "w") as terminal:
        console = Console(file=terminal)
        if spark:
            with Progress(what, bar, detail, TimeElapsedColumn(), console=console, transient=True) as shown:
                yield ProgressBar(shown, "starting Spark")
        else:
            columns = (what, bar, DownloadColumn(), detail, TimeRemainingColumn())
            with Progress(*columns, console=console, transient=True) as shown:
                yield ProgressBar(shown)


def _left(watch: SilentProgress, size: int) -> str:
    """The time that is left, at the rate so far."""
    seconds = watch.seconds * (watch.size - min(size, watch.size)) / size if size else 0
    minutes = round(seconds) // 60
    return f"{minutes} min left" if minutes else f"{round(seconds)} s left"


def summary(report: "Report", out: str, seconds: float) -> None:
    """What was done, what became of the bytes, and what is wrong with files."""
    done = report.done
    rows = done.rows
    frames = sum(file_stats.frames for file_stats in done.files)
    rate, speed = rows["messages"] / seconds, report.size / seconds / 1e6
    complain(
        f"{many(len(done.files), 'file')}, {many(report.captures, 'capture')}, {many(frames, 'frame')}, "
        f"{many(rows['messages'], 'message')}, {many(rows['sessions'], 'session')} "
        f"in {seconds:.1f} s ({rate:.0f} messages/s, {speed:.1f} MB/s)"
    )
    counted = done.accounting
    parts = [f"{counted[name]} {name.replace('_', ' ')}" for name in _CLASSES if counted[name] or name == "decoded"]
    missing = f"; {counted['not_captured']} more aren't in the captures" if counted["not_captured"] else ""
    complain(f"payload bytes: {counted['captured']} = {' + '.join(parts)}{missing}")
    if unopened := not_opened(sum((file_stats.unopened for file_stats in done.files), Counter())):
        complain(unopened)
    if done.codes:
        complain(describe(done.codes))
    bad = report.bad
    for file_stats in bad[:_MOST]:
        complain(str(file_stats.error))
    if len(bad) > _MOST:
        complain(f"... and {len(bad) - _MOST} more files: SELECT file, error FROM captures WHERE status <> 'ok'")
    complain(f"tables in {out}")
