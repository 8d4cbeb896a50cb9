"""`zdissect FILE...`: captures as trees, lines or JSON."""

from dataclasses import replace

import click

from zdissect.grammar.rule import ERROR, NOTE, WARNING
from zdissect.output.time_formats import FORMATS

from .common import DONE, FINDINGS, UNREADABLE, color_option, raw_columns, wants_color
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
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "-T", "kind", type=click.Choice(["tree", "line", "json", "jsonl"]), default="tree", help="Form of the output."
)
@click.option("-c", "frames", type=click.IntRange(min=1), metavar="N", help="Stop after N frames.")
@click.option("-d", "rules", multiple=True, metavar="RULE", help="Decode as: tcp.port==9000,zenoh or udp.port==...")
@click.option("-t", "times", type=click.Choice(list(FORMATS)), default="u", help="Format of times, as in tshark.")
@click.option("-x", "dump", is_flag=True, help="Add a hex dump of every batch to the tree.")
@click.option("--bytes", "limit", type=click.IntRange(min=1), default=96, metavar="N", help="Payload bytes to show.")
@click.option("-v", "verbose", is_flag=True, help="Also show retransmissions, fragments, other protocols.")
@click.option("-q", "quiet", is_flag=True, help="No summary on standard error.")
@click.option(
    "--fail-on", type=click.Choice([NOTE, WARNING, ERROR]), help="Exit with 3 at a finding of this severity or above."
)
@color_option
def dissect(
    files: tuple[str, ...],
    kind: str,
    frames: int | None,
    rules: tuple[str, ...],
    times: str,
    dump: bool,
    limit: int,
    verbose: bool,
    quiet: bool,
    fail_on: str | None,
    color: str,
) -> int:
    """Dissects captures."""
    from .decode_as import decode_as  # these load the dissector, which --help doesn't need
    from .forms import make_form
    from .outcome import reaches
    from .run import Run

    if verbose and kind not in ("tree", "line"):
        raise click.UsageError(f"-v needs -T tree or -T line: -T {kind} holds messages only")
    options = replace(decode_as(rules), rows=kind in ("line", "jsonl"))
    if kind.startswith("json"):
        for_json()
    writer = make_form(kind, wants_color(color), raw_columns(), limit, times, dump)
    run = Run(files, frames, options, writer, verbose)
    run.run()
    if not quiet:
        run.summary()
    if run.problems:
        return UNREADABLE
    return FINDINGS if fail_on and reaches(run.form.findings, fail_on) else DONE


commands = {"dissect": dissect}
