"""`zdissect FILE` by all cores: each dissects some sessions of a large file, and what they show is put in order here.

Every process reads the file, and dissects and shows the frames of its group. What is written is byte for byte what one
process would write. Where that turns out not to be possible, because sessions belong together that were dissected
apart, or a process has died, one process starts anew, and leaves out what has been written already.
"""

import codecs
import gc
import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any

from zdissect.dissection import Dissection
from zdissect.dissector import EMPTY
from zdissect.engine.tape import Buffer
from zdissect.flow.conversation import Flow
from zdissect.flow.framing import STREAM
from zdissect.parallel.group_frames import SessionGroup, UnsoundSplit
from zdissect.parallel.look_blocks import look_at
from zdissect.parallel.merger import MOST_KEPT, Merger
from zdissect.parallel.processes import kill, uninterruptible
from zdissect.records import Frame
from zdissect.session.occurrences import Occurrences
from zdissect.stats.query_stats import Unanswered
from zdissect.verbose import NO_FLOW

from .captures import Captures
from .file_progress import file_progress
from .one_group import OPEN, Told, work

if TYPE_CHECKING:
    from .run import Run, Totals

_ITEM = Dissection(Frame("", 0, 0, 0, 0, b""), (), NO_FLOW, 0, Buffer("", b""), EMPTY, STREAM)
"""Stands for one whose bytes don't matter."""
_WRITTEN = 1 << 16
"""Bytes that are gathered before they are written."""


ENOUGH = 3
"""Processors from which on several processes are faster: a single one reads blocks, and has nothing to put in order."""


def usual_jobs(processors: int) -> int:
    """How many processes a run has where nobody said so."""
    return processors if processors >= ENOUGH else 1


class AllCores:
    """A run by several processes.

    Args:
        run: What one process would do.
        jobs: Number of processes; None: as many as there are processors, if these are enough to gain by it.
        most: Bytes of memory for what can't be written yet.
    """

    def __init__(self, run: "Run", jobs: int | None, most: int = MOST_KEPT) -> None:
        self.do = run
        self.queries, self.refused = Unanswered(), Occurrences()
        self.jobs = jobs or usual_jobs(os.cpu_count() or 1)
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
        groups = self.look(looked)
        if len(groups) < 2:
            return False
        totals: list[Totals] = []
        try:
            with self.started(groups) as connections:
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
        if codecs.lookup(encoding).name not in ("utf-8", "ascii", "iso8859-1") or not hasattr(sys.stdout, "buffer"):
            return False
        return "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1

    def look(self, captures: Captures) -> list[SessionGroup]:
        """The groups of a capture; fewer than two if it can't be split."""
        try:
            look = look_at(captures, self.do.pipeline.options)
            split = look.split(self.jobs)
        except Exception:  # dissecting the whole will show what is wrong
            return []
        return [
            SessionGroup(split, number, captures.files[0], [look.places[stream] for stream in numbers])
            for number, numbers in enumerate(split.numbers)
        ]

    @contextmanager
    def started(self, groups: list[SessionGroup]) -> "Iterator[list[Connection[Any, Any]]]":
        """A process for each group, which sends blocks; in the end none is left."""
        context = multiprocessing.get_context("fork")  # all that was prepared is there, without being packed up
        connections: list[Connection[Any, Any]] = []
        processes: set[BaseProcess] = set()
        sys.stdout.flush()
        gc.freeze()
        try:
            with uninterruptible():
                for group in groups:
                    receiving, sending = context.Pipe(duplex=False)
                    connections.append(receiving)
                    process = context.Process(target=work, args=(self.do, group, sending, connections), daemon=True)
                    process.start()
                    processes.add(process)
                    sending.close()
            yield connections
        finally:
            kill(processes)
            gc.unfreeze()

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
        for frame, ends, direction, row in told.queries:
            self.queries.feed(replace(_ITEM, frame=frame, flow=Flow("", "", ends), direction=direction), row)
        self.refused.merge(told.refused)

    def flush(self) -> None:
        """Writes what is pending."""
        data = b"".join(self.pending)
        self.pending, self.size = [], 0  # first: what Ctrl-C interrupts isn't written again
        self.do.printed += len(data)
        sys.stdout.buffer.write(data)
