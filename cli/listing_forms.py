"""How the rows of a listing are written: as a table, as trees, in numbers, as JSON or as CSV."""

import shutil
import sys
from collections.abc import Callable, Iterator

import click

from zdissect.listing import Listing
from zdissect.output.printable import dumps
from zdissect.output.style import Style

from .common import complain
from .hop_tables import summary_lines
from .list_cells import Entry, csv_lines, json_lines, text_columns
from .options import DisplayOptions, raw_keys_option
from .paging import write_paged
from .relative_times import clock
from .ros_rows import RosNames
from .stdio import for_json
from .table_text import table


def shown_as_options(listing: type[Listing]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """The options of how a listing is shown to people."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        command = raw_keys_option(command)
        if listing.shown_as == "table":
            return command
        default = {listing.shown_as: "  [default]"}
        command = click.option(
            "--summary", is_flag=True,
            help=f"Only numbers: by key, by hop, and what takes how long inside nodes.{default.get('summary', '')}",
        )(command)  # fmt: skip
        for name, text in (("table", "A row each."), ("trees", "A tree each, hop by hop.")):
            option = click.option(f"--{name}", "form", flag_value=name, help=f"{text}{default.get(name, '')}")
            command = option(command)
        return command

    return decorate


def write(listing: Listing, rows: list[Entry], display: DisplayOptions, summary: bool = False) -> None:
    """Prints the rows, or what they have in common."""
    form = display.form or listing.shown_as
    if form == "summary" or (summary and form == "trees"):
        form, summary = "text", True
    if summary and form not in ("json", "text"):
        raise click.UsageError(f"--summary has numbers of all rows, --{form} each row: leave one of them out")
    if form == "json":
        for_json()
        sys.stdout.writelines([f"{dumps(listing.summary())}\n"] if summary else json_lines(map(listing.whole, rows)))
    elif form == "csv":
        sys.stdout.writelines(csv_lines(listing.columns, rows))
    elif rows:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        style, times = display.style, clock(display.times, listing.extent.first_ns)
        named = RosNames(() if display.raw_keys else rows).of
        if form == "table":
            columns = text_columns(listing.columns, named(rows), times, style)
            lines, dropped = table(columns, width, style.dim, style.end)
        else:
            trees = [] if summary else _trees(listing, rows, named, times, style)
            lines, dropped = summary_lines(named(listing.summary()), width, style)
            lines = [*trees, *lines]
        write_paged((f"{line}\n" for line in lines), not display.no_pager)
        if dropped:
            complain(f"no room for {', '.join(dropped)}: a wider terminal, --csv and --json have all columns")


def _trees(
    listing: Listing, rows: list[Entry], named: Callable[[Entry], Entry], times: Callable[[int], str], style: Style
) -> Iterator[str]:
    """The rows as trees, an empty line after each."""
    from .query_trees import QueryTrees
    from .sample_trees import SampleTrees

    trees = {"queries": QueryTrees, "samples": SampleTrees}[listing.name](times, style)
    for row in rows:
        yield from trees.lines(named(listing.whole(row)))
        yield ""
