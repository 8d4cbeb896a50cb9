"""One run of `zdissect FILE...`: reads, dissects, writes."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from zdissect.dissection import Item
from zdissect.endless import Dissecting, Endless
from zdissect.filters.first_frame import told_when_it_began
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.stats.query_stats import Unanswered
from zdissect.verbose import Verbose

from . import stdio
from .captures import Captures
from .common import complain
from .forms import Form
from .options import DisplayOptions
from .outcome import absences, describe, not_opened
from .waiting_items import WaitingItems

if TYPE_CHECKING:
    from .interface import Interface


class Run:
    """One run over files, or an interface: reads, dissects, writes, counts."""

    def __init__(self, captures: "Captures | Interface", options: Options, form: Form, display: DisplayOptions) -> None:
        self.captures = captures
        self.form = form
        self.pipeline = Pipeline(options)
        verbose = Verbose(self.pipeline) if display.verbose else None
        self.source: Dissecting = verbose or self.pipeline
        if captures.endless:
            self.source = Endless(self.source, self.pipeline, verbose.forget if verbose is not None else list)
            form.remember_little()
        self.only = display.only
        self.wanted = display.wanted
        self.pattern = display.pattern
        self.flush = display.flush or captures.live
        self.queries = Unanswered(MOST_LIVE if captures.endless else None)
        self.waiting = WaitingItems(form.ahead) if form.ahead is not None else None
        """What isn't shown yet, as it says what comes later."""

    def run(self) -> None:
        """Dissects all frames. What is good is written even if a file ends in the middle, or on Ctrl-C."""
        write = stdio.emit if self.captures.endless else sys.stdout.write
        feed, show = self.source.feed, self.form.show if self.wanted is None else self.chosen
        pending: list[str] = []
        at_once, only = self.flush, self.only
        take, waiting = self.queries.take, self.waiting
        size = 0
        try:
            for frame in self.frames():
                items = feed(frame) if frame is not None else self.passed()
                for item in items:
                    take(item)
                for item in items if waiting is None else waiting.through(items):
                    if only is None or only.shows(item):
                        pending.append(show(item))
                        size += len(pending[-1])
                if size > _BLOCK or (at_once and pending):
                    text = "".join(pending)
                    pending.clear()  # first: what Ctrl-C interrupts isn't written again
                    size = 0
                    write(text)
                    if at_once:
                        sys.stdout.flush()
            items = self.source.close()
            if waiting is not None:
                items = [*waiting.through(items), *waiting.rest()]
            pending += [show(item) for item in items if only is None or only.shows(item)]
            pending.append(self.form.end())
        finally:
            write("".join(pending))

    def chosen(self, item: Item) -> str:
        """The text of those messages of an item that the filter selects."""
        assert self.wanted is not None
        chosen = self.wanted.select(item)
        return self.form.show(item, chosen) if any(chosen) else ""

    def frames(self) -> Iterable[Frame | None]:
        """The frames of the capture; form and filter are told of those that aren't shown, if they count from these."""
        times = self.form.times
        told = [one for one in (self.wanted, self.form.values) if one is not None]
        frames = told_when_it_began(self.captures, told) if told else self.captures
        return frames if times is None or not times.reads else map(times.read, frames)

    def passed(self) -> Iterable[Item]:
        """What the time shows that passes in a live capture without frames."""
        now_ns = self.captures.now_ns
        return self.source.passed(now_ns) if now_ns is not None else ()

    def summary(self) -> None:
        """What was wrong with files, and what was found, on standard error."""
        sys.stdout.flush()
        if text := self.captures.summary():
            complain(text)
        frames, problems = self.captures.frames, self.captures.problems
        for problem in problems:
            complain(str(problem))
        if not self.form.messages and (frames or not problems):
            where = f"frame {self.only.text}, of {frames}" if self.only is not None else f"{frames} frames"
            complain(f"{self.nothing()} in {where}")
        if unopened := not_opened(self.pipeline.decoder.unopened.total()):
            complain(unopened)
        others = ", ".join(f"{number} {_OPAQUE.get(name, name)}" for name, number in self.pipeline.others().items())
        if others:
            complain(f"conversations that aren't shown: {others}")
        for text in absences(self.pipeline.sessions.refused, self.queries.silent()):
            complain(text)
        if self.form.findings:
            complain(describe(self.form.findings))

    def nothing(self) -> str:
        """What there isn't, where nothing was shown."""
        if self.wanted is None and not self.pattern:
            return "no Zenoh found"
        asked = [f"matches {self.wanted.text}"] if self.wanted is not None else []
        return f"nothing {' and '.join([*asked, *([f'holds {self.pattern!r}'] if self.pattern else [])])}"


MOST_LIVE = 5000
"""Queries of a live capture that are known at once."""
_OPAQUE = {"TLS": "TLS (opaque: no keys)", "QUIC": "QUIC (opaque: no keys)"}
"""Protocols that may well carry Zenoh, but can't be read."""
_BLOCK = 1 << 16
"""Characters that are gathered before they are written."""
