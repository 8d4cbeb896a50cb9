"""`zdissect FILE...`: captures as trees, lines or JSON."""

import click

from .combinations import checked, with_files_of_r
from .command import Command
from .common import complain
from .exit_codes import SIGNALLED, UNREADABLE
from .options import (
    CaptureOptions,
    DisplayOptions,
    LiveOptions,
    ReportOptions,
    as_records,
    autostop_option,
    capture_filter_option,
    color_option,
    decode_as_option,
    exact_option,
    fail_on_option,
    files_or_interface,
    frames_option,
    interface_option,
    interfaces_option,
    jobs_option,
    payload_bytes_option,
    quiet_option,
    ring_option,
    times_option,
    verbose_option,
    write_option,
)
from .output_options import output_options
from .stdio import for_json

HELP = """Shows the Zenoh messages in captures. These are all options of `zdissect FILE...`, which needs no command.

FILE... may be pcap or pcapng, compressed or not, or - for standard input; several are read in order as one capture.
"""


class Unnamed(click.Context):
    """The context of the default command: its name isn't part of the usage line."""

    @property
    def command_path(self) -> str:
        return self.parent.command_path if self.parent is not None else super().command_path


class Default(Command):
    """The default command."""

    context_class = Unnamed


@click.command("dissect", cls=Default, hidden=True, help=HELP)
@files_or_interface
@output_options
@frames_option
@decode_as_option
@times_option
@payload_bytes_option
@verbose_option
@interface_option
@interfaces_option
@capture_filter_option
@autostop_option
@write_option
@exact_option
@ring_option
@jobs_option
@quiet_option()
@fail_on_option
@color_option
@as_records(capture=CaptureOptions, live=LiveOptions, display=DisplayOptions, reporting=ReportOptions)
def dissect(capture: CaptureOptions, live: LiveOptions, display: DisplayOptions, reporting: ReportOptions) -> int:
    """Dissects captures."""
    display = checked(display)
    capture = with_files_of_r(capture)
    if live.write is not None and live.interface is None:
        from .excerpt import write_excerpt

        return write_excerpt(capture, live, display, reporting.quiet)
    from .answers_ahead import later_answers
    from .captures import captured  # these load the dissector, which --help doesn't need
    from .first_pass import look_ahead
    from .forms import make_form
    from .outcome import exit_code
    from .pager import paged
    from .ros_definitions import definitions
    from .run import Run, by_all_cores

    form = make_form(display)
    if display.form in ("tree", "json"):
        form.ahead = later_answers(capture)
    if form.values is not None and form.values.looks_ahead:
        form.values.ahead = later_answers(capture)
    options = capture.pipeline()
    if display.wanted is not None and display.msgs:
        display.wanted.ros.own = definitions(display.msgs)
    if display.form.startswith("json"):
        for_json()
    if display.wanted is not None and display.wanted.looks_ahead:
        look_ahead(display.wanted, capture, live, options)
    with captured(capture, live) as captures:
        run = Run(captures, options, form, display)
        with paged(not display.no_pager and not captures.live):
            if not reporting.quiet and captures.greeting():
                complain(captures.greeting())
            by_all_cores(run, display.jobs)
            if not reporting.quiet:
                run.summary()
    if captures.signal:
        return SIGNALLED + captures.signal
    return UNREADABLE if captures.problems else exit_code(run.form.findings, reporting.fail_on)


commands = {"dissect": dissect}
