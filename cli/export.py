"""`zdissect export payloads FILE... -o DIR`: what captures carry, as files. (Tables are written by `batch`.)"""

from itertools import chain
from typing import TYPE_CHECKING

import click

from . import completers
from .captures import Captures
from .command import Command
from .common import complain, complain_of, complain_of_leftovers
from .exit_codes import DONE, UNREADABLE
from .interrupts import UntilInterrupted
from .options import (
    CaptureOptions,
    DisplayOptions,
    LiveOptions,
    as_records,
    decode_as_option,
    files_argument,
    filter_option,
    frames_option,
    quiet_option,
)
from .outcome import not_shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zdissect.engine.messages import Row
    from zdissect.filters import Filter
    from zdissect.pipeline import Pipeline
    from zdissect.records import Frame


class _Export(click.Group):
    """Says how a file is exported, where one stands in place of a command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.commands and not args[0].startswith("-"):
            raise click.UsageError(f"{args[0]!r} can't be exported; write zdissect export payloads FILE... -o DIR", ctx)
        return super().resolve_command(ctx, args)


@click.group("export", cls=_Export)
def export() -> None:
    """Takes out of captures what they carry."""


@export.command("payloads", cls=Command, short_help="Write the payload of each message to a file.")
@files_argument
@click.option(
    "-o",
    "directory",
    required=True,
    metavar="DIR",
    shell_complete=completers.directories,
    help="Output directory; created if necessary.",
)
@click.option("--key", "keys", multiple=True, metavar="KEYEXPR", help="Only payloads on keys that match this.")
@filter_option("Only payloads of messages that match a display filter.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@frames_option
@decode_as_option
@quiet_option()
@as_records(capture=CaptureOptions, display=DisplayOptions)
def payloads(
    capture: CaptureOptions, display: DisplayOptions, directory: str, keys: tuple[str, ...], force: bool, quiet: bool
) -> int:
    """Writes the payload of each message to a file, reassembled if it came in fragments. index.csv and index.jsonl list
    file, length, key, time, frame, message, encoding, ends.

    Files are named by a number, the key, and the usual extension of their encoding: 000017-robot-7-camera.png.
    """
    from zdissect.export.payload_files import AlreadyThere, PayloadFiles
    from zdissect.pipeline import Pipeline

    matches, wanted = _matches(keys), display.wanted
    captures = Captures(capture.files, capture.frames)
    options = capture.pipeline()
    if wanted is not None and wanted.looks_ahead:
        from .first_pass import look_ahead

        look_ahead(wanted, capture, LiveOptions(), options)
    frames = iter(captures)
    first = next(frames, None)
    if first is None and captures.problems:  # nothing is made, which would be in the way of the next attempt
        complain_of(captures.problems)
        return UNREADABLE
    pipeline = Pipeline(options)
    reading = UntilInterrupted(chain(() if first is None else (first,), frames))
    try:
        with PayloadFiles(directory, force) as files, reading:
            for row in _rows(reading, pipeline, wanted):
                if isinstance(row.get("payload"), bytes) and matches(row.get("key_expr")):
                    files.write(row)
    except AlreadyThere as problem:
        raise click.UsageError(str(problem)) from problem
    complain_of_leftovers(files.folder.removed)
    complain_of(captures.problems)
    if not quiet:
        complain_of(not_shown(pipeline.decoder.unopened.total(), pipeline.others()))
        complain(f"{files.payloads} payloads, {files.bytes} bytes, in {directory}")
    if reading.interrupted:
        raise click.Abort
    return UNREADABLE if captures.problems else DONE


def _matches(patterns: tuple[str, ...]) -> "Callable[[str | None], bool]":
    """Whether a key matches one of the patterns; all do if there are none."""
    from zdissect.session.keyexprs import KeyExprError, canonical, intersects

    try:
        known = [canonical(pattern) for pattern in patterns]
    except KeyExprError as problem:
        raise click.BadParameter(str(problem), param_hint="--key") from problem
    return lambda key: not known or (key is not None and any(intersects(one, key) for one in known))


def _rows(captures: "Iterable[Frame]", pipeline: "Pipeline", wanted: "Filter | None") -> "Iterator[Row]":
    """The rows of the messages that are selected."""
    from zdissect.dissection import Dissection
    from zdissect.fed import dissected
    from zdissect.filters.first_frame import told_when_it_began
    from zdissect.table import Table

    table, frames = Table(), told_when_it_began(captures, () if wanted is None else (wanted,))
    for item in dissected(pipeline, frames):
        if isinstance(item, Dissection) and item.messages:
            chosen = wanted.select(item) if wanted is not None else [True] * len(item.messages)
            for row, selected in zip(table.rows(item), chosen, strict=True):
                if selected:
                    yield row


commands = {"export": export}
