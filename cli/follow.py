"""`zdissect follow TARGET FILE...`: what belongs together in a capture, as a transcript."""

import codecs
import os
import sys
from collections.abc import Iterator

import click

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.fed import dissected, fed
from zdissect.listing.listed_sessions import SIDES
from zdissect.output.printable import dumps
from zdissect.output.text import count
from zdissect.pipeline import Pipeline
from zdissect.table import Table, complete
from zdissect.transcript import Selection, Subject, SubjectError, SubjectFinder, parse

from .captures import Captures
from .command import Command
from .common import complain, complain_of
from .exit_codes import DONE, UNREADABLE
from .first_pass import can_be_read_twice
from .options import (
    CaptureOptions,
    DisplayOptions,
    ReportOptions,
    as_records,
    color_option,
    decode_as_option,
    files_argument,
    pager_option,
    quiet_option,
    times_option,
)
from .outcome import not_shown
from .paging import paging
from .relative_times import clock
from .stats_units import many
from .stdio import for_json
from .transcript_text import TranscriptText


def _target(context: click.Context, _: click.Parameter, text: str) -> Subject:
    if not text.isdecimal() and os.path.isfile(text):
        raise click.BadParameter(
            f"{text!r} is a file: what to follow comes before it, as in `zdissect follow 1 {text}` (for a key "
            "expression that is also a file's name, write key: before it)"
        )
    try:
        return parse(text)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None


@click.command("follow", cls=Command)
@click.argument("target", metavar="TARGET", callback=_target)
@files_argument
@click.option("--raw", "form", flag_value="raw", help="Only the bytes of the payloads, one after the other.")
@click.option(
    "--json", "form", flag_value="json", help="A JSON array: the rows of -T jsonl without nulls, and who speaks."
)
@click.option("--all", "carriers", is_flag=True, help="For a session, also show FRAME, FRAGMENT and KEEP_ALIVE.")
@click.option(
    "--bytes",
    "payload_bytes",
    type=click.IntRange(min=0),
    default=1024,
    metavar="N",
    show_default=True,
    help="Payload bytes to show of each message; 0 for all.",
)
@decode_as_option
@times_option
@quiet_option()
@color_option
@pager_option
@as_records(capture=CaptureOptions, display=DisplayOptions, reporting=ReportOptions)
def follow(
    target: Subject, carriers: bool, capture: CaptureOptions, display: DisplayOptions, reporting: ReportOptions
) -> int:
    """Shows what belongs together in captures, as a transcript.

    TARGET is one of:

    \b
      3  tcp.0  30f9b4     a session: its number in `zdissect sessions`, one of its flows, the ZenohID of an end
      'a/**'               a key expression: puts, declarations and queries whose keys intersect it
      37  6defa3:2         a query with its answers, on all hops: one of its frames, or who asked and the request id
      17                   a fragmented message: the frame of any fragment

    `session:3`, `frame:3`, `zid:30`, `key:30` settle it where that isn't clear; a bare number is a session, if there
    is one with it. Captures are read twice, so standard input can't be used.
    """  # fmt: skip
    once = next((name for name in capture.files if not can_be_read_twice(name)), None)
    if once is not None:
        what = "standard input" if once == "-" else f"{once}, a pipe,"
        raise click.UsageError(
            f"follow reads a capture twice, and {what} can be read only once: write it to a file first"
        )
    clock(display.times, 0)  # it may be refused
    captures = Captures(capture.files)
    pipeline = Pipeline(capture.pipeline(history=True))
    finder = _first_pass(target, captures, pipeline)
    try:
        selection = finder.selection()
    except SubjectError as problem:
        complain_of((*captures.problems, *not_shown(pipeline.decoder.unopened.total(), pipeline.others())))
        if captures.problems and not captures.frames:  # the target may well be right
            return UNREADABLE
        raise click.UsageError(str(problem)) from None
    selection.carriers = carriers
    messages, size = _write(_messages(selection, finder, capture), finder, display)
    sys.stdout.flush()
    complain_of(captures.problems)
    if not reporting.quiet:
        complain(f"{selection.title}: {many(messages, 'message')}, payloads of {count(size)}")
    return UNREADABLE if captures.problems else DONE


def _first_pass(target: Subject, captures: Captures, pipeline: Pipeline) -> SubjectFinder:
    """The first pass."""
    finder = SubjectFinder(target)
    for frame, items in fed(pipeline, captures):
        finder.frame(frame)
        for item in items:
            finder.feed(item)
    for item in pipeline.close():
        finder.feed(item)
    finder.close(pipeline)
    return finder


def _messages(selection: Selection, finder: SubjectFinder, capture: CaptureOptions) -> Iterator[tuple[Dissection, Row]]:
    """The second pass: the messages that are followed."""
    pipeline, table = Pipeline(capture.pipeline()), Table()
    for item in dissected(pipeline, Captures(capture.files)):
        if not isinstance(item, Dissection):
            continue
        chosen = [selection.has(item, message.row) for message in item.messages]
        if any(chosen):
            for row, is_chosen in zip(table.rows(item), chosen, strict=True):
                if is_chosen:
                    yield item, row


def _write(
    messages: Iterator[tuple[Dissection, Row]], finder: SubjectFinder, display: DisplayOptions
) -> tuple[int, int]:
    """Writes the messages; how many there are, and how many bytes their payloads have."""
    if display.form == "raw":
        return _write_raw(messages)
    if display.form == "json":
        return _write_json(messages, finder)
    ascii_only = codecs.lookup(sys.stdout.encoding).name != "utf-8"
    times = clock(display.times, finder.extent.first_ns)
    text = TranscriptText(finder.report, times, display.style, display.payload_bytes, ascii_only)
    number = size = 0
    with paging(not display.no_pager):
        for item, row in messages:
            number += 1
            size += len(row.get("payload") or b"")
            sys.stdout.write(text.message(row, finder.parts.get(item.flow.id), item.direction))
    return number, size


def _write_json(messages: Iterator[tuple[Dissection, Row]], finder: SubjectFinder) -> tuple[int, int]:
    """Writes the messages as JSON."""
    for_json()
    number = size = 0
    for number, (item, row) in enumerate(messages, 1):
        size += len(row.get("payload") or b"")
        part = finder.parts.get(item.flow.id)
        known = {name: value for name, value in complete(row).items() if value is not None}
        side = SIDES[item.direction ^ part.flip] if part is not None else None
        entry = {"session": part and part.session, "side": side, **known}
        sys.stdout.write(f"{'[' if number == 1 else ','}{dumps(entry)}\n")
    sys.stdout.write("]\n" if number else "[]\n")
    return number, size


def _write_raw(messages: Iterator[tuple[Dissection, Row]]) -> tuple[int, int]:
    """Writes payloads."""
    out = sys.stdout.buffer
    written = size = 0
    for _, row in messages:
        written += 1
        size += out.write(row.get("payload") or b"")
    out.flush()
    return written, size


commands = {"follow": follow}
