"""`zdissect explain`: what a finding, a field, a message or a column means, from the grammar."""

import click

from . import completers
from .command import Command
from .common import complain, nearest
from .exit_codes import DONE, USAGE
from .explanations import explanations, names
from .options import pager_option
from .paging import write_paged


@click.command("explain", cls=Command)
@click.argument("name", nargs=-1, required=True, shell_complete=completers.explained)
@pager_option
def explain(name: tuple[str, ...], no_pager: bool) -> int:
    """Explains the code of a finding, a field, a message, a column, or a list of values such as priority.

    Several names are each explained, unless they form one together: congestion control.
    """
    together = next((one for one in (" ".join(name), "_".join(name)) if any(explanations(one))), "")
    texts: list[str] = []
    unknown = []
    for asked in (together,) if together else name:
        known = list(explanations(asked))
        texts += known
        if not known:
            unknown.append(asked)
    if texts:
        write_paged([f"{text}\n" for text in "\n\n".join(texts).split("\n")], not no_pager)
    for asked in unknown:
        complain(f"nothing is called {asked!r}{nearest(asked, names())}")
    return USAGE if unknown else DONE


commands = {"explain": explain}
