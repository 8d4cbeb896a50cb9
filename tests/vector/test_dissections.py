"""Items are the same whether frames are fed in blocks or one by one."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.conversation import Conversation
from tests.export.partitions import damaged as shaken
from tests.export.partitions import merged
from tests.export.tables import SAMPLES, frames
from tests.messages import push
from tests.random_traffic import random_conversation
from tests.vector.damage import DAMAGES, damaged, traffic, with_numbers
from tests.vector.item_blocks import Blocks, each, usual_frames
from zdissect.dissection import Dissection, Item, Skip
from zdissect.fed import fed
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.vector import learned
from zdissect.vector.walk import Walker

PATHS = sorted(SAMPLES.glob("*.pcap*"))


def described(item: Item) -> tuple[Any, ...]:
    """All that is known of an item."""
    where = type(item), item.frame, item.flow.id, item.direction
    if isinstance(item, Skip):
        return *where, item.offset, item.size, item.data, item.reason, item.code
    if not isinstance(item, Dissection):
        return *where, item.text, item.code, item.due_ns
    buffer, messages = item.buffer, item.messages
    return (
        *where,
        item.frames,
        (buffer.name, buffer.data, buffer.origin),
        (item.framing, item.next_framing, item.missing, item.origin, item.scouting),
        item.first,
        [(message.offset, message.length, message.columns()) for message in messages],
        item.tape.remarks,
        item.tape.spans,
    )


def same(blocks: Blocks, some: list[Frame], size: int) -> int:
    """Feeds frames both ways; returns how many batches came from runs."""
    blocks.cut(size)
    before, options = blocks.usual, Options(history=True)
    alone, together = Pipeline(options), Pipeline(options)
    both = zip(each(alone, some), fed(together, some), strict=True)
    for (frame, items), (other, found) in both:
        assert other is frame
        assert list(map(described, found)) == list(map(described, items)), frame.number
    assert list(map(described, together.close())) == list(map(described, alone.close()))
    return blocks.usual - before


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> Blocks:
    return Blocks(monkeypatch)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_samples(path: Path, blocks: Blocks) -> None:
    for size in (7, 20, 100):
        same(blocks, frames(path), size)


def test_merged_samples(blocks: Blocks) -> None:
    same(blocks, merged([frames(path) for path in PATHS], Random(1)), 100)


def test_most_batches_are_from_runs(blocks: Blocks) -> None:
    some = usual_frames()
    assert same(blocks, some, 100) > len(some) / 2


@pytest.mark.parametrize("seed", range(10))
def test_random_conversations(seed: int, blocks: Blocks) -> None:
    some = random_conversation(seed, 120).capture.frames
    for size in (20, 90):
        same(blocks, some, size)


@pytest.mark.parametrize("seed", range(4))
def test_shaken_samples(seed: int, blocks: Blocks) -> None:
    random = Random(seed)
    same(blocks, merged([shaken(frames(path), random) for path in random.choices(PATHS, k=3)], random), 40)


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage(kind: str, blocks: Blocks) -> None:
    same(blocks, damaged(Random(kind), traffic(3, udp=2), kind, 0.01), 60)


@pytest.mark.parametrize("seed", range(6))
def test_conversations_over_udp(seed: int, blocks: Blocks) -> None:
    some = with_numbers(random_conversation(seed, 120, Conversation(udp=True)).capture.frames)
    assert max(same(blocks, some, size) for size in (20, 90)) > len(some) / 20


@pytest.mark.parametrize("least", [500, 10_000])
def test_few_frames_that_hold_many_messages(least: int, blocks: Blocks, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read in blocks from where that shows; and not if there are too few for that."""
    made = Conversation().open()
    for _ in range(60):
        made.frame(0, *[push(f"a/{number}") for number in range(60)])
    monkeypatch.setattr("zdissect.fed.WORTH_FRAMES", 1000)
    monkeypatch.setattr("zdissect.fed.WORTH_MESSAGES", least)
    taken = same(blocks, made.capture.frames, 10)
    assert taken == 0 if least > 500 else 20 < taken < 52


def test_templates_are_forgotten(blocks: Blocks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are many, they are learned anew after each block, and no more are kept."""
    monkeypatch.setattr(learned, "MOST_TEMPLATES", 3)
    forgotten, forget = list[int](), Walker.forget
    monkeypatch.setattr(Walker, "forget", lambda walker: (forgotten.append(len(walker.templates)), forget(walker)))
    some = usual_frames()
    assert same(blocks, some, 40) > 100
    assert len(forgotten) > 3
    assert max(forgotten) < 100
