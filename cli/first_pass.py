"""The first of two passes over a capture, for filters that ask what comes later."""

import os
import stat
from typing import TYPE_CHECKING

import click

from zdissect.fed import dissected
from zdissect.pipeline import Options, Pipeline

from .captures import Captures
from .options import CaptureOptions, LiveOptions

if TYPE_CHECKING:
    from zdissect.filters import Filter, LookAhead


def look_ahead(wanted: "Filter", capture: CaptureOptions, live: LiveOptions, options: Options) -> None:
    """Tells a filter what a capture will show. Raises click.UsageError for what can be read only once."""
    from zdissect.filters import LookAhead

    once = next((name for name in capture.files if not can_be_read_twice(name)), None)
    if once is not None or live.interface is not None:
        what = "an interface" if once is None else "standard input" if once == "-" else f"{once}, a pipe,"
        raise click.UsageError(
            f"{wanted.text!r} depends on later messages; {what} can be read only once, but this reads it twice: "
            "write it to a file first"
        )
    wanted.ahead = LookAhead()
    first_pass(wanted.ahead, capture, options)


def first_pass(ahead: "LookAhead", capture: CaptureOptions, options: Options) -> None:
    """Reads all frames of files, for what a second pass will ask."""
    pipeline = Pipeline(options)
    for item in dissected(pipeline, Captures(capture.files, capture.frames)):
        ahead.feed(item)


def can_be_read_twice(name: str) -> bool:
    """Whether it is a file, or can't be read at all, which a pass says."""
    try:
        mode = os.stat(name).st_mode
        return name != "-" and (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    except OSError:
        return name != "-"
