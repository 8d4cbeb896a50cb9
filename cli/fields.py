"""`zdissect fields`: the fields of the protocol by name, from the grammar."""

import shutil
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

import click

from zdissect.grammar.aliases import aliases, resolve
from zdissect.grammar.registry import fields as grammar_fields
from zdissect.output.style import Style

from . import completers
from .command import Command
from .common import complain, nearest
from .exit_codes import DONE, USAGE
from .explanations import stands_for
from .options import DisplayOptions, color_option, pager_option
from .paging import write_paged

_WIDE = 150
"""The width of a terminal from which a field fits in one line."""


class ListedField(NamedTuple):
    """A name that can be asked for."""

    path: str
    type: str
    column: str
    doc: str


@click.command("fields", cls=Command)
@click.argument("pattern", required=False, default="", shell_complete=completers.fields)
@click.option("--aliases", "others", is_flag=True, help="List other tools' names, and what they stand for.")
@color_option
@pager_option
def fields(pattern: str, others: bool, color: str, theme: str, no_pager: bool) -> int:
    """Lists fields: name, type, column of the message table, description.

    PATTERN is part of a name or column, or has wildcards: zenoh.push.*, *timestamp*.
    """
    listed = list(_other_names() if others else _own_names())
    matching = [field for field in listed if _matches(pattern.lower(), field)]
    if not matching:
        complain(f"no field has {pattern!r} in its name{nearest(pattern, (field.path for field in listed))}")
        return USAGE
    write_paged(_lines(matching, DisplayOptions(color=color, theme=theme).style), not no_pager)
    return DONE


def _own_names() -> Iterator[ListedField]:
    """The fields of the grammar, then the derived ones."""
    for field in grammar_fields().values():
        doc = f"[{field.doc}]" if field.kind == "derived" else field.doc
        yield ListedField(field.path, field.type if field.type != "none" else field.kind, field.column, doc)


def _other_names() -> Iterator[ListedField]:
    """The names of other tools."""
    return (ListedField(name, "alias", "", stands_for(alias)) for name, alias in aliases().items())


def _matches(pattern: str, line: ListedField) -> bool:
    """Whether a name or column goes with a pattern in lower case."""
    if any(char in pattern for char in "*?["):
        return fnmatchcase(line.path, pattern) or fnmatchcase(line.path.removeprefix("zenoh."), pattern)
    if pattern in line.path or pattern in line.column:
        return True
    alias = resolve(pattern) if line.type != "alias" else None  # another tool's name finds what it stands for
    return alias is not None and line.path in (alias.path, *alias.also)


def _lines(lines: list[ListedField], style: Style) -> Iterator[str]:
    """A line for each; on a narrow terminal, the description stands below the name."""
    name, kind, column = (max(len(line[index]) for line in lines) for index in range(3))
    narrow = sys.stdout.isatty() and shutil.get_terminal_size().columns < _WIDE
    for line in lines:
        if narrow:
            head = "  ".join(filter(None, (line.path, line.type, line.column and f"column {line.column}")))
            yield f"{style.frame}{line.path}{style.end}{head[len(line.path) :]}\n    {line.doc}\n"
        else:
            gap = f"  {line.column:<{column}}" if column else ""
            yield f"{line.path:<{name}}  {line.type:<{kind}}{gap}  {line.doc}\n"


commands = {"fields": fields}
