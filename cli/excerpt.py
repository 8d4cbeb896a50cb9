"""`zdissect FILE... -Y FILTER -w OUT`: a capture with the frames that a filter selects, and those that they need."""

import os
import stat
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from zdissect.capture import CaptureError
from zdissect.capture.output_file import OutputFile
from zdissect.capture.spool import Spool
from zdissect.dissection import Dissection, Item
from zdissect.excerpt.choice import choose, numbered
from zdissect.excerpt.index import Select
from zdissect.pipeline import Options, dissect
from zdissect.records import Frame

from .captures import Captures, captured
from .common import complain, complain_of_leftovers
from .exit_codes import DONE, UNREADABLE
from .options import CaptureOptions, DisplayOptions, LiveOptions

if TYPE_CHECKING:
    from zdissect.filters import Filter


class Passes:
    """The frames of files, as often as they are asked for; what can be read only once is kept in a temporary file."""

    def __init__(self, capture: CaptureOptions, stack: ExitStack) -> None:
        self.capture = capture
        self.last = Captures(capture.files, capture.frames)
        """What was wrong with the files, the last time that they were read."""
        self.spool: Spool | None = None
        if not all(map(_can_be_read_again, capture.files)):
            self.spool = stack.enter_context(Spool())
            for frame in self.last:
                self.spool.add(frame)

    def frames(self) -> Iterable[Frame]:
        """All frames, from the first one."""
        if self.spool is not None:
            return (frame._replace(source="-") for frame in self.spool.frames())
        self.last = Captures(self.capture.files, self.capture.frames)
        return self.last


def write_excerpt(capture: CaptureOptions, live: LiveOptions, display: DisplayOptions, quiet: bool) -> int:
    """Writes an excerpt, unless no frame could be read; the exit code."""
    captured(capture, replace(live, exact=False))  # what is wrong with other options
    assert live.write is not None
    options = capture.pipeline()
    try:
        output = OutputFile(live.write, capture.files)
    except CaptureError as problem:
        raise click.UsageError(str(problem)) from problem
    with ExitStack() as stack:
        passes = Passes(capture, stack)
        if display.wanted is not None:
            _prepare(display.wanted, passes, options)
        choice = choose(passes.frames, options, _selection(display), live.exact)
        chosen = choice.frames
        if choice.total or not passes.last.problems:
            with output:
                for frame in numbered(passes.frames()):
                    if frame.number in chosen:
                        output.write(frame, choice.comments.get(frame.number, ()))
        complain_of_leftovers(output.removed)
        for unread in passes.last.problems:
            complain(str(unread))
    for text in choice.lines() if not quiet and choice.total else ():
        complain(text)
    return UNREADABLE if passes.last.problems else DONE


def _selection(display: DisplayOptions) -> Select:
    """What `-Y` and `--frame` select; without them all that is of Zenoh."""
    wanted, only = display.wanted, display.only

    def select(item: Item) -> list[bool]:
        shown = only is None or only.shows(item)
        if wanted is not None and shown:
            return wanted.select(item)
        return [shown] * (len(item.messages) or 1 if isinstance(item, Dissection) else 1)

    return select


def _prepare(wanted: "Filter", passes: Passes, options: Options) -> None:
    """Tells a filter what it needs to know of the whole capture."""
    for frame in passes.frames():
        wanted.began_ns = frame.ts_ns
        break
    if wanted.looks_ahead:
        from zdissect.filters import LookAhead

        wanted.ahead = LookAhead(dissect(numbered(passes.frames()), options))


def _can_be_read_again(name: str) -> bool:
    """Whether it is a file, or isn't there, which the first pass says."""
    try:
        return name != "-" and stat.S_ISREG(os.stat(name).st_mode)
    except OSError:
        return name != "-"
