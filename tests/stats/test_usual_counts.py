"""Usual batches that are counted by columns count as if each message had been looked at."""

from collections.abc import Iterable, Iterator

import pytest

from tests.in_blocks import fed_in_blocks, small_blocks
from tests.random_traffic import random_conversation
from tests.vector.item_blocks import usual_frames
from zdissect.dissection import InTurn, Item
from zdissect.filters import Filter
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.stats import Stats
from zdissect.vector.usual_batches import UsualBatches

Report = dict[str, object]


def by_columns(
    frames: Iterable[Frame], every_ns: int | None = None, wanted: Filter | None = None
) -> tuple[Report, int]:
    """The report, and how many batches were counted by columns."""
    pipeline, stats, counted = Pipeline(Options(history=True)), Stats(every_ns), 0

    def usual(batches: UsualBatches) -> Iterator[None]:
        return stats.usual(batches, wanted.select_usual(batches) if wanted is not None else None)

    with small_blocks(4):
        for frame, items in fed_in_blocks(pipeline, frames, usual):
            stats.frame(frame)
            for item in items:
                if isinstance(item, InTurn):
                    item.take()
                    counted += 1
                else:
                    stats.feed(item, wanted.select(item) if wanted is not None else None)
    return finished(stats, pipeline, wanted), counted


def one_by_one(frames: Iterable[Frame], every_ns: int | None = None, wanted: Filter | None = None) -> Report:
    pipeline, stats = Pipeline(Options(history=True)), Stats(every_ns)
    for frame in frames:
        stats.frame(frame)
        for item in pipeline.feed(frame):
            stats.feed(item, wanted.select(item) if wanted is not None else None)
    return finished(stats, pipeline, wanted)


def finished(stats: Stats, pipeline: Pipeline, wanted: Filter | None) -> Report:
    items: list[Item] = pipeline.close()
    for item in items:
        stats.feed(item, wanted.select(item) if wanted is not None else None)
    return stats.finish(pipeline)


@pytest.mark.parametrize("every_ns", [None, 50_000_000])
def test_any_traffic(every_ns: int | None) -> None:
    total = 0
    for frames in (usual_frames(), *(random_conversation(seed).capture.frames for seed in range(8))):
        report, counted = by_columns(frames, every_ns)
        assert report == one_by_one(frames, every_ns)
        total += counted
    assert total > len(usual_frames()) / 2


def test_a_time_that_is_earlier_is_still_the_last_one() -> None:
    """Rates are measured from the first message to the last, in the order of the capture."""
    for frames in (random_conversation(3).capture.frames, usual_frames()):
        turned = [frame._replace(ts_ns=2 * frames[0].ts_ns - frame.ts_ns) for frame in frames]
        report, counted = by_columns(turned)
        assert report == one_by_one(turned)
        assert counted


@pytest.mark.parametrize("text", [
    "message == PUSH", "message == FRAME", "zenoh", 'key_expr == "a"', "payload_len > 3 || message == FRAME",
    "sn > 100", "message_index == 1", "frame_number < 200", "sn == 77777", "attachment",
])  # fmt: skip
def test_chosen_messages(text: str) -> None:
    """What is inside of a chosen FRAME counts with it; batches without chosen messages are heard, but carry nothing."""
    total = 0
    for frames in (usual_frames(), *(random_conversation(seed).capture.frames for seed in range(3))):
        report, counted = by_columns(frames, 50_000_000, Filter(text))
        assert report == one_by_one(frames, 50_000_000, Filter(text))
        total += counted
    assert total > len(usual_frames()) / 2
