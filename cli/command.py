"""The commands' common manners: help that starts with examples and groups options by their purpose."""

from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

import click

from . import settings
from .examples import EXAMPLES

INPUT, CAPTURING, SHOWN, FORM = "Input", "Live captures", "What is shown", "How it is shown"
WRITTEN, RUN, ENDING = "What is written", "How it runs", "Messages, exit code, settings"

GROUPS: dict[str, tuple[str, ...]] = {
    INPUT: ("read", "frames", "rules", "path", "kind", "include", "join", "follow", "msgs"),
    CAPTURING: ("interface", "d", "capture_filter", "autostop"),
    SHOWN: (
        "wanted", "key", "to", "source", "only", "pattern", "whole", "opened", "full", "brief", "verbose", "carriers",
        "keys", "top", "rows", "at", "others", "profile", "judged", "known", "chosen", "ignored", "any_key", "columns",
    ),
    FORM: (
        "form", "summary", "as_json", "sql", "names", "separators", "payload", "order", "every_ns", "times",
        "payload_bytes", "no_bits", "long",
        "raw_keys", "dump", "color", "theme", "no_pager", "flush", "every", "iterations", "n",
    ),
    WRITTEN: (
        "write", "exact", "ring", "out", "directory", "mode", "fields", "ros2", "no_contents", "seed",
        "keep", "force", "example",
        "saved", "write_baseline",
    ),
    RUN: ("jobs", "limits", "spark", "master", "conf", "partitions"),
    ENDING: ("fail_on", "quiet", "config", "no_config", "version", "help"),
}  # fmt: skip
"""The groups in their order, and the parameters in each; every option of every command stands here once."""


class Command(click.Command):
    """A command that takes settings from a file, and whose help shows examples first, and options by purpose."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.params += settings.OPTIONS

    @property
    def examples(self) -> tuple[tuple[str, str], ...]:
        """Command lines, and what each does."""
        return EXAMPLES.get(self.name or "", ())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        self._check_alternatives(ctx, args)
        return super().parse_args(ctx, args)

    def _check_alternatives(self, ctx: click.Context, args: list[str]) -> None:
        """Refuses flags of which each sets the same: click would go by the last one, and not say so."""
        by_flag = {
            flag: param.name
            for param in self.get_params(ctx)
            if isinstance(param, click.Option) and param.is_flag and isinstance(param.flag_value, str)
            for flag in param.opts
        }
        words = args[: args.index("--")] if "--" in args else args
        given: dict[str | None, str] = {}
        for word in words:
            if word in by_flag and given.setdefault(by_flag[word], word) != word:
                raise click.UsageError(f"{given[by_flag[word]]} excludes {word}: leave one of them out", ctx)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(ctx, formatter)
        summary, _, rest = cleandoc(self.help or "").partition("\n\n")
        write_text(formatter, summary)
        write_examples(formatter, self.examples)
        write_text(formatter, rest)
        self.format_options(ctx, formatter)
        self.format_epilog(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_options(ctx, formatter, self.get_params(ctx))


def write_text(formatter: click.HelpFormatter, text: str) -> None:
    """A part of the help, below what is there."""
    if text:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)


def write_examples(formatter: click.HelpFormatter, examples: Iterable[tuple[str, str]]) -> None:
    """Command lines, each with what it does beside it, or below where there is no room."""
    rows = list(examples)
    if not rows:
        return
    widest = max(len(line) for line, _ in rows)
    beside = widest + max(len(what) for _, what in rows) + 4 <= formatter.width
    with formatter.section("Examples"):
        for line, what in rows:
            if beside:
                formatter.write(f"  {line:<{widest}}  {what}\n" if what else f"  {line}\n")
            else:
                formatter.write(f"  {line}\n")
                formatter.write(f"      {what}\n" if what else "")


def write_options(ctx: click.Context, formatter: click.HelpFormatter, params: Iterable[click.Parameter]) -> None:
    """The options of a command, by their purpose."""
    there = [param for param in params if isinstance(param, click.Option)]
    for title, names in GROUPS.items():
        chosen = (param for name in names for param in there if called(param) == name)
        records = [record for param in chosen if (record := param.get_help_record(ctx)) is not None]
        if records:
            with formatter.section(title):
                formatter.write_dl(records, col_max=26)


def called(param: click.Parameter) -> str:
    """The name of a parameter in `GROUPS`; click has one of its own for --help."""
    return "help" if "--help" in param.opts else param.name or ""
