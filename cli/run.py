"""One run of `zdissect FILE...`: reads, dissects, writes."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from zdissect.dissection import InTurn, Item
from zdissect.endless import Dissecting, Endless
from zdissect.fed import as_they_come, in_parts
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
from .outcome import absences, describe, in_frames, not_shown
from .waiting_items import WaitingItems

if TYPE_CHECKING:
    from zdissect.filters import Filter
    from zdissect.vector.dissections import Show
    from zdissect.vector.usual_batches import UsualBatches

    from .interface import Interface


class Totals(NamedTuple):
    """What a run has counted."""

    messages: int
    findings: Counter[str]
    others: Counter[str]
    """Conversations that aren't shown."""
    unopened: Counter[str]
    """Frames that weren't opened."""


def by_all_cores(run: "Run", jobs: int | None) -> None:
    """Does a run, by several processes if it can be shared out and is worth it."""
    if jobs != 1 and isinstance(run.captures, Captures) and run.captures.large:
        from .all_cores import AllCores  # only here: most files are small

        if AllCores(run, jobs).run():
            return
    run.run()


class Run:
    """One run over files, or an interface: reads, dissects, writes, counts."""

    def __init__(self, captures: "Captures | Interface", options: Options, form: Form, display: DisplayOptions) -> None:
        self.captures = captures
        self.form = form
        self.pipeline = Pipeline(options)
        verbose = Verbose(self.pipeline) if display.verbose else None
        self.source: Dissecting = verbose or self.pipeline
        self.sweep: Callable[[], list[Item]] = list
        """Forgets what is over, and gives what is left of it."""
        if captures.endless:
            endless = Endless(self.source, self.pipeline, verbose.forget if verbose is not None else list)
            self.source, self.sweep = endless, endless.swept
            form.remember_little()
        self.only = display.only
        self.wanted = display.wanted
        self.pattern = display.pattern
        self.flush = display.flush or captures.live
        self.verbose = display.verbose
        self.printed = 0
        """How many bytes others have written of what this run has to write."""
        self.refused = self.pipeline.sessions.refused
        self.total: Totals | None = None
        """What others have counted, if all was done by them."""
        self.queries = Unanswered(MOST_LIVE if captures.endless else None)
        self.waiting = WaitingItems(form.ahead) if form.ahead is not None else None
        """What isn't shown yet, as it says what comes later."""

    def run(self) -> None:
        """Dissects all frames. What is good is written even if a file ends in the middle, or on Ctrl-C."""
        write = stdio.emit if self.captures.endless else sys.stdout.write
        if self.printed:
            write = stdio.Remainder(self.printed).write
        writing = _Writing(write)
        try:
            for items in self.fed():
                self.take(items)
                self.show(items, writing)
                if self.flush:
                    writing.write()
                    sys.stdout.flush()
            for _, left in self.source.endings():
                self.show(left, writing)
            for item in self.waiting.rest() if self.waiting is not None else ():
                writing.add(self.shown(item))
            writing.add(self.form.end())
        finally:
            writing.write()

    def take(self, items: Sequence[Item | InTurn[str]]) -> None:
        """Notes which queries there are in items."""
        take = self.queries.take
        for item in items:
            if not isinstance(item, InTurn):
                take(item)

    def show(self, items: Sequence[Item | InTurn[str]], writing: "_Writing") -> None:
        """Makes texts of items, those that needn't wait."""
        shown, add = self.shown, writing.add
        for item in items if self.waiting is None else self.waiting.through(items):
            if text := shown(item):
                add(text)

    def shown(self, item: Item | InTurn[str]) -> str:
        """The text of an item; empty if it isn't shown."""
        if isinstance(item, InTurn):
            return item.take()
        if self.only is not None and not self.only.shows(item):
            return ""
        return self.form.show(item) if self.wanted is None else self.chosen(item)

    def merged(self, totals: list[Totals], captures: Captures) -> None:
        """Takes what others have counted, who have done all of it but the end; and the capture as it was looked at."""
        messages, findings, others, unopened = zip(*totals, strict=True)
        self.form.messages = sum(messages)
        for found in findings:
            self.form.findings.update(found)
        self.total = Totals(self.form.messages, self.form.findings, sum(others, Counter()), sum(unopened, Counter()))
        self.captures.frames, self.captures.problems = captures.frames, captures.problems
        if self.printed:
            self.form.resume()
        sys.stdout.write(self.form.end())

    def totals(self, pipeline: Pipeline) -> Totals:
        """What has been counted."""
        return Totals(self.form.messages, self.form.findings, pipeline.others(), pipeline.decoder.unopened.total())

    def chosen(self, item: Item) -> str:
        """The text of those messages of an item that the filter selects."""
        assert self.wanted is not None
        chosen = self.wanted.select(item)
        return self.form.show(item, chosen) if any(chosen) else ""

    def fed(self) -> Iterable[Sequence[Item | InTurn[str]]]:
        """What frames complete. They are read ahead if nobody waits for what they show; -v tells of each as it is."""
        if self.verbose:
            return self.one_by_one()
        if self.flush or self.captures.endless:
            return as_they_come(self.pipeline, self.frames(), self.texts, lambda: [*self.passed(), *self.sweep()])
        return in_parts(self.pipeline, (frame for frame in self.frames() if frame is not None), self.texts)

    def one_by_one(self) -> Iterator[Sequence[Item]]:
        """What each frame completes, in parts."""
        for frame in self.frames():
            if frame is None:
                yield self.passed()
                continue
            for _, items in self.source.ranked(frame):
                yield items

    @property
    def texts(self) -> "Show[str] | None":
        """What makes texts of columns, if that is possible."""
        return texts_of(self.form, self.wanted) if self.only is None else None

    def frames(self) -> Iterable[Frame | None]:
        """The frames of the capture; form and filter are told of those that aren't shown, if they count from these."""
        times = self.form.times
        told = [one for one in (self.wanted, self.form.values) if one is not None]
        read = self.captures.arriving() if isinstance(self.captures, Captures) else self.captures
        frames = told_when_it_began(read, told) if told else read
        return frames if times is None or not times.reads else map(times.read, frames)

    def passed(self) -> Sequence[Item]:
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
            only = self.only
            what = self.nothing()
            complain(in_frames(what, frames) if only is None else f"{what} in frame {only.text}, of {frames}")
        total = self.total or self.totals(self.pipeline)
        for text in (*not_shown(total.unopened, total.others), *absences(self.refused, self.queries.silent())):
            complain(text)
        if self.form.findings:
            complain(describe(self.form.findings))

    def nothing(self) -> str:
        """What there isn't, where nothing was shown."""
        if self.wanted is None and not self.pattern:
            return "no Zenoh found"
        asked = [f"matches {self.wanted.text}"] if self.wanted is not None else []
        return f"nothing {' and '.join([*asked, *([f'holds {self.pattern!r}'] if self.pattern else [])])}"


def texts_of(form: Form, wanted: "Filter | None") -> "Show[str] | None":
    """What makes texts of the columns of usual batches, of those messages that a filter selects: empty for a batch
    without any. None if form or filter take no columns."""
    if not form.takes_columns or wanted is None or wanted.needs_tape:
        return form.texts if form.takes_columns and wanted is None else None

    def chosen(usual: "UsualBatches") -> Iterator[str]:
        some, has_some = usual.chosen(wanted.select_usual(usual))
        texts = form.texts(some)
        for has in has_some:
            yield next(texts) if has else ""

    return chosen


class _Writing:
    """Text that is gathered before it is written."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self.out = write
        self.texts: list[str] = []
        self.size = 0

    def add(self, text: str) -> None:
        """Takes a text; writes all when it is much."""
        self.texts.append(text)
        self.size += len(text)
        if self.size > _BLOCK:
            self.write()

    def write(self) -> None:
        """Writes what there is."""
        text = "".join(self.texts)
        self.texts.clear()  # first: what Ctrl-C interrupts isn't written again
        self.size = 0
        self.out(text)


MOST_LIVE = 5000
"""Queries of a live capture that are known at once."""
_BLOCK = 1 << 16
"""Characters that are gathered before they are written."""
