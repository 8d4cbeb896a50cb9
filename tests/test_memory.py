"""A live capture needs no more memory after days than after hours, whatever is sent: no container grows for ever."""

import gc
from collections import Counter, deque
from collections.abc import Iterator
from functools import reduce
from operator import or_
from types import BuiltinFunctionType, FunctionType, GeneratorType, ModuleType
from typing import Any

import pytest

from cli import grep, line_form, run, top
from cli.forms import make_form
from cli.options import DisplayOptions
from cli.top_screen import Printed
from tests import endless_traffic
from tests.endless_traffic import Lasting, rounds
from tests.packets import SECOND
from zdissect import fed
from zdissect.engine import templates
from zdissect.flow import captured_twice, ip, ipfragments, tcp_analysis
from zdissect.output import field_lines, row_cells, stencils
from zdissect.pipeline import Options
from zdissect.records import Frame
from zdissect.session import deadlines, interests, requests
from zdissect.stats import query_stats
from zdissect.vector import frame_blocks, learned

ROUNDS = 300
"""So many rounds from one count to the next: more than an hour and a half, in which whatever is idle is forgotten."""
FEW = 8
"""What the limits are in these tests: memory that is bounded is full long before the first count."""
MOST_MORE = 24
"""By so much the same state may differ between two moments. What a round of one kind leaves behind adds up to 30."""
MARKS = 6
"""Counts in each half: what is emptied when it is full holds more or less at each."""
TOGETHER = 20
"""Frames that come together, and are read in a block."""
_CODE = (type, ModuleType, FunctionType, BuiltinFunctionType, GeneratorType)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lowers the limits of what is remembered, and lets more time pass."""
    limits = (
        (line_form, "MOST_LIVE"), (grep, "MOST_LIVE"), (ip, "MAX_PAIRS"),
        (ipfragments, "MAX_FINISHED"), (interests, "REMEMBERED"), (requests, "REMEMBERED"),
        (query_stats, "ROOM"), (deadlines, "ROOM"), (tcp_analysis, "MOST_SEGMENTS"), (templates, "MOST_TEMPLATES"),
        (row_cells, "MOST_KEPT"), (row_cells, "MOST_CONVERSATIONS"), (stencils, "MOST_TEMPLATES"),
        (stencils, "MOST_KEPT"), (learned, "MOST_TEMPLATES"),
        (field_lines, "_MOST_KEPT"), (captured_twice, "MOST_RECENT"),
    )  # fmt: skip
    for module, name in limits:
        assert getattr(module, name) > FEW
        monkeypatch.setattr(module, name, FEW)
    monkeypatch.setattr(endless_traffic, "ROUND_NS", 20 * SECOND)
    monkeypatch.setattr(fed, "MOST_WAITING", TOGETHER)
    monkeypatch.setattr(frame_blocks, "LEAST_FRAMES", TOGETHER)


class Traffic:
    """An interface on which traffic never ends; what a command keeps is counted every `ROUNDS`."""

    live = endless = True
    now_ns = None
    signal = 0

    def __init__(self) -> None:
        self.frames = 0
        self.command: Any = None
        self.counts: list[Counter[str]] = []

    def __iter__(self) -> Iterator[Frame]:
        lasting = Lasting()
        for mark in range(2 * MARKS):
            for frame in rounds(mark * ROUNDS // MARKS, (mark + 1) * ROUNDS // MARKS, lasting):
                self.frames += 1
                yield frame
            self.counts.append(kept(self.command, self))

    def grown(self) -> dict[str, tuple[int, int]]:
        """What there is more of in the second half: by type or container, the highest counts of both."""
        first, second = (reduce(or_, counts) for counts in (self.counts[:MARKS], self.counts[MARKS:]))
        return {name: (first[name], count) for name, count in second.items() if count > first[name] + MOST_MORE}


def kept(command: object, traffic: Traffic) -> Counter[str]:
    """How many objects of each type of ours a command holds, besides its traffic; how much is in containers, by the
    attributes that these are reached by."""
    gc.collect()
    out: Counter[str] = Counter()
    seen: dict[int, object] = {id(traffic): traffic}
    todo: list[tuple[object, str]] = [(command, "")]
    while todo:
        one, path = todo.pop()
        if id(one) in seen or isinstance(one, _CODE):
            continue
        seen[id(one)] = one
        kind = type(one)
        if isinstance(one, dict):
            out[path] += len(one)
            todo += [(each, path + "{}") for pair in one.items() for each in pair]
        elif isinstance(one, list | set | frozenset | deque | tuple):
            out[path] += 0 if isinstance(one, tuple) else len(one)
            todo += [(each, path + "[]") for each in one]
        elif kind.__module__.startswith(("zdissect", "cli")):
            names = {name for each in kind.__mro__ for name in getattr(each, "__slots__", ())}
            names |= vars(one).keys() if hasattr(one, "__dict__") else set()
            todo += [(getattr(one, name), f"{kind.__name__}.{name}") for name in names if hasattr(one, name)]
        elif gc.is_tracked(one):
            todo += [(each, f"{kind.__name__}()") for each in gc.get_referents(one)]
        if kind.__module__.startswith(("zdissect", "cli")):
            out[kind.__name__] += 1
    return out


@pytest.mark.parametrize(
    "display",
    [
        DisplayOptions("line", verbose=True),
        DisplayOptions("line", pattern="nowhere"),
        DisplayOptions("csv"),
        DisplayOptions("tree"),
    ],
    ids=["line", "grep", "csv", "tree"],
)
def test_a_live_capture_holds_no_more_after_days(display: DisplayOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run.stdio, "emit", len)
    traffic = Traffic()
    traffic.command = run.Run(traffic, Options(), make_form(display), display)  # type: ignore[arg-type]
    traffic.command.run()
    assert traffic.frames > 20_000
    assert traffic.grown() == {}


def test_top_holds_no_more_after_days(capsys: pytest.CaptureFixture[str]) -> None:
    traffic = Traffic()
    traffic.command = top.TopRun(traffic, Options(), Printed("rate", 10))  # type: ignore[arg-type]
    traffic.command.activity.limit = FEW
    traffic.command.run(60.0, None)
    assert traffic.grown() == {}
    assert "frames" in capsys.readouterr().out
