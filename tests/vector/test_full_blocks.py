"""Blocks that bring more than can be held are given while they are fed: the same items, in the same order."""

from pathlib import Path
from random import Random

import pytest

from tests.export.partitions import merged
from tests.export.tables import SAMPLES, frames
from tests.vector.damage import damaged, traffic
from tests.vector.item_blocks import Blocks, usual_frames
from tests.vector.test_dissections import PATHS, same
from zdissect import dissection, fed
from zdissect.pipeline import Options, Pipeline
from zdissect.vector import dissections


@pytest.fixture(params=[(1, 1), (1, 20_000), (5000, 20_000)], ids=str)
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Blocks:
    """Parts of a frame, and what blocks hold, are small."""
    monkeypatch.setattr(dissection, "PART_BYTES", request.param[0])
    monkeypatch.setattr(dissections, "MOST_HELD", request.param[1])
    return Blocks(monkeypatch)


@pytest.mark.parametrize("path", PATHS[::4], ids=lambda path: path.name)
def test_samples(path: Path, blocks: Blocks) -> None:
    same(blocks, frames(path), 20)


def test_merged_samples(blocks: Blocks) -> None:
    same(blocks, merged([frames(path) for path in PATHS[::3]], Random(1)), 100)


def test_usual_messages(blocks: Blocks) -> None:
    some = usual_frames()
    assert same(blocks, some, 100) > len(some) / 2


@pytest.mark.parametrize("seed", range(4))
def test_losses(seed: int, blocks: Blocks) -> None:
    same(blocks, damaged(Random(seed), traffic(seed), "RST", 0.01), 50)


def test_what_nobody_takes_is_fed(blocks: Blocks) -> None:
    """Who leaves out what some frames complete sees the same afterwards."""
    some, found = merged([frames(SAMPLES / name) for name in ("pubsub-tcp.pcap", "query-router.pcap")], Random(1)), []
    blocks.cut(20)
    alone, together = Pipeline(Options()), Pipeline(Options())
    expected = [len(alone.feed(frame)) for frame in some]
    for number, (_, items) in enumerate(fed.fed(together, some)):
        found.append(len([*items]) if number % 3 else expected[number])
    assert found == expected
    assert len(together.close()) == len(alone.close())
