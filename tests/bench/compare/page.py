"""The page on performance, and the sentence of the README, written from figures."""

import re
from collections.abc import Callable, Iterable, Sequence
from textwrap import fill, indent

from tests.bench.compare import texts
from tests.bench.compare.runs import Failed, Figure
from tests.bench.compare.shapes import SHAPES
from tests.bench.compare.tools import FORMS

Found = dict[tuple[str, str], Figure]
"""Figures by form and tool."""


class Figures:
    """What was measured, by what it is about."""

    def __init__(self, found: Iterable[Figure]) -> None:
        self.all = [*found]
        self.starts = self.found("start")
        self.tools = [*dict.fromkeys(one.tool for one in self.all if one.series in ("start", "tools"))]

    def of(self, series: str, shape: str = "") -> list[Figure]:
        """Those of a series (and a shape), in the order in which they were measured."""
        return [one for one in self.all if one.series == series and shape in ("", one.shape)]

    def found(self, series: str, shape: str = "") -> Found:
        """The same by form and tool."""
        return {(one.form, one.tool): one for one in self.of(series, shape)}

    def rate(self, figure: Figure | None) -> float | None:
        """Messages per second of processor time, without what the program takes to start. None if it can't be said,
        as most of the time went into that."""
        start = self.starts.get((figure.form, figure.tool)) if figure else None
        if figure is None or start is None:
            return None
        took = figure.processor_s - start.processor_s
        return (figure.messages - start.messages) / took if took > start.processor_s / 10 else None


def page(found: Iterable[Figure], about: Sequence[str]) -> str:
    """The whole page; `about` are lines on the machine and the versions."""
    figures = Figures(found)
    parts = [texts.TITLE, *(f"- {line}" for line in about), "", texts.HOW_TO_READ]
    for shape in dict.fromkeys(one.shape for one in figures.of("tools")):
        parts += [f"## {shape.capitalize()}\n\n{_sentence(SHAPES[shape])}\n", rates(figures, shape)]
    parts += [texts.START, matrix(figures.tools, figures.starts, lambda one: f"{1000 * one.processor_s:.0f}")]
    parts += [texts.MEMORY, matrix(figures.tools, _largest(figures), lambda one: f"{one.peak_mb:.0f}")]
    if measured := figures.of("size"):
        parts += [texts.BY_SIZE, by_size(figures, measured)]
    if measured := figures.of("cores"):
        parts += [texts.BY_CORES, by_cores(measured)]
    if measured := figures.of("pipe"):
        parts += [texts.PIPE, through_pipes(measured)]
    return "\n".join([*parts, texts.ALL, every(figures.all), "</details>"]) + "\n"


READERS = {"tree": "messages as trees", "line": "as lines", "jsonl": "as JSON Lines", "batch": "as rows of tables"}
"""What the README tells of, by form."""
MARKED = re.compile(r"( *<!-- measured: .*?-->\n).*?(\n *<!-- end -->)", re.DOTALL)
WIDTH = 118


def in_readme(found: Iterable[Figure], readme: str) -> str:
    """The README with the most telling figures, between the marks that it has for them."""
    figures = Figures(found)
    measured = figures.found("tools", "robots")
    every = {what: figures.rate(measured.get((form, figures.tools[0]))) for form, what in READERS.items()}
    said = [f"{float(f'{rate:.2g}'):,.0f} {what}" for what, rate in every.items() if rate]
    if len(said) < len(READERS) or not MARKED.search(readme):
        raise Failed("the README needs marks, and figures of robots in four forms, of enough messages")
    text = (
        f"about {', '.join(said[:-1])} and {said[-1]}, a second and core ([docs/performance.md](docs/performance.md))."
    )
    return MARKED.sub(lambda marks: marks[1] + indent(fill(text, WIDTH), "  ") + marks[2], readme)


def _sentence(text: str) -> str:
    return fill(text[0].upper() + text[1:] + ".", 120)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown, numbers to the right."""
    marks = ["---", *("---:" for _ in head[1:])]
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, marks, *rows))


def matrix(tools: Sequence[str], found: Found, show: Callable[[Figure], str]) -> str:
    """A row for each form that was measured, a column for each tool."""
    return table(["", *tools], _rows(tools, found, show))


def _rows(tools: Sequence[str], found: Found, show: Callable[[Figure], str]) -> list[list[str]]:
    every = [[form, *(show(found[form, tool]) if (form, tool) in found else "" for tool in tools)] for form in FORMS]
    return [row for row in every if any(row[1:])]


def rates(figures: Figures, shape: str) -> str:
    """The speed of each form with each tool; behind it, by how much the first tool is faster."""
    found = figures.found("tools", shape)
    tools = [tool for tool in figures.tools if any(tool == name for _, name in found)]

    def show(one: Figure) -> str:
        rate, first = figures.rate(one), figures.rate(found.get((one.form, tools[0])))
        if rate is None:
            return "–"
        return thousands(rate) + (f" ({factor(first / rate)})" if first and one.tool != tools[0] else "")

    seen = [f"{found['line', tool].recognised:.0%}" if ("line", tool) in found else "" for tool in tools]
    return table(["", *tools], [*_rows(tools, found, show), ["recognised", *seen]])


def factor(times: float) -> str:
    """A ratio with two digits, or all that it has before the point."""
    return f"{times:.2g}" if times < 100 else f"{times:.0f}"


def thousands(rate: float) -> str:
    """A rate in thousands, with two digits or more."""
    return f"{rate / 1000:.2g} k" if rate < 100_000 else f"{rate / 1000:.0f} k"


def _largest(figures: Figures) -> Found:
    """Of all shapes the figure with the most memory."""
    return {(one.form, one.tool): one for one in sorted(figures.of("tools"), key=lambda one: one.peak_mb)}


def by_size(figures: Figures, measured: Sequence[Figure]) -> str:
    """A row for each capture: what a message costs, and the memory that it takes."""
    forms = [*dict.fromkeys(one.form for one in measured)]
    rows = []
    for messages in dict.fromkeys(one.messages for one in measured):
        of = {one.form: one for one in measured if one.messages == messages}
        row = [f"{messages:,}", f"{of[forms[0]].size / 1e6:.0f}"]
        for form in forms:
            rate = figures.rate(of[form])
            row += [f"{1e6 / rate:.2f}" if rate else "–", f"{of[form].peak_mb:.0f}"]
        rows.append(row)
    return table(["messages", "MB", *(head for form in forms for head in (f"{form}, µs each", "peak MB"))], rows)


def by_cores(measured: Sequence[Figure]) -> str:
    """A row for each form and number of processes."""
    alone = {one.form: one for one in measured if one.jobs == 1}
    rows = [
        [
            one.form, str(one.jobs), f"{one.wall_s:.1f}", f"{alone[one.form].wall_s / one.wall_s:.2f}",
            f"{one.processor_s:.1f}", f"{one.peak_mb:.0f}",
        ]
        for one in measured
    ]  # fmt: skip
    return table(["", "-j", "seconds", "times as fast", "processor seconds", "MB of the largest process"], rows)


def through_pipes(measured: Sequence[Figure]) -> str:
    """How much went through, and what it took."""
    rows = [
        [one.tool, f"{one.size / 1e9:.1f}", f"{one.messages:,}", f"{one.processor_s:.0f}", f"{one.peak_mb:.0f}"]
        for one in measured
    ]
    return table(["", "GB", "messages", "processor seconds", "peak MB"], rows)


def every(measured: Iterable[Figure]) -> str:
    """All that was measured."""
    rows = [
        [
            one.series, one.shape, one.form, one.tool, str(one.jobs), f"{one.messages:,}", f"{one.processor_s:.2f}",
            f"{one.wall_s:.2f}", f"{one.spread:.0%}", f"{one.peak_mb:.0f}",
        ]
        for one in measured
    ]  # fmt: skip
    head = ["series", "capture", "form", "tool", "-j", "messages", "processor s", "seconds", "spread", "peak MB"]
    return table(head, rows)
