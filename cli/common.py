"""What the commands share: colour, terminal width, messages on standard error."""

import os
import shutil
import sys
from collections.abc import Iterable
from textwrap import wrap

import click

from zdissect.output.style import THEMES, Style
from zdissect.output.text import prose

_NARROWEST = 30
"""Characters that are used of a line even if a terminal has fewer."""


def wants_color(choice: str) -> bool:
    """Whether to colour what goes to standard output (no-color.org, clig.dev)."""
    if choice != "auto":
        return choice == "always"
    if not os.environ.get("NO_COLOR") and os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and sys.stdout.isatty()


def style_of(theme: str) -> Style:
    """The colours of a theme. COLORFGBG, which some terminals set, ends with the number of the background's colour."""
    if theme == "auto":
        ground = os.environ.get("COLORFGBG", "").rpartition(";")[2]
        theme = ("light" if int(ground) in (7, *range(9, 16)) else "dark") if ground.isdecimal() else "ansi"
    return THEMES[theme]


def terminal_columns() -> int | None:
    """How wide the terminal is that standard output goes to; None if that isn't one."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def folded(text: str, width: int) -> list[str]:
    """Lines of at most so many characters, as far as words allow; at least one."""
    return wrap(text, max(width, _NARROWEST), break_long_words=False, break_on_hyphens=False) or [""]


def raw_columns() -> int:
    """How many bytes of a field fit next to the tree: fewer on a narrow terminal."""
    if not sys.stdout.isatty():
        return 8
    width = shutil.get_terminal_size().columns
    return 8 if width >= 100 else 6 if width >= 80 else 4


def complain(text: str) -> None:
    """A message on standard error. It may name files, whose names may hold what drives a terminal: that is escaped."""
    click.echo(f"zdissect: {prose(text)}", err=True)


def complain_of(texts: Iterable[object]) -> None:
    """Messages on standard error, a line each."""
    for text in texts:
        complain(str(text))


def complain_of_leftovers(removed: Iterable[str]) -> None:
    """Says which temporary files of runs that were killed are gone."""
    for path in removed:
        complain(f"{path}: a run that was killed left it; it is removed")


def nearest(asked: str, known: Iterable[str]) -> str:
    """`; did you mean ...?`, or nothing."""
    from zdissect.filters.filter_error import nearest as hint  # only here: most never ask for what isn't there

    found = hint(asked, known)
    return f"; {found}" if found else ""
