"""Captures that are dissected in blocks, however small they are."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import cast

import pytest

from zdissect.dissection import Dissection, InTurn, Item, Of
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.vector import frame_blocks
from zdissect.vector.dissections import Show, ranked_in_blocks


@contextmanager
def small_blocks(size: int) -> Iterator[None]:
    """Makes blocks of few frames worth arrays; the first has this many."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(frame_blocks, "LEAST_FRAMES", size)
        patched.setattr(frame_blocks, "MOST_FRAMES", 3 * size)
        patched.setattr(frame_blocks, "_PIECE", max(1, size // 2))
        yield


def fed_in_blocks(
    pipeline: Pipeline, frames: Iterable[Frame], show: Show[Of] | None = None
) -> Iterator[tuple[Frame, Iterable[Item | InTurn[Of]]]]:
    """Frames, each with what it completes."""
    for _, brought in ranked_in_blocks(pipeline, frames, show):
        for frame, ranked in brought:
            yield frame, (item for _, items in ranked for item in items)


def in_blocks(frames: Iterable[Frame], size: int = 1, history: bool = False) -> list[Item]:
    """All items of a capture. A block in which a connection opens isn't read on arrays."""
    pipeline = Pipeline(Options(history=history))
    with small_blocks(size):
        items = [item for _, items in fed_in_blocks(pipeline, frames) for item in items]
        return [*cast(list[Item], items), *pipeline.close()]


def shown_in_blocks(
    frames: Iterable[Frame], show: Show[Of] | None, item_shown: Callable[[Item], Of]
) -> tuple[list[Of], int]:
    """(what is made of all batches and other items, of how many from columns)."""
    pipeline, of_columns = Pipeline(Options()), 0
    out = []
    with small_blocks(1):
        for _, items in fed_in_blocks(pipeline, frames, show):
            for item in items:
                of_columns += isinstance(item, InTurn)
                out.append(item.take() if isinstance(item, InTurn) else item_shown(item))
    return [*out, *map(item_shown, pipeline.close())], of_columns


def dissections(items: Iterable[Item]) -> list[Dissection]:
    """Those with messages."""
    return [item for item in items if isinstance(item, Dissection)]


def with_templates(items: Iterable[Item]) -> int:
    """How many messages stand for rows that aren't made."""
    return sum(message.template is not None for item in dissections(items) for message in item.messages)
