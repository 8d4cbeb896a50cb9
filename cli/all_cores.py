"""`zdissect FILE` by all cores: each dissects some sessions of a large file, and what they show is put in order here.

Every process reads the file, and dissects and shows the frames of its group. What is written is byte for byte what one
process would write. Where that turns out not to be possible, because sessions belong together that were dissected
apart, or a process has died, one process starts anew, and leaves out what has been written already.
"""

import codecs
import sys
from functools import partial
from typing import TYPE_CHECKING

from zdissect.parallel.group_frames import UnsoundSplit
from zdissect.parallel.merger import MOST_KEPT, Merger
from zdissect.session.occurrences import Occurrences
from zdissect.stats.query_stats import Unanswered

from .captures import Captures
from .file_progress import file_progress
from .group_processes import number_of_jobs, session_groups, started
from .one_group import OPEN, Told, work

if TYPE_CHECKING:
    from .run import Run, Totals

_WRITTEN = 1 << 16
"""Bytes that are gathered before they are written."""


class AllCores:
    """A run by several processes.

    Args:
        run: What one process would do.
        jobs: See `number_of_jobs`.
        most: Bytes of memory for what can't be written yet.
    """

    def __init__(self, run: "Run", jobs: int | None, most: int = MOST_KEPT) -> None:
        self.do = run
        self.queries, self.refused = Unanswered(), Occurrences()
        self.jobs = number_of_jobs(jobs)
        self.most = most
        self.files: tuple[str, ...] = ()
        self.pending: list[bytes | memoryview] = []
        self.size = 0

    def run(self) -> bool:
        """Whether all was done; if not, one process has to, after the `printed` bytes of the run."""
        captures = self.do.captures
        if self.jobs < 2 or not isinstance(captures, Captures) or not self.possible(captures):
            return False
        self.files = captures.files
        looked = Captures(self.files, captures.limit)
        groups = session_groups(looked, self.files[0], self.do.pipeline.options, self.jobs)
        if len(groups) < 2:
            return False
        totals: list[Totals] = []
        try:
            with started(groups, partial(work, self.do)) as connections:
                self.write(Merger(connections, self.most), totals)
        except UnsoundSplit:
            return False
        self.do.queries, self.do.refused = self.queries, self.refused
        self.do.merged(totals, looked)
        return True

    def possible(self, captures: Captures) -> bool:
        """Whether this run can be shared out, and is worth it."""
        form, encoding = self.do.form, sys.stdout.encoding
        if form.starts is None or self.do.flush or self.do.verbose:
            return False
        if form.times is not None and form.times.kind == "dd":  # the time since what another process has shown
            return False
        return codecs.lookup(encoding).name in ("utf-8", "ascii", "iso8859-1") and hasattr(sys.stdout, "buffer")

    def write(self, merger: Merger, totals: "list[Totals]") -> None:
        """Writes what the processes show, in order."""
        progress = file_progress(self.files)
        fill, encoding = self.do.form.filling(), (sys.stdout.encoding, sys.stdout.errors or "strict")
        between, opening = (text.encode(sys.stdout.encoding) for text in self.do.form.starts or ("", ""))
        try:
            for text, told in merger.passages(lambda *reached: progress.reached(*reached) if progress else None):
                if text and fill is not None:
                    text = fill(str(text, *OPEN)).encode(*encoding)
                if text:
                    if not self.do.printed and not self.pending:
                        text = opening + bytes(text).removeprefix(between)
                    self.pending.append(text)
                    self.size += len(text)
                for one in told:
                    self.take(one)
                if self.size > _WRITTEN:
                    self.flush()
            totals += (source.result for source in merger.sources)
        finally:
            if progress:
                progress.clear()
            self.flush()

    def take(self, told: Told) -> None:
        """Takes what isn't text."""
        for message in told.queries:
            self.queries.feed(message.item, message.row)
        self.refused.merge(told.refused)

    def flush(self) -> None:
        """Writes what is pending."""
        data = b"".join(self.pending)
        self.pending, self.size = [], 0  # first: what Ctrl-C interrupts isn't written again
        self.do.printed += len(data)
        sys.stdout.buffer.write(data)
