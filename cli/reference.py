"""`zdissect fields` and `zdissect explain`: the reference of the protocol, from the grammar."""

import shutil
import sys
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

import click

from zdissect.grammar.aliases import DERIVED as NAMED
from zdissect.grammar.aliases import aliases, resolve
from zdissect.grammar.columns import COLUMNS
from zdissect.grammar.derived import DERIVED
from zdissect.grammar.registry import fields as grammar_fields

from .common import DONE, USAGE, complain
from .explanations import explanations, names, stands_for

_WIDE = 150
"""The width of a terminal from which a field fits in one line."""


class Line(NamedTuple):
    """A name that can be asked for."""

    path: str
    type: str
    column: str
    doc: str


@click.command("fields")
@click.argument("pattern", required=False, default="")
@click.option("--aliases", "others", is_flag=True, help="List other tools' names, and what they stand for.")
def fields(pattern: str, others: bool) -> int:
    """Lists fields: name, type, column of the message table, description.

    PATTERN is part of a name or column, or has wildcards: zenoh.push.*, *timestamp*.
    """
    lines = list(_other_names() if others else _own_names())
    found = [line for line in lines if _matches(pattern.lower(), line)]
    if not found:
        complain(f"no field has {pattern!r} in its name{_nearest(pattern, (line.path for line in lines))}")
        return USAGE
    _print(found)
    return 0


@click.command("explain")
@click.argument("name", nargs=-1, required=True)
@click.option("--source", is_flag=True, help="Show the generated code that reads a message into a row.")
def explain(name: tuple[str, ...], source: bool) -> int:
    """Explains the code of a finding, a field, a message, a column, or a list of values such as priority.

    Of several names each is explained, unless together they are one: congestion control.
    """
    if source:
        return max([_show_source(asked) for asked in name])
    together = " ".join(name)
    found: list[str] = []
    unknown = []
    for asked in (together,) if any(explanations(together)) else name:
        known = list(explanations(asked))
        found += known
        if not known:
            unknown.append(asked)
    if found:
        click.echo("\n\n".join(found))
    for asked in unknown:
        complain(f"nothing is called {asked!r}{_nearest(asked, names())}")
    return USAGE if unknown else DONE


def _show_source(asked: str) -> int:
    """Prints the compiled form of a message."""
    from zdissect.engine.compiler import COMPILED, source_of

    compiled = [message.name.lower() for message in COMPILED]
    if asked.lower() not in compiled:
        complain(f"{asked!r} isn't compiled; {', '.join(compiled)} are, the interpreter reads the rest")
        return USAGE
    click.echo(source_of(asked), nl=False)
    return 0


def _own_names() -> Iterator[Line]:
    """The fields of the grammar, then the derived ones."""
    for field in grammar_fields().values():
        yield Line(field.path, field.type if field.type != "none" else field.kind, field.column, field.doc)
    types = {column.name: column.type for column in COLUMNS}
    for derived in DERIVED:
        yield Line(derived.field.path, types[derived.column], derived.column, f"[{derived.field.doc}]")
    known = {derived.field.path for derived in DERIVED}
    yield from (Line(path, "derived", "", f"[{doc}]") for path, doc in NAMED.items() if path not in known)


def _other_names() -> Iterator[Line]:
    """The names of other tools."""
    return (Line(name, "alias", "", stands_for(alias)) for name, alias in aliases().items())


def _matches(pattern: str, line: Line) -> bool:
    """Whether a name or column goes with a pattern in lower case."""
    if any(char in pattern for char in "*?["):
        return fnmatchcase(line.path, pattern) or fnmatchcase(line.path.removeprefix("zenoh."), pattern)
    if pattern in line.path or pattern in line.column:
        return True
    alias = resolve(pattern) if line.type != "alias" else None  # another tool's name finds what it stands for
    return alias is not None and line.path in (alias.path, *alias.also)


def _print(lines: list[Line]) -> None:
    """A line for each; on a narrow terminal, the description stands below the name."""
    name, kind, column = (max(len(line[place]) for line in lines) for place in range(3))
    narrow = sys.stdout.isatty() and shutil.get_terminal_size().columns < _WIDE
    for line in lines:
        if narrow:
            head = "  ".join(filter(None, (line.path, line.type, line.column and f"column {line.column}")))
            click.echo(f"{click.style(line.path, bold=True)}{head[len(line.path) :]}\n    {line.doc}")
        else:
            gap = f"  {line.column:<{column}}" if column else ""
            click.echo(f"{line.path:<{name}}  {line.type:<{kind}}{gap}  {line.doc}")


def _nearest(asked: str, known: Iterable[str]) -> str:
    """`; did you mean ...?`, or nothing."""
    from difflib import get_close_matches  # only here: most never ask for what isn't there

    low = asked.lower()
    table = {name.lower(): name for name in known}
    table |= {name.removeprefix("zenoh."): full for name, full in list(table.items())}
    close = dict.fromkeys(table[name] for name in get_close_matches(low, table, n=6, cutoff=0.6))
    return f"; did you mean {', '.join(list(close)[:3])}?" if close else ""


commands = {"fields": fields, "explain": explain}
