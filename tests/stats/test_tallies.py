"""Messages that are counted by template count as if each had been looked at."""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

import pytest

from tests.in_blocks import small_blocks
from tests.random_traffic import random_conversation
from zdissect.dissection import Dissection, Item
from zdissect.fed import Fed, one_by_one
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.stats import Stats
from zdissect.stats.tallies import Tally
from zdissect.vector.dissections import fed_in_blocks

Feed = Callable[[Pipeline, Iterable[Frame]], Iterable[Fed]]


def report(frames: Iterable[Frame], every: int, feed: Feed) -> dict[str, Any]:
    """The report, on one of so many messages."""
    pipeline, stats, numbers = Pipeline(Options(history=True)), Stats(), count()

    def take(items: Iterable[Item]) -> None:
        for item in items:
            messages = item.messages if isinstance(item, Dissection) else ()
            chosen = [next(numbers) % every == 0 for _ in messages] or [True]
            stats.feed(item, chosen if every > 1 else None)

    for frame, items in feed(pipeline, frames):
        stats.frame(frame)
        take(items)
    take(pipeline.close())
    return stats.finish(pipeline)


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("most", [4096, 2])
def test_any_traffic(every: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    add = Tally.add
    monkeypatch.setattr("zdissect.stats.MOST_TEMPLATES", most)
    monkeypatch.setattr(Tally, "add", lambda self, cell, now_ns: (taken.append(self), add(self, cell, now_ns)))
    total = 0
    for seed in range(10):
        frames = random_conversation(seed).capture.frames
        with small_blocks(4):
            known = report(frames, every, fed_in_blocks)
        assert known == report(frames, every, one_by_one)
        total += sum(one["count"] for one in known["messages"])
    assert len(taken) > total / (4 if most > 2 else 20), "hardly any message was counted by template"


def test_a_time_that_is_earlier_is_still_the_last_one() -> None:
    """Rates are measured from the first message to the last, in the order of the capture."""
    frames = random_conversation(3).capture.frames
    turned = [frame._replace(ts_ns=2 * frames[0].ts_ns - frame.ts_ns) for frame in frames]
    with small_blocks(4):
        known = report(turned, 1, fed_in_blocks)
    assert known == report(turned, 1, one_by_one)
