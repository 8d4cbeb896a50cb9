"""The options of `zdissect FILE...` about what is shown, and those that tshark's users type by habit."""

from collections.abc import Callable
from typing import Any

import click

from . import completers
from .frame_ranges import frame_ranges
from .options import dump_option, filter_option, form_option, pager_option, raw_keys_option

_OPTIONS = (
    click.option(
        "-r",
        "read",
        multiple=True,
        shell_complete=completers.files,
        metavar="FILE",
        help="Read a capture: the same as FILE.",
    ),
    form_option("tree", "line", "fields", "csv", "json", "jsonl"),
    click.option(
        "-e",
        "names",
        shell_complete=completers.field_names,
        multiple=True,
        metavar="NAME",
        help="What -T fields or csv prints: any field or column, such as frame.number or key_expr.",
    ),
    click.option(
        "-E",
        "separators",
        shell_complete=completers.separators,
        multiple=True,
        metavar="NAME=VALUE",
        help="-T fields: header=y|n, separator=/t|/s|CHAR, occurrence=f|l|a, aggregator=CHAR, quote=d|s|n, bom=y|n.",
    ),
    click.option(
        "--payload",
        type=click.Choice(["hex", "text", "base64"]),
        help="How -T fields and csv write payloads; hex by default.",
    ),
    click.option("-V", "full", is_flag=True, help="Everything in full: the same as -T tree, the default."),
    click.option(
        "-O",
        "opened",
        shell_complete=completers.opened_names,
        multiple=True,
        metavar="NAME,...",
        help="In the tree, only these messages in full, such as zenoh.push; of others, only the header.",
    ),
    click.option("--no-bits", is_flag=True, help="In the tree, flags on the line of their byte."),
    click.option("--brief", is_flag=True, help="-T line without KEEP_ALIVE."),
    click.option("--long", is_flag=True, help="-T line with all columns in full, and FRAMEs on lines of their own."),
    dump_option("Add a hex dump of every batch."),
    click.option(
        "--frame",
        "only",
        callback=frame_ranges,
        metavar="N,N-M...",
        help="Show these frames only, such as 17 or 17-20,30. All others are still read.",
    ),
    filter_option(
        "Show the messages that match a display filter: `zdissect filter --help`. --fail-on goes by what is shown."
    ),
    click.option("--whole", is_flag=True, help="With -Y, also show the rest of a matching batch in full."),
    click.option(
        "--grep",
        "pattern",
        metavar="TEXT",
        default="",
        help="Show batches (in the tree) or lines that contain a text; case matters only if it has capitals.",
    ),
    raw_keys_option,
    click.option("--msgs", metavar="DIR", multiple=True, help="Definitions of ROS 2: .msg, .srv, .action below DIR."),
    pager_option,
    click.option("-l", "flush", is_flag=True, help="Write the output of each frame at once."),
    click.option("-n", is_flag=True, expose_value=False, help="Accepted: names are never looked up."),
)


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command all of them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
