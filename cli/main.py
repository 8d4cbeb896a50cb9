"""The command line: `zdissect FILE...` dissects captures, every other use has a command of its own.

Nothing heavy is imported here; each command imports what it needs when it runs.
"""

import os
import sys
from importlib import import_module
from typing import Any, ClassVar

import click

from zdissect import __version__

HELP = """Dissects the Zenoh wire protocol, to the last bit.

\b
  zdissect capture.pcap             the annotated tree of every frame that carries Zenoh
  tcpdump -U -w - | zdissect -      the same, live
  zdissect -T line capture.pcap     one line per message
  zdissect hex "5d 01 01 02 62 65"  one message, batch or datagram, from any paste
  zdissect batch DIR -o OUT         a directory of captures to Parquet
  zdissect fields timestamp         which fields there are
  zdissect explain truncated        what a finding or a field means

FILE... may be pcap or pcapng, compressed with gzip, or - for standard input; several are read in order as one capture.
A file with the name of a command is given as ./NAME.
"""

INTERRUPTED = 130


class ClosedPipe(Exception):
    """Nobody reads what is written any more: the end, and no error."""


class Commands(click.Group):
    """A group whose default command is `dissect`, so that `zdissect FILE` works beside `zdissect hex`."""

    modules: ClassVar[dict[str, tuple[str, str]]] = {
        "dissect": ("dissect", ""),
        "hex": ("hex", "Dissect one message, batch or datagram from any paste."),
        "batch": ("batch", "Convert a directory of captures to tables in Parquet."),
        "stats": ("stats", "Sessions, keys, queries, findings and bytes in numbers."),
        "fields": ("reference", "List the fields of the protocol."),
        "explain": ("reference", "Explain a finding, a field or a message."),
    }
    """Module and short help of each command; the module is imported only when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in self.modules if name != "dissect"]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.modules[name][1]) for name in self.list_commands(ctx)])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.modules:
            return None
        module = import_module(f".{self.modules[cmd_name][0]}", __package__)
        command: click.Command = module.commands[cmd_name]
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.modules and args[0] not in ("--help", "-h", "--version"):
            self.perhaps_misspelt(args[0])
            args = ["dissect", *args]
        return super().parse_args(ctx, args)

    def perhaps_misspelt(self, word: str) -> None:
        """Ends with a hint where a word is no file, but nearly a command."""
        if not word.isalpha() or os.path.exists(word):
            return
        from difflib import get_close_matches

        near = get_close_matches(word, self.modules, 1)
        if near:
            raise click.UsageError(f"there is no file or command {word!r}; did you mean {near[0]!r}?")

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise ClosedPipe from None  # click itself would end with 1

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of `dissect` are those of the program."""
        dissect = self.get_command(ctx, "dissect")
        assert dissect is not None
        own = [record for param in dissect.get_params(ctx) if (record := param.get_help_record(ctx))]
        known = {name for name, _ in own}
        records = (param.get_help_record(ctx) for param in self.get_params(ctx))
        own += [record for record in records if record is not None and record[0] not in known]
        with formatter.section("Options"):
            formatter.write_dl(own)
        self.format_commands(ctx, formatter)


@click.group(
    cls=Commands,
    help=HELP,
    no_args_is_help=True,
    subcommand_metavar="FILE... | COMMAND ...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(__version__, message="zdissect %(version)s, Zenoh protocol 0x09")
def cli() -> None:
    pass


def main() -> None:
    """The script's entrance: exit codes, closed pipes and Ctrl-C."""
    try:
        # a terminal that can't show a character gets an escape instead of a traceback
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        code = cli.main(standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as problem:
        problem.show()
        code = problem.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = INTERRUPTED
        _quiet()
    except (BrokenPipeError, ClosedPipe):
        code = 0
        _quiet()
    sys.exit(code if isinstance(code, int) else 0)


def _quiet() -> None:
    """Keeps the interpreter from writing to a closed pipe once more while it ends."""
    try:
        sys.stdout.flush()
    except (BrokenPipeError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
