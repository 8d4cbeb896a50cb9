"""Options of `zdissect FILE...` that need each other, or exclude each other: what to do is said at once."""

import os
from dataclasses import replace

import click

from .options import CaptureOptions, DisplayOptions


def check(display: DisplayOptions) -> None:
    """Raises click.UsageError for options that can't be used together."""
    form = display.form
    if display.full and form != "tree":
        raise click.UsageError(f"-V is -T tree, which excludes -T {form}: leave one of them out")
    for option, given in (("-O", display.opened), ("--no-bits", display.no_bits)):
        if given and form != "tree":
            raise click.UsageError(f"{option} is about the tree, which -T {form} doesn't show: leave one of them out")
    if display.full and display.opened:
        raise click.UsageError("-V is everything in full, -O some messages: leave one of them out")
    if display.whole and (display.wanted is None or form != "tree"):
        raise click.UsageError("--whole needs -Y and -T tree, which folds what doesn't match")
    if display.dump and form not in ("tree", "line"):
        raise click.UsageError(f"-x needs -T tree or -T line: -T {form} has no place for a dump")


def with_files_of_r(capture: CaptureOptions) -> CaptureOptions:
    """The files of `-r` among the others. Raises click.UsageError for what tshark would take for a filter."""
    if not capture.read:
        return capture
    for name in capture.files:
        if name != "-" and not os.path.exists(name):
            raise click.UsageError(f"there is no file {name!r}; with -r or without, all other words are files")
    return replace(capture, files=(*capture.read, *capture.files))
