"""The command line: `zdissect FILE...` dissects captures, every other use has a command of its own.

Nothing heavy is imported here; each command imports what it needs when it runs. Ctrl-C counts before the first import
that takes time.
"""
# ruff: noqa: E402

import os
import signal

from .exit_codes import INTERRUPTED, UNREADABLE


def _at_once(*_: object) -> None:
    os._exit(INTERRUPTED)


_first = signal.getsignal(signal.SIGINT)
if _first is signal.default_int_handler:  # what follows takes most of the time until there is anything to interrupt
    signal.signal(signal.SIGINT, _at_once)

import atexit
import gc
import sys
from errno import EBADF
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import click

from zdissect import __version__
from zdissect.output.text import prose

from . import stdio
from .command import called, write_examples, write_text
from .common import complain
from .examples import EXAMPLES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

HELP = """Dissects the Zenoh wire protocol, down to the last bit.

FILE... may be pcap or pcapng, compressed or not, or - for standard input; several are read in order as one capture.
For a file with the name of a command, write ./NAME.
"""

_MOST_USED = (
    "form", "wanted", "names", "only", "opened", "dump", "times", "frames", "rules", "interface", "write", "verbose",
    "quiet", "fail_on", "color",
)  # fmt: skip
"""The options of `zdissect FILE...` that its first page of help has."""


_UNCOLLECTED = 20_000
"""New objects after which Python looks for garbage. With its own 700, what a block of frames holds for a moment counts
as old each time; all that is kept of a capture is then gone through again and again, which took half of the time
where that is much."""


class ClosedPipe(Exception):
    """Nobody reads the output any more: the end, and no error."""


class Commands(click.Group):
    """A group whose default command is `dissect`, so that `zdissect FILE` works as well as `zdissect hex`."""

    modules: ClassVar[dict[str, tuple[str, str]]] = {
        "dissect": ("dissect", ""),
        "hex": ("hex", "Dissect a message, batch or datagram from any paste."),
        "batch": ("batch", "Convert a directory of captures to Parquet tables."),
        "top": ("top", "Keys by rate and size, sessions and findings, live."),
        "stats": ("stats", "Statistics: sessions, keys, queries, findings and bytes."),
        "sessions": ("capture_tables", "List the sessions: ends, links, what was agreed on, how they ended."),
        "keys": ("capture_tables", "List the key expressions: samples, bytes, rates, publishers."),
        "queries": ("capture_tables", "Show queries hop by hop: who asked, who answered, when."),
        "samples": ("capture_tables", "Follow samples hop by hop: latency, and who got none."),
        "declarations": ("capture_tables", "List who has declared what, and from when to when."),
        "findings": ("capture_tables", "List every finding with its frame."),
        "why": ("why", "Say why a node didn't get samples of a key."),
        "ros2": ("ros2", "Show ROS 2: who talks to whom, what, what is wrong."),
        "check": ("check", "Judge captures: who broke which rule, for people and for CI."),
        "diff": ("diff", "Compare two captures of the same session, field by field."),
        "anonymize": ("anonymize", "Write a capture that can be shared."),
        "export": ("export", "Write payloads to files."),
        "filter": ("filter", "Check a display filter, or print it as SQL."),
        "follow": ("follow", "Show a session, a key, a query or a fragmented message as a transcript."),
        "fields": ("fields", "List the fields of the protocol."),
        "explain": ("explain", "Explain a finding, a field or a message."),
        "config": ("config", "Print the settings in force, and where each comes from."),
        "completion": ("completion", "Make the shell complete commands, options and names."),
    }
    """Module and short help of each command; the module is imported only when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in self.modules if name != "dissect"]

    kinds: ClassVar[dict[str, tuple[str, ...]]] = {
        "Commands that show": ("hex", "follow", "top"),
        "Commands that list and count": ("stats", "sessions", "keys", "queries", "samples", "declarations", "findings"),
        "Commands that answer": ("why", "ros2", "check", "diff"),
        "Commands that write files": ("batch", "export", "anonymize"),
        "Reference and settings": ("filter", "fields", "explain", "config", "completion"),
    }
    """The commands by what they are for."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(ctx, formatter)
        summary, _, rest = HELP.partition("\n\n")
        write_text(formatter, summary)
        write_examples(formatter, EXAMPLES[""])
        write_text(formatter, rest.strip())
        for kind, names in self.kinds.items():
            with formatter.section(kind):
                formatter.write_dl([(name, self.modules[name][1]) for name in names if name in self.modules])
        self.format_options(ctx, formatter)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.modules:
            return None
        module = import_module(f".{self.modules[cmd_name][0]}", __package__)
        command: click.Command = module.commands[cmd_name]
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args = self.settings_first(ctx, args)
        if args and args[0] not in self.modules and args[0] not in ("--help", "-h", "--version"):
            if not ctx.resilient_parsing:
                self.perhaps_misspelt(args[0])
            args = ["dissect", *args]
        return super().parse_args(ctx, args)

    def settings_first(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words without --config and --no-config in front, which the command will ask for."""
        if not args or not args[0].startswith(("--config", "--no-config")):
            return args
        from .settings import asked

        option, _, path = args[0].partition("=")
        if option == "--no-config":
            asked(ctx, None, True)
            return args[1:]
        rest = args[1:] if path else args[2:]
        if path or len(args) > 1:
            asked(ctx, path or args[1], False)
            return rest
        return args

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Options of `dissect`, commands, and files."""
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            dissect = self.get_command(ctx, "dissect")
            assert dissect is not None
            found = dissect.shell_complete(click.Context(dissect, parent=ctx, info_name="dissect"), incomplete)
            return [*found, *super().shell_complete(ctx, incomplete)]
        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        items = [CompletionItem(name, help=self.modules[name][1]) for name in names]
        return [*items, CompletionItem(incomplete, type="file")]

    def perhaps_misspelt(self, word: str) -> None:
        """Ends with a hint where a word is no file, but nearly a command."""
        if not word.isalpha() or os.path.exists(word):
            return
        from difflib import get_close_matches

        near = get_close_matches(word, self.modules, 1)
        if near:
            raise click.UsageError(f"there is no file or command {word!r}; did you mean {near[0]!r}?")

    def make_context(self, *arguments: Any, **more: Any) -> click.Context:
        try:
            return super().make_context(*arguments, **more)  # --help is answered here
        except BrokenPipeError:
            raise ClosedPipe from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise ClosedPipe from None  # click itself would end with 1

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Of the options of `dissect`, which are those of the program, the ones that are used most."""
        dissect = self.get_command(ctx, "dissect")
        assert dissect is not None
        known = {param.name: param for param in dissect.get_params(ctx)}
        own = [param for param in self.get_params(ctx) if called(param) in ("help", "version")]
        records = [param.get_help_record(ctx) for param in (*(known[name] for name in _MOST_USED), *own)]
        with formatter.section("Options used most"):
            formatter.write_dl([record for record in records if record is not None], col_max=26)
        formatter.write_paragraph()
        formatter.write("All options: zdissect dissect --help; for a command: zdissect COMMAND --help.\n")


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
    """The script's entrance: exit codes, closed pipes, full disks and Ctrl-C."""
    # numpy would start a thread for each core to multiply matrices with, which takes longer than loading it
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_UNCOLLECTED, *gc.get_threshold()[1:])
    try:
        stdio.prepare()
        if "_ZDISSECT_COMPLETE" in os.environ:
            from .completion import register

            register()
        sys.exit(_end(_run()))
    except KeyboardInterrupt:  # a moment too late to be taken by the command
        _interrupted()


def _run() -> int | OSError:
    """Runs the command; its exit code, or why standard output can't be written."""
    try:
        code = cli.main(standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as problem:
        _show(problem)
        return problem.exit_code
    except (click.Abort, KeyboardInterrupt):
        _interrupted()
    except RuntimeError as problem:  # Python 3.11 wraps what it is interrupted by while it makes a class
        cause: BaseException | None = problem
        while isinstance(cause, RuntimeError):
            cause = cause.__cause__
        if isinstance(cause, SystemExit):  # by SIGTERM
            raise cause from None
        if not isinstance(cause, KeyboardInterrupt):
            raise
        _interrupted()
    except ClosedPipe:
        return BrokenPipeError()
    except OSError as problem:
        return problem


def _show(problem: click.ClickException) -> None:
    """An error of click's, which may repeat what was typed."""
    text = StringIO()
    problem.show(text)
    from .tshark_hints import hint

    lines = [*text.getvalue().expandtabs(4).splitlines(), *filter(None, [hint(problem)])]
    click.echo("\n".join(map(prose, lines)), err=True)


def _end(code: int | OSError) -> int:
    """Writes what is left of the output; the exit code. A closed pipe is no error."""
    problem = stdio.finish() or code
    if isinstance(problem, int):
        return problem
    if isinstance(problem, BrokenPipeError):
        return 0 if isinstance(code, OSError) else code
    where = problem.filename if isinstance(problem.filename, str) else "standard output"
    complain(f"{where}: {'it is closed' if problem.errno == EBADF else problem.strerror or problem}")
    return UNREADABLE


def _interrupted() -> NoReturn:
    """Ends with the code of Ctrl-C. By `sys.exit` the interpreter would end by the signal instead, if the interrupt has
    passed through code that was text, as dataclasses have it while they are imported.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stdio.finish()
    atexit._run_exitfuncs()
    os._exit(INTERRUPTED)


if _first is signal.default_int_handler:
    signal.signal(signal.SIGINT, _first)
