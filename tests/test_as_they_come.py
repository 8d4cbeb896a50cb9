"""Frames of pipes and interfaces are read in blocks if many have come, and never kept waiting."""

from collections.abc import Iterator

import pytest

from tests.vector.item_blocks import Blocks, usual_frames
from tests.vector.test_dissections import described
from zdissect import fed
from zdissect.fed import as_they_come
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame


def coming(some: list[Frame], together: int) -> Iterator[Frame | None]:
    """Frames, so many of which come together."""
    for number, frame in enumerate(some, 1):
        yield frame
        if not number % together:
            yield None


@pytest.mark.parametrize("together", [1, 7, 30, 45, 500])
def test_all_items_come_in_order(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = Blocks(monkeypatch)
    blocks.cut(20)
    monkeypatch.setattr(fed, "MOST_WAITING", 30)
    some, found = usual_frames(), list[list[object]]()
    alone, pipeline = Pipeline(Options()), Pipeline(Options())
    gathered = as_they_come(pipeline, coming(some, together))
    expected = [list(map(described, alone.feed(frame))) for frame in some]
    for items in gathered:
        found.append([*map(described, items)])
    assert [one for items in found for one in items] == [one for items in expected for one in items]
    assert (blocks.usual > 0) == (together >= 30)


def test_what_has_come_is_given_before_more_is_waited_for() -> None:
    """Each time that nothing more has come, all items of what came are there."""
    some = usual_frames()[:200]
    alone, given = Pipeline(Options()), 0
    expected = 0

    def frames() -> Iterator[Frame | None]:
        nonlocal expected
        for number, frame in enumerate(some):
            expected += len(alone.feed(frame))
            yield frame
            if not number % 3:
                yield None
                assert given == expected

    for items in as_they_come(Pipeline(Options()), frames()):
        given += len(items)
    assert given == expected


def test_files_that_follow_each_other_have_blocks_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = Blocks(monkeypatch)
    blocks.cut(20)
    monkeypatch.setattr(fed, "MOST_WAITING", 60)
    some = usual_frames()
    half = len(some) // 2
    some = [*some[:half], *(frame._replace(source="next", number=at) for at, frame in enumerate(some[half:], 1))]
    alone = Pipeline(Options())
    found = [described(item) for items in as_they_come(Pipeline(Options()), some) for item in items]
    assert found == [described(item) for frame in some for item in alone.feed(frame)]
    assert blocks.usual
