"""`zdissect batch --follow`: captures are converted as they arrive, until it is interrupted."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from .common import complain
from .exit_codes import UNREADABLE, USAGE
from .options import ReportOptions
from .outcome import describe, exit_code
from .stats_units import many

if TYPE_CHECKING:
    from zdissect.export.directory import Job
    from zdissect.growing.follower import Epoch, Steps

    from .batch_spark import Cluster


def refuse(mode: str, jobs: int | None, paths: tuple[str, str]) -> None:
    """Raises UsageError for what doesn't go with --follow."""
    if mode != "error":
        raise click.UsageError("--mode doesn't go with --follow, which goes on with OUT if it has begun it")
    if jobs is not None:
        raise click.UsageError("--follow takes one process: leave -j out")
    for path in paths:
        if "://" in path:
            raise click.UsageError(f"{path}: --follow takes directories, no URIs")


def follow(job: "Job", reporting: ReportOptions, cluster: "Cluster | None") -> int:
    """Converts what is there and what comes, until Ctrl-C; returns the exit code."""
    from zdissect.export.parquet import WriteError

    from . import batch_spark

    try:
        if cluster is None:
            return _follow(job, reporting, None)
        return batch_spark.follow(job, cluster, lambda steps: _follow(job, reporting, steps))
    except WriteError as problem:
        complain(str(problem))
        return USAGE


def _follow(job: "Job", reporting: ReportOptions, steps: "Steps | None") -> int:
    """Takes steps as files arrive. Raises WriteError."""
    from zdissect.growing.checkpoint import described
    from zdissect.growing.followed_tables import FollowedTables
    from zdissect.growing.follower import Follower

    seen = _FollowLines(job, reporting)
    try:
        with FollowedTables(job.out, described(job)) as tables:
            seen.begin(tables.checkpoint.known())
            for epoch in Follower(job, tables, steps, complain).run():
                seen.add(epoch)
    except KeyboardInterrupt:
        return seen.end()
    except SystemExit:  # by SIGTERM
        seen.end()
        raise
    return 0


class _FollowLines:
    """What was done so far, on standard error."""

    def __init__(self, job: "Job", reporting: ReportOptions) -> None:
        self.job, self.reporting = job, reporting
        self.codes: Counter[str] = Counter()
        self.files = 0
        self.bad = False

    def say(self, text: str) -> None:
        """Prints a line."""
        if not self.reporting.quiet:
            complain(text)

    def begin(self, known: dict[str, Any]) -> None:
        """Tells that it begins, or goes on."""
        done = f"; {many(len(known), 'file')} in {self.job.out} already" if known else ""
        self.say(f"following {self.job.directory}{done}; Ctrl-C ends it")

    def add(self, epoch: "Epoch | None") -> None:
        """Tells what a commit has added."""
        if epoch is None:
            return
        done = epoch.done
        self.files = epoch.files
        self.codes += done.codes
        found = f"; {describe(done.codes)}" if done.codes else ""
        self.say(
            f"{_names(done.files)}: {many(sum(file.messages for file in done.files), 'message')} in "
            f"{epoch.seconds:.1f} s; {many(epoch.files, 'file')} in all{found}"
        )
        for file in done.files:
            if file.error:
                self.bad = True
                self.say(str(file.error))

    def end(self) -> int:
        """Tells that it ends; returns the exit code."""
        self.say(f"ended; the same command goes on. Tables in {self.job.out}")
        return UNREADABLE if self.bad else exit_code(self.codes, self.reporting.fail_on)


def _names(files: list[Any]) -> str:
    """The files of a commit."""
    return files[0].file if len(files) == 1 else f"{files[0].file} and {len(files) - 1} more"
