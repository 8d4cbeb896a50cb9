"""`zdissect FILE...`: captures as trees, lines or JSON."""

import sys
from collections.abc import Iterator

import click

from zdissect.capture import CaptureError, open_capture
from zdissect.output.times import FORMATS
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame

from .common import DONE, UNREADABLE, color_option, complain, raw_columns, wants_color
from .decode_as import decode_as
from .writers import Writer, make_writer


@click.command("dissect", hidden=True)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "-T", "kind", type=click.Choice(["tree", "line", "json", "jsonl"]), default="tree", help="Form of the output."
)
@click.option("-c", "frames", type=click.IntRange(min=1), metavar="N", help="Stop after N frames.")
@click.option("-d", "rules", multiple=True, metavar="RULE", help="Decode as: tcp.port==9000,zenoh or udp.port==...")
@click.option("-t", "times", type=click.Choice(list(FORMATS)), default="u", help="Form of times, as in tshark.")
@click.option("-x", "dump", is_flag=True, help="Add a hex dump of every batch to the tree.")
@click.option("--bytes", "limit", type=click.IntRange(min=1), default=96, metavar="N", help="Bytes of a payload shown.")
@click.option("-q", "quiet", is_flag=True, help="No summary on standard error.")
@color_option
def dissect(
    files: tuple[str, ...],
    kind: str,
    frames: int | None,
    rules: tuple[str, ...],
    times: str,
    dump: bool,
    limit: int,
    quiet: bool,
    color: str,
) -> int:
    """Dissects captures."""
    options = decode_as(rules)
    writer = make_writer(kind, wants_color(color), raw_columns(), limit, times, dump)
    run = Run(files, frames, options, writer)
    run.run()
    if not quiet:
        run.summary()
    return UNREADABLE if run.problems else DONE


class Run:
    """One run over files: reads, dissects, writes, counts."""

    def __init__(self, files: tuple[str, ...], limit: int | None, options: Options, writer: Writer) -> None:
        self.files = files
        self.limit = limit
        self.writer = writer
        self.pipeline = Pipeline(options)
        self.problems: list[CaptureError] = []
        self.frames = 0
        self.live = "-" in files

    def run(self) -> None:
        """Dissects all frames. What is good is written even if a file ends in the middle, or on Ctrl-C."""
        write = sys.stdout.write
        feed, show = self.pipeline.feed, self.writer.show
        pending: list[str] = []
        size = 0
        try:
            for frame in self.read():
                for item in feed(frame):
                    pending.append(show(item))
                    size += len(pending[-1])
                if size > _BLOCK or (self.live and pending):
                    write("".join(pending))
                    pending.clear()
                    size = 0
                    if self.live:
                        sys.stdout.flush()
            pending += [show(item) for item in self.pipeline.close()]
            pending.append(self.writer.end())
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
        if not self.writer.messages:
            complain(f"no Zenoh found in {self.frames} frames{self.others()}")
        if self.writer.findings:
            found = ", ".join(f"{number} {code}" for code, number in sorted(self.writer.findings.items()))
            complain(f"findings: {found}; `zdissect explain CODE` tells more")

    def others(self) -> str:
        """What else was there, if nothing was Zenoh."""
        others = self.pipeline.others()
        return " (" + ", ".join(f"{number} {name}" for name, number in others.items()) + ")" if others else ""


_BLOCK = 1 << 16

commands = {"dissect": dissect}
