"""One run of `zdissect FILE...`: reads, dissects, writes."""

import sys

from zdissect.pipeline import Options, Pipeline
from zdissect.stats.query_stats import Queries
from zdissect.verbose import Verbose

from .captures import Captures
from .common import complain
from .forms import Form
from .outcome import absences, describe, not_opened


class Run:
    """One run over files: reads, dissects, writes, counts."""

    def __init__(self, captures: Captures, options: Options, form: Form, verbose: bool = False) -> None:
        self.captures = captures
        self.form = form
        self.pipeline = Pipeline(options)
        self.source = Verbose(self.pipeline) if verbose else self.pipeline
        self.queries = Queries()

    def run(self) -> None:
        """Dissects all frames. What is good is written even if a file ends in the middle, or on Ctrl-C."""
        write = sys.stdout.write
        feed, show = self.source.feed, self.form.show
        pending: list[str] = []
        live = self.captures.live
        size = 0
        try:
            for frame in self.captures:
                for item in feed(frame):
                    pending.append(show(item))
                    self.queries.take(item)
                    size += len(pending[-1])
                if size > _BLOCK or (live and pending):
                    text = "".join(pending)
                    pending.clear()  # first: what Ctrl-C interrupts isn't written again
                    size = 0
                    write(text)
                    if live:
                        sys.stdout.flush()
            pending += [show(item) for item in self.source.close()]
            pending.append(self.form.end())
        finally:
            write("".join(pending))

    def summary(self) -> None:
        """What was wrong with files, and what was found, on standard error."""
        sys.stdout.flush()
        frames, problems = self.captures.frames, self.captures.problems
        for problem in problems:
            complain(str(problem))
        if not self.form.messages and (frames or not problems):
            complain(f"no Zenoh found in {frames} frames")
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
