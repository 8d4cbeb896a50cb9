"""`zdissect FILE...`: captures as trees, lines or JSON."""

import click

from .common import UNREADABLE
from .options import (
    CaptureOptions,
    DisplayOptions,
    ReportOptions,
    as_records,
    color_option,
    decode_as_option,
    dump_option,
    fail_on_option,
    files_argument,
    form_option,
    frames_option,
    payload_bytes_option,
    quiet_option,
    times_option,
    verbose_option,
)
from .stdio import for_json


class Unnamed(click.Context):
    """The context of the default command: its name isn't part of the usage line."""

    @property
    def command_path(self) -> str:
        return self.parent.command_path if self.parent is not None else super().command_path


class Default(click.Command):
    """The default command."""

    context_class = Unnamed


@click.command("dissect", cls=Default, hidden=True)
@files_argument
@form_option("tree", "line", "json", "jsonl")
@frames_option
@decode_as_option
@times_option
@dump_option("Add a hex dump of every batch to the tree.")
@payload_bytes_option
@verbose_option
@quiet_option()
@fail_on_option
@color_option
@as_records(capture=CaptureOptions, display=DisplayOptions, reporting=ReportOptions)
def dissect(capture: CaptureOptions, display: DisplayOptions, reporting: ReportOptions) -> int:
    """Dissects captures."""
    from .captures import Captures  # these load the dissector, which --help doesn't need
    from .forms import make_form
    from .outcome import exit_code
    from .run import Run

    if display.verbose and display.form not in ("tree", "line"):
        raise click.UsageError(f"-v needs -T tree or -T line: -T {display.form} holds messages only")
    options = capture.pipeline(rows=display.form in ("line", "jsonl"))
    if display.form.startswith("json"):
        for_json()
    captures = Captures(capture.files, capture.frames)
    run = Run(captures, options, make_form(display), display.verbose)
    run.run()
    if not reporting.quiet:
        run.summary()
    return UNREADABLE if captures.problems else exit_code(run.form.findings, reporting.fail_on)


commands = {"dissect": dissect}
