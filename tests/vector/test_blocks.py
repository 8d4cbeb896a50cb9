"""Tables are the same whether frames are decoded in blocks or one by one."""

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.export.partitions import damaged as shaken
from tests.export.partitions import looked_at, merged, numbered
from tests.export.tables import SAMPLES, frames
from tests.random_traffic import random_conversation
from tests.vector.busy_captures import BusyCapture
from tests.vector.damage import DAMAGES, damaged, disordered, traffic
from tests.vector.decoded import assert_equal, assert_same, counting, cuts, in_blocks, one_by_one, tables
from zdissect.export.conversion_settings import Settings
from zdissect.export.group_decoding import GroupDecoding
from zdissect.records import Frame

PATHS = sorted(SAMPLES.glob("*.pcap*"))


@cache
def sample(path: Path) -> list[Frame]:
    return frames(path)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_samples(path: Path) -> None:
    for size in (7, 60):
        assert_same(sample(path), cuts(sample(path), Random(size), size))


@pytest.mark.parametrize("seed", range(8))
def test_merged_samples(seed: int) -> None:
    random = Random(seed)
    some = merged([sample(path) for path in random.choices(PATHS, k=4)], random)
    assert_same(some, cuts(some, random, 100))


@pytest.mark.parametrize("seed", range(8))
def test_shaken_samples(seed: int) -> None:
    random = Random(seed)
    some = merged([shaken(sample(path), random) for path in random.choices(PATHS, k=3)], random)
    assert_same(some, cuts(some, random, 100))


def test_random_conversations() -> None:
    taken = total = 0
    for seed in range(8):
        random, some = Random(seed), random_conversation(seed, 120).capture.frames
        taken += assert_same(some, cuts(some, random, random.choice((40, 300))))
        total += len(some)
    assert taken > total / 8


@pytest.mark.parametrize("noise", [0.01, 0.05, 0.15])
def test_several_sessions(noise: float) -> None:
    """Whatever comes between usual messages."""
    taken = total = 0
    for seed in range(6):
        random = Random(f"{seed} {noise}")
        some = BusyCapture(seed, random.choice((1, 2, 4)), noise).turns(80)
        taken += assert_same(some, cuts(some, random, random.choice((30, 120, 500))))
        total += len(some)
    assert taken > total * (1.2 if noise < 0.1 else 0.1)


@pytest.mark.parametrize("noise", [0.01, 0.1])
def test_several_sessions_over_udp(noise: float) -> None:
    taken = total = 0
    for seed in range(6):
        random = Random(f"{seed} {noise}")
        some = BusyCapture(seed, random.choice((1, 2, 4)), noise, udp=0.7).turns(80)
        taken += assert_same(some, cuts(some, random, random.choice((30, 120, 500))))
        total += len(some)
    assert taken > total * (1.2 if noise < 0.1 else 0.1)


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage(kind: str) -> None:
    random = Random(kind)
    for some in (traffic(3, udp=2), BusyCapture(len(kind), 2, 0.02, udp=0.3).turns(50)):
        bad = damaged(random, some, kind, 0.01)
        assert_same(bad, cuts(bad, random, random.choice((60, 200))))


@pytest.mark.parametrize("seed", range(4))
def test_disorder(seed: int) -> None:
    random = Random(seed)
    bad = disordered(random, BusyCapture(seed, 2, 0.02).turns(80), 0.01)
    assert_same(bad, cuts(bad, random, 150))


def test_flipped_bytes() -> None:
    taken = 0
    for seed in range(6):
        random, some = Random(seed), BusyCapture(seed, 2, 0.02).turns(60)
        for at in random.sample(range(len(some)), 4):
            data = bytearray(some[at].data)
            data[random.randrange(54, len(data)) if len(data) > 54 else -1] ^= 1 << random.randrange(8)
            some[at] = some[at]._replace(data=bytes(data))
        taken += assert_same(some, cuts(some, random, 150))
    assert taken > 500


FILTERS = ['key_expr within "x/**"', "payload_len > 20", "sn == 12345"]


@pytest.mark.parametrize("settings", [
    *[{"filter": one} for one in FILTERS], {"payload": 0}, {"payload": 3}, {"payload": -1},
    {"batch_rows": 50}, {"batch_rows": 7, "filter": FILTERS[0]}, {"batch_bytes": 100},
    {"payload": 3, "filter": FILTERS[2]},
])  # fmt: skip
def test_settings(settings: dict[str, Any]) -> None:
    random = Random(str(settings))
    some = BusyCapture(5, 2, 0.02).turns(100)
    taken = assert_same(some, cuts(some, random, 150), Settings(**settings))
    assert taken > len(some) / 4


def test_same_times_in_several_sessions() -> None:
    """All that happens within some milliseconds has one time: what is overdue at once comes in the same order."""
    for seed in range(4):
        random, some = Random(seed), BusyCapture(seed, 4, 0.03).turns(80)
        some = [frame._replace(ts_ns=frame.ts_ns // 10**7 * 10**7) for frame in some]
        assert_same(some, cuts(some, random, 150))


def groups(some: list[Frame], count: int = 3) -> list[tuple[GroupDecoding, list[Any]]]:
    """The groups of a capture, and what each is given: its frames, and moments."""
    split = looked_at(some, count)
    told, lookup = split.told(), split.lookup()
    out: list[tuple[GroupDecoding, list[Any]]] = [
        (GroupDecoding(Settings(), split.share(some[0].source, group)), []) for group in range(len(split.sizes))
    ]
    for frame in some:
        for group, moment in told.get((frame.source, frame.number), ()):
            out[group][1].append(moment)
        out[lookup.group(frame)][1].append(frame)
    return out


def assert_same_groups(some: list[Frame], random: Random) -> int:
    """Each group gives the same tables in blocks, moments included; returns how many messages went in runs."""
    taken = 0
    for (single, items), (block, _) in zip(groups(some), groups(some), strict=True):
        out = [batch for item in items for batch in single.receive(item)]
        expected = tables(out + single.close())
        with counting() as counted:
            out = [batch for piece in cuts(items, random, 100) for batch in block.feed_block(piece)]
        taken += counted.messages
        found = tables(out + block.close())
        assert found.keys() == expected.keys()
        for name, table in expected.items():
            assert_equal(name, found[name], table)
        assert block.summary() == single.summary()
    return taken


def test_groups() -> None:
    taken = total = 0
    for seed in range(4):
        random = Random(seed)
        some = numbered(BusyCapture(seed, 4, random.choice((0.01, 0.03))).turns(100))
        taken += assert_same_groups(some, random)
        total += len(some)
    assert taken > total / 4


@pytest.mark.parametrize("seed", range(8))
def test_groups_of_samples(seed: int) -> None:
    random = Random(seed)
    chosen = [sample(path) for path in random.choices(PATHS, k=3)]
    chosen = [shaken(some, random) for some in chosen] if seed % 2 else chosen
    assert_same_groups(merged(chosen, random), random)


def test_blocks_are_cut_by_files_and_sizes() -> None:
    """As `Decoding.tables` does it."""
    from zdissect.vector import frame_blocks

    random = Random(1)
    some = BusyCapture(1, 3, 0.01).turns(150)
    some = [frame._replace(source="first" if at < 500 else "second") for at, frame in enumerate(some)]
    expected, _ = one_by_one(some, Settings())
    for size in (1, 20, 333):
        with pytest.MonkeyPatch.context() as patch, counting(least=size) as counted:
            patch.setattr(frame_blocks, "_PIECE", random.choice((10, 50)))
            patch.setattr(frame_blocks, "MOST_FRAMES", 3 * size)
            found, _ = in_blocks(frame_blocks.blocks(some, frame_blocks.BlockSize()), Settings())
        for name, table in expected.items():
            assert_equal(name, found[name], table)
        assert size == 1 or counted.messages > 100
