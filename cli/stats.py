"""`zdissect stats FILE...`: what is in captures, as tables or as JSON."""

import io
import shutil
import sys
from collections import Counter
from typing import Any

import click

from zdissect.capture import CaptureError, open_capture
from zdissect.output.printable import dumps
from zdissect.pipeline import Options, Pipeline
from zdissect.session.occurrences import Occurrences
from zdissect.stats import Stats

from .common import DONE, UNREADABLE, color_option, complain, wants_color
from .decode_as import decode_as
from .outcome import absences, not_opened
from .stdio import for_json

_UNLIMITED = 100_000
"""Columns where nothing is folded: output that isn't a terminal."""
_NARROW = 110


@click.command("stats")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
@click.option(
    "--top", type=click.IntRange(min=0), default=25, metavar="N", help="Keys to show; 0 for all.", show_default=True
)
@click.option("-d", "rules", multiple=True, metavar="RULE", help="Decode as: tcp.port==9000,zenoh or udp.port==...")
@click.option("-q", "quiet", is_flag=True, help="No summary on standard error.")
@color_option
def stats(files: tuple[str, ...], as_json: bool, top: int, rules: tuple[str, ...], quiet: bool, color: str) -> int:
    """Counts what is in captures: sessions, messages by kind, keys, queries and their response times, findings, and
    what became of every payload byte. Several files are read in order as one capture; - is standard input.
    """
    known = decode_as(rules)
    report, problems, interrupted = _read(files, Options(known.tcp_ports, known.udp_ports, history=True))
    if as_json:
        for_json()
        click.echo(dumps(report, indented=True))
    elif report["capture"]["frames"] or not problems:
        _tables(report, top, wants_color(color))
    sys.stdout.flush()
    for problem in problems:
        complain(str(problem))
    if not quiet:
        for text in absences(Occurrences(**report["refused"]), Occurrences(**report["queries"]["silent"])):
            complain(text)
    if not report["messages"] and not quiet and (report["capture"]["frames"] or not problems):
        complain(f"no Zenoh found in {report['capture']['frames']} frames")
    if not quiet and (unopened := not_opened(Counter({one["what"]: one["frames"] for one in report["unopened"]}))):
        complain(unopened)
    if interrupted:
        raise click.Abort
    return UNREADABLE if problems else DONE


def _read(files: tuple[str, ...], options: Options) -> tuple[dict[str, Any], list[CaptureError], bool]:
    """(report of all files, problems, whether Ctrl-C ended it). What is good counts in any case."""
    pipeline, collected = Pipeline(options), Stats()
    problems: list[CaptureError] = []
    interrupted = False
    try:
        for name in files:
            try:
                with open_capture(name) as capture:
                    for frame in capture:
                        collected.frame(frame)
                        for item in pipeline.feed(frame):
                            collected.feed(item)
            except CaptureError as problem:
                problems.append(problem)
    except KeyboardInterrupt:
        interrupted = True
    for item in pipeline.close():
        collected.feed(item)
    return collected.finish(pipeline), problems, interrupted


def _tables(report: dict[str, Any], top: int, color: bool) -> None:
    """Prints the tables; nothing is cut or folded unless a terminal is too narrow."""
    from rich.console import Console  # only here: JSON needs none of it

    from .stats_tables import show

    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNLIMITED
    console = Console(
        file=io.StringIO(), width=columns, force_terminal=color, no_color=not color, highlight=False, markup=False,
        emoji=False, color_system="standard" if color else None, legacy_windows=False,
    )  # fmt: skip
    show(report, console, top, narrow=columns < _NARROW)
    # by way of a text: rich ends the program with 1 when it writes to a closed pipe
    assert isinstance(console.file, io.StringIO)
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


commands = {"stats": stats}
