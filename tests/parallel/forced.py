"""`zdissect FILE` and `zdissect stats` by several processes, however small the file, beside the same by one.

In a process of its own, as processes are started by fork: not from one that has threads, as that of tests may have.
"""

import os
import sys
import tempfile
from contextlib import contextmanager
from multiprocessing import Value

import click

from cli import all_cores, captures, line_form, stats_of_groups
from cli.main import cli
from zdissect import fed
from zdissect.output import ends
from zdissect.parallel.split import SPLIT_BYTES
from zdissect.vector import frame_blocks
from zdissect.vector.dissections import BlockItems

FORMS = (
    ("-T", "tree"), ("-T", "jsonl"), ("-T", "json"), ("-T", "line", "--long"), ("-T", "line"),
    ("-T", "fields", "-e", "frame.number", "-e", "frame.time_relative", "-E", "header=y"),
    ("-T", "csv", "-e", "frame.number", "-e", "message", "-e", "zenoh.request.response_in"),
)  # fmt: skip
CHOICES = (
    ("-x", "-t", "r"), ("-T", "line", "--long", "-t", "d"), ("-t", "dd"), ("-Y", 'message == "PUSH"'),
    ("-Y", "zenoh.request.answered"), ("-T", "fields", "-e", "frame.number", "-Y", "finding.code"),
    ("--frame", "5-20"), ("-T", "jsonl", "-c", "20"), ("--fail-on", "error", "-O", "push"), ("--grep", "FRAME"),
    ("-v",), ("-q", "--color", "always"),
)  # fmt: skip
LINES = (
    ("-T", "line"), ("-T", "line", "--color", "always"), ("-T", "line", "-x", "-t", "d"), ("-T", "line", "-t", "ad"),
    ("-T", "line", "-Y", "message == PUSH", "--color", "always"), ("-T", "line", "--grep", "push"),
    ("-T", "line", "--brief"),
)  # fmt: skip
"""Short lines, and what they are made of: names, and widths of columns, depend on those before."""


@contextmanager
def into_files():
    """Standard output and errors go into files, as those of a shell do: by their numbers."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        kept = os.dup(1), os.dup(2)
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        try:
            yield out, err
        finally:
            sys.stdout.flush()
            for number, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, number)
                os.close(copy)


def run(arguments):
    """(exit code, output, errors)."""
    with into_files() as files:
        try:
            code = cli.main(arguments, standalone_mode=False)
        except click.ClickException as problem:
            code = repr(problem)
        sys.stdout.flush()
        return code, *(file.seek(0) or file.read() for file in files)


def small_blocks(size):
    """Makes groups read blocks of so many frames, while a single process reads frame by frame."""
    fed.WORTH_FRAMES = fed.WORTH_MESSAGES = 1 << 60
    frame_blocks.LEAST_FRAMES, frame_blocks.MOST_FRAMES, frame_blocks._PIECE = size, 3 * size, max(1, size // 2)


def count_usual():
    """A number that grows with the batches that are read on arrays, in any process."""
    usual, take = Value("q"), BlockItems.run

    def run(items, found):
        with usual.get_lock():
            usual.value += len(found.batches)
        take(items, found)

    BlockItems.run = run
    return usual


REPORTS = (
    ("stats", "--json"), ("stats", "--top", "0"), ("stats", "--json", "--every", "100ms"),
    ("stats", "--json", "--every", "1us", "-Y", "message in {PUSH, REQUEST}"), ("stats", "--json", "-Y", "finding"),
    ("stats", "--json", "-Y", "zenoh.request.answered", "-c", "200"),
)  # fmt: skip


class Counted(all_cores.AllCores):
    """Knows how often all was done by several processes."""

    shared = 0

    def run(self):
        done = super().run()
        Counted.shared += done
        return done


def counted(report):
    """The same, counted as `Counted` does."""

    def run(*arguments):
        found = report(*arguments)
        Counted.shared += found is not None
        return found

    return run


def compare(files, all_arguments, jobs="3"):
    """(what differs, how often several processes did all)."""
    all_cores.AllCores, Counted.shared = Counted, 0
    stats_of_groups.report_of_groups = counted(stats_of_groups.report_of_groups)
    different = []
    for file in files:  # or several with colons between
        for arguments in all_arguments:
            captures.SPLIT_BYTES = SPLIT_BYTES
            parts = file.split(":")
            expected = run([*arguments, "-j", "1", *parts])
            captures.SPLIT_BYTES = 0
            if run([*arguments, "-j", jobs, *parts]) != expected:
                different.append((file, *arguments))
    return different, Counted.shared


def main():
    kind, jobs, size, *files = sys.argv[1:]
    small_blocks(int(size))
    if kind == "cut":
        line_form.terminal_columns = lambda: 70
    if kind == "few":
        ends.MOST = 3
    usual = count_usual()
    different, shared = compare(
        files,
        {"forms": FORMS, "choices": CHOICES, "lines": LINES, "cut": LINES, "few": LINES[:2], "stats": REPORTS}[kind],
        jobs,
    )
    for one in different:
        print(*one)
    print(shared, usual.value)


if __name__ == "__main__":
    main()
