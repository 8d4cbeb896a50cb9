"""A capture decoded in groups of whole sessions gives the rows of the whole."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.export.tables import SAMPLES, frames
from zdissect.export.connections import Connections
from zdissect.export.decoding import Decoding, Settings
from zdissect.export.groups import GroupDecoding, Lookup, Share, Split
from zdissect.records import Frame

SETTINGS = Settings()
ABOUT_FILES = "captures"


def looked_at(some: Iterable[Frame], groups: int) -> Split:
    """What a first look says of a capture, as it comes to others."""
    connections = Connections(SETTINGS.options())
    for frame in some:
        connections.feed(frame)
    return Split.load(connections.split(groups).json())


def whole(some: list[Frame]) -> tuple[Counter[str], dict[str, Any]]:
    """All rows but those about files, and the accounting."""
    decoding = Decoding(SETTINGS)
    rows = gathered(batch for frame in some for batch in decoding.feed(frame))
    rows += gathered(decoding.close())
    return rows, decoding.accounting()


def apart(some: list[Frame], split: Split) -> tuple[Counter[str], dict[str, Any]]:
    """The same from groups that know nothing of each other."""
    lookup = Lookup(split.groups)
    shares = [Share(some[0].source, group, split.numbers[group], split.latest_ns) for group in range(len(split.sizes))]
    decodings = [GroupDecoding(SETTINGS, share) for share in shares]
    told: dict[tuple[str, int], list] = {}
    for group, moment in split.moments:
        told.setdefault((moment.file, moment.number), []).append((group, moment))
    rows: Counter[str] = Counter()
    for frame in some:
        for group, moment in told.get((frame.source, frame.number), ()):
            rows += gathered(decodings[group].moment(moment))
        rows += gathered(decodings[lookup.group(frame)].feed(frame))
    total: Counter[str] = Counter()
    for decoding in decodings:
        rows += gathered(decoding.close())
        assert decoding.sound()
        total.update(decoding.accounting())
    pairs = [tuple(pair) for decoding in decodings for pair in decoding.pairs()]
    assert len(pairs) == len({*pairs})
    return rows, dict(total)


def gathered(batches: Iterable) -> "Counter[str]":
    """Rows, in no order."""
    return Counter(f"{table} {row}" for table, batch in batches if table != ABOUT_FILES for row in batch.to_pylist())


def assert_same(some: list[Frame], groups: int = 8) -> Split:
    split = looked_at(some, groups)
    expected, counted = whole(some)
    found, total = apart(some, split)
    assert found - expected == Counter()
    assert expected - found == Counter()
    assert total == counted
    return split


def merged(captures: list[list[Frame]], random: Random) -> list[Frame]:
    """Captures as one: they begin at about the same time, and their frames come in the order of their times."""
    out = []
    for some in captures:
        shift = 10**18 + random.randrange(3 * 10**9) - some[0].ts_ns
        out += [frame._replace(ts_ns=frame.ts_ns + shift) for frame in some]
    out.sort(key=lambda frame: frame.ts_ns)
    return [frame._replace(source="merged.pcap", number=number) for number, frame in enumerate(out, 1)]


PATHS = sorted(SAMPLES.glob("*.pcap*"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_samples(path: Path):
    assert_same(frames(path))


@pytest.mark.parametrize("seed", range(12))
def test_merged_samples(seed):
    random = Random(seed)
    chosen = random.sample(PATHS, random.randint(2, 5))
    some = merged([frames(path) for path in chosen], random)
    split = assert_same(some, random.choice([2, 3, 50]))
    assert len(split.sizes) > 1
