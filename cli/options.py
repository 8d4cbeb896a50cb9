"""Options that several commands have: each is declared once, with its name, its help and its default.

A command lists those that it wants, in the order of its `--help`, and receives them as records:

    @click.command("keys")
    @files_argument
    @decode_as_option
    @color_option
    @as_records(capture=CaptureOptions, display=DisplayOptions)
    def keys(capture: CaptureOptions, display: DisplayOptions) -> int: ...

A new option is a decorator here, and a field of the record that it belongs to, under the same name. Nothing here loads
the dissector: `--help` doesn't need it.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from zdissect.grammar.rule import SEVERITIES
from zdissect.output.style import PLAIN, Style
from zdissect.output.time_formats import FORMATS

from . import completers
from .common import style_of, wants_color
from .frame_ranges import FrameRanges
from .memory_limits import and_limits, memory_limits

if TYPE_CHECKING:
    from zdissect.filters import Filter
    from zdissect.pipeline import Options

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """Which frames are dissected, and as what."""

    files: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    """Files too, as `-r` has them."""
    frames: int | None = None
    """So many frames at most; None: all."""
    rules: tuple[str, ...] = ()
    """Which ports carry Zenoh, as `-d` has it."""
    limits: tuple[str, ...] = ()
    """As `--limit` has it."""

    def pipeline(self, **changes: Any) -> "Options":
        """The options of the pipeline, with changes to the fields named. Raises click.BadParameter for a wrong rule."""
        from .decode_as import decode_as

        return replace(decode_as(self.rules), limits=memory_limits(self.limits), **changes)


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """What is captured, and for how long."""

    interface: str | None = None
    """Its name, or its number in the list; None: files are read."""
    capture_filter: str = ""
    autostop: tuple[str, ...] = ()
    ring: tuple[str, ...] = ()
    write: str | None = None
    """The file that frames are written to: as they are captured, or those of files that are selected."""
    exact: bool = False
    """Of files only those that are selected, not those that they need."""


@dataclass(frozen=True, slots=True)
class DisplayOptions:
    """How what was dissected is shown."""

    form: str = "tree"
    times: str = "u"
    """A key of `FORMATS`."""
    dump: bool = False
    payload_bytes: int = 96
    """So many bytes of a payload are shown."""
    verbose: bool = False
    brief: bool = False
    """Without KEEP_ALIVE."""
    long: bool = False
    """Lines with all that they can say, FRAMEs of their own among them."""
    color: str = "auto"
    theme: str = "auto"
    only: FrameRanges | None = None
    """The frames that are shown; None: all."""
    wanted: "Filter | None" = None
    """Selects the messages that are shown; None: all."""
    whole: bool = False
    """Whether a tree shows what else a batch holds in full, too."""
    full: bool = False
    opened: tuple[str, ...] = ()
    """Names of messages, several with commas: in the tree only these are shown in full; none: all."""
    no_bits: bool = False
    names: tuple[str, ...] = ()
    """What the lines of `-T fields` and `-T csv` have."""
    separators: tuple[str, ...] = ()
    """How they are written: `NAME=VALUE`."""
    payload: str | None = None
    """How payloads are written there; None: as hex."""
    pattern: str = ""
    """Only what is printed with this text in it is shown; empty: all."""
    jobs: int | None = None
    """How many processes may dissect, and make what is shown; None: as many as there are processors."""
    no_pager: bool = False
    raw_keys: bool = False
    """Whether keys and payloads of ROS 2 are shown as they are on the wire."""
    msgs: tuple[str, ...] = ()
    """Directories with definitions of messages of ROS 2."""
    flush: bool = False
    """Whether each frame is written at once."""

    @property
    def style(self) -> Style:
        """The colours for standard output as it is now."""
        return style_of(self.theme) if wants_color(self.color) else PLAIN


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What is reported besides the results: on standard error, and by the exit code."""

    quiet: bool = False
    fail_on: str | None = None
    """The severity from which a finding makes the command fail."""


def as_records(**records: type) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Passes options to a command as records, each under the name given here.

    A record takes the options that are named as its fields; for an option that the command hasn't, its default holds.
    """

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def receive(**options: Any) -> int:
            made = {}
            for name, record in records.items():
                own = {field.name for field in fields(record)} & options.keys()
                made[name] = record(**{option: options.pop(option) for option in own})
            return command(**options, **made)

        return receive

    return decorate


files_argument = click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=completers.files)

files_or_interface = click.argument("files", nargs=-1, metavar="FILE...", shell_complete=completers.files)
"""For commands that may capture instead: see `captured`."""

interface_option = click.option(
    "-i",
    "interface",
    metavar="INTERFACE",
    shell_complete=completers.interfaces,
    help="Capture on an interface, by name or number (-D lists them).",
)

capture_filter_option = click.option(
    "-f", "capture_filter", default="", metavar="FILTER", help="Capture filter (libpcap), such as 'tcp port 7447'."
)

autostop_option = click.option(
    "-a", "autostop", multiple=True, metavar="WHEN", help="Stop capturing: duration:S, packets:N, filesize:KB, files:N."
)

ring_option = click.option(
    "-b",
    "ring",
    multiple=True,
    metavar="WHEN",
    help="Start the next file of -w after duration:S, packets:N, filesize:KB; keep files:N.",
)

write_option = click.option(
    "-w",
    "write",
    metavar="FILE",
    shell_complete=completers.files,
    help="Write frames to a pcapng file: those captured by -i, or those of FILE... that -Y selects.",
)

exact_option = click.option(
    "--exact/--self-contained",
    "exact",
    help="With -w: only what -Y selects, or (default) also the handshakes, declarations and requests it needs.",
)


def _list_interfaces(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from zdissect.capture.interfaces import listing

        click.echo("\n".join(listing()))
        context.exit()


interfaces_option = click.option(
    "-D", is_flag=True, is_eager=True, expose_value=False, callback=_list_interfaces, help="List the interfaces."
)

frames_option = click.option("-c", "frames", type=click.IntRange(min=1), metavar="N", help="Stop after N frames.")

decode_as_option = and_limits(
    click.option("-d", "rules", multiple=True, metavar="RULE", help="Decode as: tcp.port==9000,zenoh or udp.port==...")
)

times_option = click.option(
    "-t", "times", type=click.Choice(list(FORMATS)), default="u", metavar="FORMAT",
    help=f"Format of times, as in tshark: {', '.join(FORMATS)}.",
)  # fmt: skip

payload_bytes_option = click.option(
    "--bytes", "payload_bytes", type=click.IntRange(min=1), default=96, metavar="N", help="Payload bytes to show."
)

verbose_option = click.option(
    "-v", "verbose", is_flag=True, help="Also show retransmissions, fragments, other protocols."
)

raw_keys_option = click.option("--raw-keys", is_flag=True, help="ROS 2 as it is on the wire: no names, no contents.")

fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    metavar="SEVERITY",
    help="Exit with 3 if there is a finding of this severity or above: note, warning, error.",
)

_color = click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", metavar="WHEN",
    help="Colour: auto (on a terminal unless NO_COLOR is set, and with CLICOLOR_FORCE), always, never.",
)  # fmt: skip

pager_option = click.option(
    "--no-pager", "no_pager", is_flag=True, help="Never a pager; else ZDISSECT_PAGER, PAGER or less on a terminal."
)

_theme = click.option(
    "--theme", type=click.Choice(["auto", "dark", "light", "ansi"]), default="auto", metavar="THEME",
    help="Colours for a dark or a light background, or ansi, the terminal's own 16; auto: by COLORFGBG, else ansi.",
)  # fmt: skip


def color_option(command: Command) -> Command:
    """`--color` and `--theme`: what prints colours has both."""
    return _color(_theme(command))


def _compiled(context: click.Context, _: click.Parameter, text: str | None) -> "Filter | None":
    if text is None or context.resilient_parsing:
        return None
    from zdissect.filters import FilterError, compile_filter  # takes a while, and most have none

    try:
        return compile_filter(text)
    except FilterError as fault:
        raise click.BadParameter(str(fault)) from None


def filter_option(text: str) -> Callable[[Command], Command]:
    """`-Y`, with what it does."""
    return click.option(
        "-Y", "wanted", callback=_compiled, shell_complete=completers.filters, metavar="FILTER", help=text
    )


def form_option(*forms: str) -> Callable[[Command], Command]:
    """`-T`: the first form is the default."""
    names = f"{forms[0]} (default), {', '.join(forms[1:])}"
    return click.option(
        "-T", "form", type=click.Choice(forms), default=forms[0], metavar="FORM", help=f"Form of the output: {names}."
    )


def dump_option(text: str) -> Callable[[Command], Command]:
    """`-x`, with what it adds."""
    return click.option("-x", "dump", is_flag=True, help=text)


jobs_option = click.option(
    "-j", "jobs", type=click.IntRange(min=1), metavar="N", help="Number of processes.  [default: all cores]"
)


def quiet_option(text: str = "No summary on standard error.") -> Callable[[Command], Command]:
    """`-q`, with what it leaves out."""
    return click.option("-q", "quiet", is_flag=True, help=text)
