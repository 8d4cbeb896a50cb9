"""`zdissect sessions|keys|queries|declarations|findings FILE...`: one table each, for people, as JSON or as CSV."""

import sys
from collections import Counter
from collections.abc import Iterable
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from zdissect.dissection import Dissection, Item, findings_of
from zdissect.fed import fed
from zdissect.filters.first_frame import told_when_it_began
from zdissect.grammar.rule import SEVERITIES
from zdissect.listing import (
    DeclarationListing,
    FindingListing,
    KeyListing,
    Listing,
    QueryListing,
    SampleListing,
    SessionListing,
)
from zdissect.pipeline import Pipeline

from .captures import Captures
from .command import Command
from .common import complain, nearest
from .exit_codes import UNREADABLE
from .first_pass import look_ahead
from .interrupts import UntilInterrupted
from .list_cells import Entry
from .listing_forms import shown_as_options, write
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
    pager_option,
    quiet_option,
    times_option,
)
from .outcome import exit_code, in_frames, not_shown
from .relative_times import clock

if TYPE_CHECKING:
    from zdissect.filters import Filter

_DOCS = {
    "sessions": (
        "Lists the sessions of captures: both ends, links, what was agreed on, messages and bytes each way, how it "
        "ended. A session's number is what `zdissect follow` takes, and what the other tables call it."
    ),
    "keys": (
        "Lists the key expressions of captures: samples, payload bytes, rates, publishers, gaps. A sample that "
        "passes a router is counted once for each session that carries it."
    ),
    "queries": (
        "Shows the queries of captures hop by hop: who asked whom, who passed it on, each answer and end with times, "
        "which answers got no further, who never answered, what ended it; then times by key, by hop and inside nodes. "
        "What is in brackets is concluded: a query has another id on each link, and is known by key, content and time."
    ),
    "samples": (
        "Follows the samples (PUT, DEL) from node to node, by SourceInfo, timestamp, or key, value and order: "
        "how long they take, and who subscribes to one and didn't get it. Shows numbers; with --trees each sample."
    ),
    "declarations": (
        "Lists who has declared what in captures: subscribers, queryables, liveliness tokens, interests, and ids for "
        "key expressions, each with the frame that declares it and the one that ends it."
    ),
    "findings": (
        "Lists every finding in captures, with its frame, session, message and key. `zdissect explain CODE` says what "
        "it means."
    ),
}


_CHOICES = {
    "sessions": "Sessions with messages that match a display filter, and how many",
    "keys": "Keys of the messages that match a display filter, counting only these",
    "queries": "Queries whose request or an answer matches a display filter",
    "samples": "Samples of which a PUSH matches a display filter",
    "declarations": "What the messages that match a display filter declare or end",
    "findings": "Findings in messages that match a display filter",
}
"""What -Y does."""

_DOC_WIDTH = 76
"""Characters in a line of what a column is."""


def _command(listing: type[Listing]) -> click.Command:
    """The command of a listing."""

    @click.command(listing.name, cls=Command, help=_help(listing))
    @files_argument
    @click.option("--sort", "order", metavar="COLUMN", help="Sort by a column; -COLUMN: largest first.")
    @click.option("--json", "form", flag_value="json", help="A JSON array of all columns.")
    @click.option("--csv", "form", flag_value="csv", help="CSV of all columns, with a header row.")
    @shown_as_options(listing)
    @filter_option(f"{_CHOICES[listing.name]}: `zdissect filter --help`.")
    @frames_option
    @decode_as_option
    @times_option
    @quiet_option()
    @fail_on_option
    @color_option
    @pager_option
    @as_records(capture=CaptureOptions, display=DisplayOptions, reporting=ReportOptions)
    def command(
        order: str | None, capture: CaptureOptions, display: DisplayOptions, reporting: ReportOptions, **shown: bool
    ) -> int:
        made = listing()
        column, descending = _order(made, order)
        clock(display.times, 0)  # it may be refused
        options = capture.pipeline(history=True)
        if display.wanted is not None and display.wanted.looks_ahead:
            look_ahead(display.wanted, capture, LiveOptions(), options)
        captures = Captures(capture.files, capture.frames)
        pipeline = Pipeline(options)
        found, interrupted = _collect(captures, made, pipeline, display.wanted)
        rows = _sorted(made.rows(pipeline), column, descending)
        write(made, rows, display, **shown)
        _complain(captures)
        if not reporting.quiet:
            _summary(made, captures, pipeline, rows, display.wanted)
        if interrupted:
            raise click.Abort
        return UNREADABLE if captures.problems else exit_code(found, reporting.fail_on)

    return command


def _help(listing: type[Listing]) -> str:
    """What the command does, and its columns."""
    below = f"\n{'':21}"
    names = "\n".join(f"  {column.name:18} {below.join(wrap(column.doc, _DOC_WIDTH))}" for column in listing.columns)
    return f"{_DOCS[listing.name]}\n\nColumns of --json and --csv, and for --sort:\n\n\b\n{names}"


def _order(listing: Listing, order: str | None) -> tuple[str, bool]:
    """The column to sort by (empty: none), and whether its greatest value comes first."""
    if order is None:
        return "", False
    name = order.removeprefix("-")
    known = {column.name: column.name for column in listing.columns if column.kind != "rows"}
    known |= {column.title.lower(): column.name for column in reversed(listing.columns) if column.title}
    if name.lower() not in known:
        names = ", ".join(column.name for column in listing.columns if column.kind != "rows")
        hint = nearest(name, known) or f": there are {names}"
        raise click.BadParameter(f"there is no column {name!r}{hint}", param_hint="'--sort'")
    return known[name.lower()], order.startswith("-")


def _sorted(rows: list[Entry], column: str, descending: bool) -> list[Entry]:
    """The rows in order; those without a value come last."""
    if not column:
        return rows
    there = [row for row in rows if row[column] is not None]
    by_weight = column == "severity"
    there.sort(key=lambda row: SEVERITIES.index(row[column]) if by_weight else row[column], reverse=descending)
    return there + [row for row in rows if row[column] is None]


def _collect(
    captures: Captures, listing: Listing, pipeline: Pipeline, wanted: "Filter | None"
) -> tuple[Counter[str], bool]:
    """Reads all frames: findings of what is wanted by code, and whether Ctrl-C ended it. What is good counts always."""
    found: Counter[str] = Counter()

    def take(items: Iterable[Item]) -> None:
        for item in items:
            chosen = wanted.select(item) if wanted is not None else None
            listing.feed(item, chosen)
            if not isinstance(item, Dissection) or item.tape.remarks or chosen is not None:
                found.update(finding.rule.code for finding in findings_of(item, chosen))

    with UntilInterrupted(captures) as frames:
        for frame, items in fed(pipeline, told_when_it_began(frames, () if wanted is None else (wanted,))):
            listing.frame(frame)
            take(items)
    take(pipeline.close())
    return found, frames.interrupted


def _complain(captures: Captures) -> None:
    """Says what couldn't be read, after what could be."""
    sys.stdout.flush()
    for problem in captures.problems:
        complain(str(problem))


def _summary(
    listing: Listing, captures: Captures, pipeline: Pipeline, rows: list[Entry], wanted: "Filter | None"
) -> None:
    """What is missing, on standard error."""
    frames = captures.frames
    if listing.unlisted:
        complain(f"{listing.unlisted} more {listing.name} aren't listed: only so many are kept. -c reads less")
    if not rows and listing.sessions.legs:
        unmatched = "" if wanted is None else f"nothing matches {wanted.text!r}: no {listing.name} are listed"
        complain(unmatched or in_frames(f"no {listing.name}", frames))
    if not listing.sessions.legs and (frames or not captures.problems):
        complain(in_frames("no Zenoh found", frames))
    for text in not_shown(pipeline.decoder.unopened.total(), pipeline.others()):
        complain(text)


commands = {
    listing.name: _command(listing)
    for listing in (SessionListing, KeyListing, QueryListing, SampleListing, DeclarationListing, FindingListing)
}
