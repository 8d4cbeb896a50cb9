"""Where blocks of frames are cut."""

from itertools import pairwise

import pytest

from zdissect.parallel.split import Moment
from zdissect.records import Frame
from zdissect.vector import frame_blocks
from zdissect.vector.frame_blocks import BlockSize, blocks, of_next


def items(*kinds: str) -> list[Frame | Moment]:
    """Frames (f) and moments about other frames (m) of one file, which is numbered through."""
    made = enumerate("".join(kinds), 1)
    return [
        Frame("a", number, number, 1, 0, b"") if kind == "f" else Moment("a", number, number, number, number)
        for number, kind in made
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("kinds", ["fm" * 20, "ffm" * 10, "mmmmmmmmmf" * 3, "f" * 30 + "m" * 30, "m" * 30])
def test_no_block_ends_with_a_moment_that_may_be_about_the_next_frame(
    kinds: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame_blocks, "LEAST_FRAMES", size)
    monkeypatch.setattr(frame_blocks, "MOST_FRAMES", 3 * size)
    monkeypatch.setattr(frame_blocks, "_PIECE", 1)
    some = items(kinds)
    found = list(blocks(some, BlockSize()))
    assert [item for block in found for item in block] == some
    for block, following in pairwise(found):
        assert isinstance(block[-1], Frame) or isinstance(following[0], Moment)
    assert all(len(block) <= 3 * size + 2 for block in found)


def test_a_moment_is_about_the_next_frame_if_that_is_its_own() -> None:
    frame, moment = items("f"), items("m")
    assert of_next(moment[0], frame[0])
    assert not of_next(moment[0], frame[0]._replace(number=2))
    assert not of_next(moment[0], frame[0]._replace(source="b"))
    assert not of_next(moment[0], moment[0])
    assert not of_next(moment[0], None)


def test_blocks_shrink_while_much_is_not_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_blocks, "LEAST_FRAMES", 10)
    monkeypatch.setattr(frame_blocks, "MOST_FRAMES", 640)
    monkeypatch.setattr(frame_blocks, "_PIECE", 1)
    length, sizes = BlockSize(), list[int]()
    for block in blocks(items("f" * 3000), length):
        sizes.append(len(block))
        length.read(len(block), len(block) // 3 if 2 < len(sizes) < 6 else len(block) // 9, 0)
    assert sizes[:8] == [9, 40, 164, 41, 10, 9, 40, 164]


def test_blocks_have_fewer_frames_where_these_hold_many_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_blocks, "LEAST_FRAMES", 10)
    monkeypatch.setattr(frame_blocks, "MOST_FRAMES", 640)
    monkeypatch.setattr(frame_blocks, "MOST_MESSAGES", 1000)
    monkeypatch.setattr(frame_blocks, "_PIECE", 1)
    length, sizes = BlockSize(), list[int]()
    for block in blocks(items("f" * 3000), length):
        sizes.append(len(block))
        length.read(len(block), 0, len(block) * (2 if 3 <= len(sizes) < 6 else 20 if len(sizes) < 8 else 1000))
    assert sizes[:10] == [9, 40, 50, 204, 500, 500, 50, 50, 9, 9]


def test_where_nothing_is_plain_blocks_are_not_tried_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_blocks, "LEAST_FRAMES", 10)
    monkeypatch.setattr(frame_blocks, "MOST_ALONE", 100)
    monkeypatch.setattr(frame_blocks, "_PIECE", 1)
    length, tried, alone = BlockSize(), list[int](), 0
    for block in blocks(items("f" * 1500), length):
        if len(block) < 9:  # too few for arrays
            alone += len(block)
            continue
        tried.append(alone)
        length.read(len(block), 9 if len(tried) < 8 else 0)
        alone = 0
    assert tried[:10] == [0, 0, 40, 80, 100, 100, 100, 100, 0, 0]
