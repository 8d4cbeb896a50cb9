"""One run of `zdissect FILE...`: reads, dissects, writes."""

import sys
from collections.abc import Iterator

from zdissect.capture import CaptureError, open_capture
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.stats.query_stats import Queries
from zdissect.verbose import Verbose

from .common import complain
from .forms import Form
from .outcome import absences, describe, not_opened


class Run:
    """One run over files: reads, dissects, writes, counts."""

    def __init__(
        self, files: tuple[str, ...], limit: int | None, options: Options, form: Form, verbose: bool = False
    ) -> None:
        self.files = files
        self.limit = limit
        self.form = form
        self.pipeline = Pipeline(options)
        self.source = Verbose(self.pipeline) if verbose else self.pipeline
        self.problems: list[CaptureError] = []
        self.queries = Queries()
        self.frames = 0
        self.live = "-" in files

    def run(self) -> None:
        """Dissects all frames. What is good is written even if a file ends in the middle, or on Ctrl-C."""
        write = sys.stdout.write
        feed, show = self.source.feed, self.form.show
        pending: list[str] = []
        size = 0
        try:
            for frame in self.read():
                for item in feed(frame):
                    pending.append(show(item))
                    self.queries.take(item)
                    size += len(pending[-1])
                if size > _BLOCK or (self.live and pending):
                    text = "".join(pending)
                    pending.clear()  # first: what Ctrl-C interrupts isn't written again
                    size = 0
                    write(text)
                    if self.live:
                        sys.stdout.flush()
            pending += [show(item) for item in self.source.close()]
            pending.append(self.form.end())
        finally:
            write("".join(pending))

    def read(self) -> Iterator[Frame]:
        """The frames of all files; a file that can't be read further is noted."""
        for name in self.files:
            try:
                with open_capture(name) as capture:
                    for frame in capture:
                        self.frames += 1
                        yield frame
                        if self.frames == self.limit:
                            return
            except CaptureError as problem:
                self.problems.append(problem)

    def summary(self) -> None:
        """What was wrong with files, and what was found, on standard error."""
        sys.stdout.flush()
        for problem in self.problems:
            complain(str(problem))
        if not self.form.messages and (self.frames or not self.problems):
            complain(f"no Zenoh found in {self.frames} frames")
        if unopened := not_opened(self.pipeline.decoder.unopened.total()):
            complain(unopened)
        others = ", ".join(f"{number} {_OPAQUE.get(name, name)}" for name, number in self.pipeline.others().items())
        if others:
            complain(f"conversations that aren't shown: {others}")
        for text in absences(self.pipeline.sessions.refused, self.queries.silent()):
            complain(text)
        if self.form.findings:
            complain(describe(self.form.findings))


_OPAQUE = {"TLS": "TLS (opaque: no keys)", "QUIC": "QUIC (opaque: no keys)"}
"""Protocols that may well carry Zenoh, but can't be read."""
_BLOCK = 1 << 16
"""Characters that are gathered before they are written."""
