"""What is measured: tools side by side, cost against size and cores, memory on an endless pipe."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.bench.compare.captures import Capture, make, maker
from tests.bench.compare.runs import ROOT, Failed, Figure, Run, medians, run
from tests.bench.compare.shapes import ALIKE
from tests.bench.compare.tools import Tool

NONE = 1
"""Messages of a capture that is as good as empty: what it takes is the start of the program."""
ROW_FORMS = ("line", "jsonl", "batch")
"""The forms whose cost is measured against size."""


class Plan(NamedTuple):
    """How much is measured."""

    messages: int
    runs: int
    directory: Path
    """Where captures are made."""
    failed: list[str]
    """What couldn't be measured. `tell` is told why, with paths of this machine."""
    tell: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True)


class Work(NamedTuple):
    """One tool on one capture."""

    tool: Tool
    form: str
    capture: Capture
    jobs: int = 1

    def command(self) -> list[str]:
        """What is run; it has been seen that there is a command."""
        command = self.tool.command(self.form, self.capture.path, self.jobs)
        assert command is not None
        return command


def in_turn(plan: Plan, works: Sequence[Work]) -> list[Figure]:
    """Runs each of them in turn, several times: what the machine does besides falls on all alike. One that fails is
    left out: it doesn't take hours of measurements with it."""
    found: list[list[Run]] = [[] for _ in works]
    for _ in range(plan.runs):
        for work, runs in zip(works, found, strict=True):
            try:
                runs.append(run(work.command()))
            except Failed as error:
                plan.failed.append(f"{work.form} of {work.tool.name} on {work.capture.shape}")
                plan.tell(f"{plan.failed[-1]}: {error}")
    figures = [_figure(work, runs) for work, runs in zip(works, found, strict=True) if len(runs) == plan.runs]
    for figure in figures:
        plan.tell(f"{figure.shape:8} {figure.form:7} {figure.messages:>9} {figure.processor_s:8.2f} s  {figure.tool}")
    return figures


def _figure(work: Work, runs: Sequence[Run]) -> Figure:
    capture = work.capture
    return Figure(
        "tools", work.tool.name, capture.shape, work.form, work.jobs, capture.messages, capture.size, *medians(runs)
    )  # fmt: skip


def possible(plan: Plan, tools: Iterable[Tool], shape: str, form: str, messages: int) -> list[Work]:
    """The tools that have the form, each with its capture."""
    out = []
    for tool in tools:
        if tool.protocol == "mqtt" and shape not in ALIKE:
            continue
        if tool.command(form, Path("capture.pcap")) is not None:
            wanted = max(NONE, messages // tool.share(form))
            out.append(Work(tool, form, make(shape, tool.protocol, wanted, plan.directory)))
    return out


def side_by_side(plan: Plan, tools: Sequence[Tool], shapes: Sequence[str], forms: Sequence[str]) -> list[Figure]:
    """All tools on these shapes and forms; the first figures are those of (almost) empty captures."""
    figures = []
    for shape, messages in (("one", NONE), *((shape, plan.messages) for shape in shapes)):
        for form in forms:
            works = possible(plan, tools, shape, form, messages)
            if messages == NONE:  # the first run of all writes bytecode and fills caches
                in_turn(plan._replace(runs=1, tell=lambda _: None), works)
            found = in_turn(plan, works)
            if messages == NONE:
                found = [figure._replace(series="start") for figure in found]
            elif form == "line":
                found = [_seen(figure, {work.tool.name: work for work in works}) for figure in found]
            figures += found
    return figures


def _seen(figure: Figure, works: Mapping[str, Work]) -> Figure:
    """With the share that was recognised. A parcel that ends in two packets counts as no more than one."""
    tool, _, capture, _ = works[figure.tool]
    return figure._replace(recognised=min(1.0, tool.recognised(capture.path) / capture.parcels))


def against_size(plan: Plan, tool: Tool, forms: Sequence[str], largest: int) -> list[Figure]:
    """Twice, four times... the messages, up to the largest number, for forms of rows."""
    captures, messages = [], plan.messages
    while messages <= largest:
        captures.append(make("ten", "zenoh", messages, plan.directory))
        messages *= 2
    series = [in_turn(plan, [Work(tool, form, capture) for capture in captures]) for form in forms if form in ROW_FORMS]
    return [one._replace(series="size") for figures in series for one in figures]


def against_cores(plan: Plan, tool: Tool, forms: Sequence[str], messages: int) -> list[Figure]:
    """One process, two, four... up to the number of cores, for what can be divided."""
    capture = make("robots", "zenoh", messages, plan.directory)
    figures = []
    for form in forms:
        works = [Work(tool, form, capture, jobs) for jobs in _jobs() if tool.command(form, capture.path, jobs)]
        if len(works) > 1:
            figures += [one._replace(series="cores") for one in in_turn(plan, works)]
    return figures


def _jobs() -> list[int]:
    cores, out = os.cpu_count() or 1, [1]
    while out[-1] * 2 <= cores:
        out.append(out[-1] * 2)
    return out


def through_a_pipe(plan: Plan, tool: Tool, size: int) -> Figure:
    """As many bytes as wished, from a program that writes a capture into one that prints its lines."""
    command = tool.command("line", Path("-"))
    assert command is not None
    writer = maker("ten", "zenoh", 0, "-", size)
    with subprocess.Popen(writer, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as source:
        assert source.stdout is not None
        assert source.stderr is not None
        taken = run(command, source.stdout)
        source.stdout.close()
        capture = Capture(Path("-"), "ten", "zenoh", **json.loads(source.stderr.read()))
    plan.tell(f"{capture.size} bytes through a pipe: {taken.peak_mb:.0f} MB")
    return _figure(Work(tool, "line", capture), [taken])._replace(series="pipe")
