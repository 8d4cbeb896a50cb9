"""Options of `zdissect FILE...` that need each other, or exclude each other: what to do is said at once."""

import os
from dataclasses import replace

import click

from .options import CaptureOptions, DisplayOptions
from .settings import BadSetting, current


def checked(display: DisplayOptions) -> DisplayOptions:
    """The options, with what is set once and for all. Raises click.UsageError for some that can't be used together."""
    display = _with_columns(display)
    form = display.form
    if display.full and form != "tree":
        raise click.UsageError(f"-V is -T tree, which excludes -T {form}: leave one of them out")
    given: object
    for option, given in (("-O", display.opened), ("--no-bits", display.no_bits)):
        if given and form != "tree":
            raise click.UsageError(f"{option} is about the tree, which -T {form} doesn't show: leave one of them out")
    for option, given in (("--brief", display.brief), ("--long", display.long)):
        if given and form != "line":
            raise click.UsageError(f"{option} is about lines: it needs -T line, not -T {form}")
    separated = form in ("fields", "csv")
    for option, given in (("-e", display.names), ("-E", display.separators), ("--payload", display.payload)):
        if given and not separated:
            raise click.UsageError(f"{option} needs -T fields or -T csv, not -T {form}")
    if form == "fields" and not display.names:
        raise click.UsageError("-T fields needs at least one -e NAME, such as -e frame.number -e key_expr")
    if form == "csv" and any("quote=" in one for one in display.separators):
        raise click.UsageError("-T csv quotes what needs it: leave out quote=, or use -T fields")
    if display.full and display.opened:
        raise click.UsageError("-V shows everything in full, -O only some messages: leave one of them out")
    if display.whole and (display.wanted is None or form != "tree"):
        raise click.UsageError("--whole needs -Y and -T tree, which folds what doesn't match")
    if display.pattern and form not in ("tree", "line"):
        raise click.UsageError(f"--grep needs -T tree or -T line: for -T {form} use grep or jq")
    if display.dump and form not in ("tree", "line"):
        raise click.UsageError(f"-x needs -T tree or -T line: -T {form} has no place for a dump")
    if display.verbose and form not in ("tree", "line"):
        raise click.UsageError(f"-v needs -T tree or -T line: -T {form} holds messages only")
    return display


def _with_columns(display: DisplayOptions) -> DisplayOptions:
    """With the columns of the settings, where none are named. Raises BadSetting for one that there isn't."""
    columns = current().values.get("columns", [])
    if not columns or display.names or display.form not in ("fields", "csv"):
        return display
    from zdissect.filters import name, suggest

    for column in columns:
        if name(column) is None:
            settings = current()
            where = f"{settings.path}: line {settings.lines['columns']}"
            hint = f"; {near}" if (near := suggest(column)) else ""
            raise BadSetting(f"{where}: no field or column is called {column!r}{hint}")
    return replace(display, names=tuple(columns))


def with_files_of_r(capture: CaptureOptions) -> CaptureOptions:
    """The files of `-r` among the others. Raises click.UsageError for what tshark would take for a filter."""
    if not capture.read:
        return capture
    for name in capture.files:
        if name != "-" and not os.path.exists(name):
            raise click.UsageError(f"no such file: {name!r}; all words that aren't options are files, with -r too")
    return replace(capture, files=(*capture.read, *capture.files))
