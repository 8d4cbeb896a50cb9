"""Whatever somebody floods with, work grows with the input, and memory stays within the limits."""

import tracemalloc
from collections.abc import Iterable

import pytest

from tests.hostile.floods import FLOODS, Flood
from tests.hostile.node_floods import NODE_FLOODS
from tests.hostile.work import TWICE, growth
from zdissect.dissection import Notice
from zdissect.limits import NAMES, Limits
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame

ALL = FLOODS | NODE_FLOODS
LIMIT = 1 << 18
"""Bytes that each kind of state may take in these tests..."""
SMALL = Options(limits=Limits(**dict.fromkeys(NAMES, LIMIT)))
MOST = 40 * LIMIT
"""... and what all together may take: several kinds, what is made of one frame, and caches of a fixed size."""
MOST_OF_ONE = 4 * LIMIT
"""What the floods of one address or connection may take: nothing of what it was before is kept."""
UNLIMITED = frozenset({"long_keys", "matched_keys", "tiny_segments", "new_nodes", "handshakes_begun", "handshakes"})
"""Floods that keep little: they are about work."""


def feed(frames: Iterable[Frame], options: Options) -> list[str]:
    """Feeds frames as they are made; the texts of limits that were reached."""
    pipeline, texts = Pipeline(options), []
    for frame in frames:
        items = pipeline.feed(frame)
        texts += [item.text for item in items if isinstance(item, Notice) and item.code == "limit"]
    pipeline.close()
    return texts


@pytest.mark.parametrize("flood", ALL.values(), ids=ALL)
def test_twice_the_input_is_twice_the_work(flood: Flood) -> None:
    made = {size: list(flood(size)) for size in (50, 400, 800)}
    assert growth(lambda size: feed(made[size], Options()), 400) < TWICE


@pytest.mark.parametrize("flood", ALL.values(), ids=ALL)
def test_work_stays_linear_when_limits_are_reached(flood: Flood) -> None:
    made = {size: list(flood(size)) for size in (100, 800, 1600)}
    assert growth(lambda size: feed(made[size], SMALL), 800) < TWICE


@pytest.mark.parametrize("flood", ALL.values(), ids=ALL)
def test_memory_is_bounded_and_said_to_be(flood: Flood) -> None:
    feed(flood(100), SMALL)  # what is made once is made by now
    tracemalloc.start()
    try:
        texts = feed(flood(2000), SMALL)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < (MOST if flood.__name__ in FLOODS else MOST_OF_ONE)
    assert len(texts) == len(set(texts))
    assert bool(texts) == (flood.__name__ not in UNLIMITED), texts
