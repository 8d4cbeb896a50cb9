"""How commands show text that may be longer than the terminal; the pager itself is loaded only on a terminal."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


@contextmanager
def paging(wanted: bool) -> Iterator[None]:
    """What is written inside goes through the pager, if there is one and standard output is a terminal.

    Inside, standard output is none any more: width and colours must be known before.
    """
    if not wanted or not sys.stdout.isatty():
        yield
        return
    from .pager import paged

    with paged(True):
        yield


def write_paged(texts: Iterable[str], wanted: bool) -> None:
    """Writes texts with their line ends through the pager; all are made before it starts."""
    ready = [*texts]
    with paging(wanted):
        sys.stdout.writelines(ready)
