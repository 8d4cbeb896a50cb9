"""`zdissect batch DIR -o OUT`: a directory of captures to tables in Parquet."""

import signal
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from zdissect.export.payload_limit import FULL, parse_payload_limit

from . import completers
from .command import Command
from .common import complain, complain_of_leftovers
from .exit_codes import DONE, UNREADABLE, USAGE
from .options import (
    CaptureOptions,
    ReportOptions,
    as_records,
    decode_as_option,
    fail_on_option,
    filter_option,
    jobs_option,
    quiet_option,
)

if TYPE_CHECKING:
    from zdissect.export.directory import Job
    from zdissect.filters import Filter

    from .batch_spark import Cluster


def _kept(ctx: click.Context, param: click.Parameter, value: str) -> int | None:
    """How much of payloads is kept."""
    try:
        return parse_payload_limit(value)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Which captures become tables, and what of them."""

    mode: str
    include: tuple[str, ...]
    payload: int | None
    fields: bool
    join: str | None
    jobs: int | None
    ros2: bool = False
    no_contents: bool = False
    msgs: tuple[str, ...] = ()
    follow: bool = False
    wanted: "Filter | None" = None
    """Selects the rows of messages; None: all."""


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """Whether Spark does it, and how."""

    spark: bool = False
    master: str | None = None
    conf: tuple[str, ...] = ()
    partitions: int | None = None


@click.command("batch", cls=Command)
@click.argument("directory", metavar="DIR", shell_complete=completers.directories)
@click.option(
    "-o", "out", required=True, metavar="OUT", shell_complete=completers.directories, help="Directory for the tables."
)
@click.option(
    "--mode",
    type=click.Choice(["error", "append", "overwrite", "ignore"]),
    default="error",
    help="What to do if OUT exists.",
    show_default=True,
)
@click.option("--include", multiple=True, metavar="GLOB", help="Only these files (name or path below DIR); repeatable.")
@click.option("--payload", default=FULL, callback=_kept, metavar="full|N|none", help="How much of a payload to keep.")
@click.option("--fields", is_flag=True, help="Fill the column `fields`: whole messages as JSON (slow, large).")
@click.option("--ros2", is_flag=True, help="Add columns of ROS 2 to messages: topic, type, number, time, content.")
@click.option("--no-contents", is_flag=True, help="With --ros2: leave contents out (fast).")
@click.option("--msgs", metavar="DIR", multiple=True, help="With --ros2: definitions of your own below DIR.")
@click.option("--one-capture", "join", flag_value="one", default="auto", help="Read all files as one capture.")
@click.option("--separate", "join", flag_value="separate", help="Read every file as a capture of its own.")
@jobs_option
@click.option("--follow", is_flag=True, help="Go on converting captures as they arrive in DIR, until Ctrl-C.")
@filter_option("Keep only the messages that match a display filter; all other tables are complete.")
@decode_as_option
@click.option("--spark", is_flag=True, help="Convert with Spark; DIR and OUT may be URIs.")
@click.option("--master", metavar="URL", help="Spark master; by default this machine, all cores.")
@click.option("--conf", multiple=True, metavar="NAME=VALUE", help="A Spark setting; repeatable.")
@click.option("--partitions", type=click.IntRange(min=1), metavar="N", help="Number of Spark tasks that decode.")
@quiet_option("No progress and no summary on standard error.")
@fail_on_option
@as_records(capture=CaptureOptions, reporting=ReportOptions, tables=TableOptions, spark=SparkOptions)
def batch(
    directory: str,
    out: str,
    capture: CaptureOptions,
    tables: TableOptions,
    spark: SparkOptions,
    reporting: ReportOptions,
) -> int:
    """Converts the captures in a directory and below it to Parquet: OUT/messages, findings, captures, sessions.

    The files of a rotated capture (tcpdump -C or -G, dumpcap -b, editcap -c) are read as one. A file that can't be read
    gets a row in captures, and the others are still converted.
    """
    options = capture.pipeline()
    if find_spec("pyarrow") is None:
        complain("batch writes Parquet with pyarrow, which isn't installed: pip install 'zdissect[batch]'")
        return USAGE
    from zdissect.export.conversion_settings import Settings
    from zdissect.export.directory import Job
    from zdissect.export.no_pandas import without_pandas

    if not spark.spark:
        without_pandas()
    settings = Settings(options.tcp_ports, options.udp_ports, tables.payload, tables.fields, _filter(tables.wanted))
    settings = replace(settings, limits=options.limits, **_ros2(tables))
    job = Job(directory, out, settings, tables.mode, tables.include, tables.join or "auto", tables.jobs or 0)
    _undo_killed_runs(out)
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        return _follow(job, reporting, tables, spark) if tables.follow else _convert(job, reporting, _cluster(spark))
    finally:
        signal.signal(signal.SIGTERM, before)


def _follow(job: "Job", reporting: ReportOptions, tables: TableOptions, spark: SparkOptions) -> int:
    """Converts what is there and what comes."""
    import os

    from .batch_follow import follow, refuse

    refuse(tables.mode, tables.jobs, (job.directory, job.out))
    cluster = _cluster(spark)
    if not os.path.isdir(job.directory):
        there = os.path.exists(job.directory)
        what = "it is a file, but --follow needs a directory" if there else "there is no such directory"
        complain(f"{job.directory}: {what}")
        return USAGE
    return follow(job, reporting, cluster)


def _ros2(tables: TableOptions) -> dict[str, Any]:
    """What is asked of ROS 2, as settings."""
    if not tables.ros2:
        if tables.no_contents or tables.msgs:
            raise click.UsageError("--no-contents and --msgs go with --ros2")
        return {}
    from zdissect.ros2.type_finder import can_decode

    from .ros_definitions import definitions

    if not tables.no_contents and not can_decode():
        raise click.UsageError("contents are decoded by rosbags: pip install 'zdissect[ros2]', or --no-contents")
    own = definitions(tables.msgs)
    return {"ros2": True, "contents": not tables.no_contents, "definitions": tuple(own.items())}


def _filter(wanted: "Filter | None") -> str:
    """The text of a filter that may choose rows. Raises click.BadParameter for one that may not."""
    if wanted is None:
        return ""
    from zdissect.export.filtered_messages import check
    from zdissect.filters import FilterError

    try:
        return check(wanted.text).text
    except FilterError as fault:
        raise click.BadParameter(str(fault), param_hint="-Y") from None


def _cluster(options: SparkOptions) -> "Cluster | None":
    """Where Spark runs; None if it isn't wanted."""
    if options.spark:
        from .batch_spark import Cluster, settings

        return Cluster(options.master, settings(options.conf), options.partitions)
    for name in ("master", "conf", "partitions"):
        if getattr(options, name):
            raise click.UsageError(f"--{name} needs --spark")
    return None


def _convert(job: "Job", reporting: ReportOptions, cluster: "Cluster | None") -> int:
    """Converts, and says how it went."""
    import os

    from zdissect.export.directory import convert_directory
    from zdissect.export.parquet import WriteError

    from .batch_progress import progress, summary
    from .batch_spark import convert, there
    from .outcome import exit_code

    for path in (job.directory, job.out):
        if "://" in path and not cluster:
            complain(f"{path}: URIs need --spark; give a directory")
            return USAGE
    if cluster and not _is_text(job.out):
        complain(f"{job.out}: Spark writes only where the name is UTF-8; choose another, or leave --spark out")
        return USAGE
    if not os.path.exists(job.directory) and "://" not in job.directory:
        complain(f"{job.directory}: there is no such directory")
        return USAGE
    try:
        if job.mode == "ignore" and (os.path.lexists(job.out) if cluster is None else there(job)):
            complain(f"{job.out} exists: nothing was done")
            return DONE
        with progress(reporting.quiet, cluster is not None) as watch:
            report = convert_directory(job, watch) if cluster is None else convert(job, watch, cluster)
    except WriteError as problem:
        complain(str(problem))
        return USAGE
    except KeyboardInterrupt:
        complain("interrupted: no tables were written")
        raise click.Abort from None
    if report is None:
        what = f"no file in it matches {' or '.join(job.include)}" if job.include else "there are no captures in it"
        complain(f"{job.directory}: {what}; nothing was written")
        return UNREADABLE
    if not reporting.quiet:
        summary(report, job.out, watch.seconds)
    return UNREADABLE if report.bad else exit_code(report.done.codes, reporting.fail_on)


def _undo_killed_runs(out: str) -> None:
    """Says what killed runs have left of OUT, and is gone now."""
    from contextlib import suppress
    from pathlib import Path

    from zdissect.capture.leftovers import recover

    with suppress(OSError):  # the next look at OUT says what is wrong with it
        complain_of_leftovers(recover(Path(out)) if "://" not in out else ())


def _is_text(name: str) -> bool:
    """Whether all of a name was UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _terminate(*_: object) -> None:
    """Ends as on Ctrl-C: nothing is left behind."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(128 + signal.SIGTERM)


commands = {"batch": batch}
