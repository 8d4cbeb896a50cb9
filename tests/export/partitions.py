"""Captures decoded whole, and in groups that know nothing of each other."""

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any

from zdissect.export.block_tables import TableBatch
from zdissect.export.conversion_settings import Settings
from zdissect.export.decoding import Decoding
from zdissect.export.group_decoding import GroupDecoding
from zdissect.parallel.first_look import FirstLook
from zdissect.parallel.split import Split
from zdissect.records import Frame

SETTINGS = Settings()
Tables = tuple[Counter[str], dict[str, Any]]
"""All rows but those about files, in no order, and the accounting."""


def looked_at(some: Iterable[Frame], groups: int) -> Split:
    """What a first look says of a capture, as it comes to others."""
    connections = FirstLook(SETTINGS.options())
    for frame in some:
        connections.feed(frame)
    return Split.load(connections.split(groups).json())


def whole(some: list[Frame]) -> Tables:
    """The tables of a capture."""
    decoding = Decoding(SETTINGS)
    rows = _rows(batch for frame in some for batch in decoding.feed(frame))
    return rows + _rows(decoding.close()), decoding.accounting()


def decodings(some: list[Frame], split: Split) -> tuple[list[GroupDecoding], Counter[str]]:
    """The groups after their last frame, and their rows."""
    lookup = split.lookup()
    shares = [split.share(some[0].source, group) for group in range(len(split.sizes))]
    out = [GroupDecoding(SETTINGS, share) for share in shares]
    told = split.told()
    rows: Counter[str] = Counter()
    for frame in some:
        for group, moment in told.get((frame.source, frame.number), ()):
            rows += _rows(out[group].moment(moment))
        rows += _rows(out[lookup.group(frame)].feed(frame))
    for decoding in out:
        rows += _rows(decoding.close())
    return out, rows


def assert_same(some: list[Frame], groups: int = 8) -> Split:
    """The groups of a capture give the tables of the whole, and would have shown it if they couldn't."""
    split = looked_at(some, groups)
    expected, counted = whole(some)
    found, rows = decodings(some, split)
    assert rows - expected == expected - rows == Counter()
    total: Counter[str] = Counter()
    for decoding in found:
        total.update(decoding.accounting())
    assert dict(total) == counted
    assert all(decoding.group.sound() for decoding in found)
    pairs = [tuple(pair) for decoding in found for pair in decoding.pairs()]
    assert len(pairs) == len({*pairs})
    return split


def _rows(batches: Iterable[TableBatch]) -> Counter[str]:
    return Counter(f"{table} {row}" for table, batch in batches if table != "captures" for row in batch.to_pylist())


def numbered(some: Iterable[Frame]) -> list[Frame]:
    """Frames as one file has them."""
    return [frame._replace(source="some.pcap", number=number) for number, frame in enumerate(some, 1)]


def merged(captures: list[list[Frame]], random: Random) -> list[Frame]:
    """Captures as one: they begin at about the same time, and their frames come in the order of their times."""
    out = []
    for some in captures:
        shift = 10**18 + random.randrange(3 * 10**9) - some[0].ts_ns
        out += [frame._replace(ts_ns=frame.ts_ns + shift) for frame in some]
    return numbered(sorted(out, key=lambda frame: frame.ts_ns))


def damaged(some: list[Frame], random: Random) -> list[Frame]:
    """Frames lost, out of order, sent again (with other bytes, too), and clocks that run fast, slow and backward."""
    rate = random.choice((0, 0.02, 0.2))
    out = [frame for frame in some if random.random() >= rate][random.choice((0, 0, 9)) :] or some[:1]
    window = random.choice((0, 3, 50))
    places = sorted((place + random.random() * window, place) for place in range(len(out)))
    out = [out[place] for _, place in places]
    for _ in range(random.choice((0, 15))):
        place = random.randrange(len(out))
        frame = out[place]
        if random.random() < 0.5 and len(frame.data) > 70:
            frame = frame._replace(data=frame.data[:-1] + bytes((frame.data[-1] ^ 255,)))
        out.insert(place + random.randrange(1, 40), frame)
    speed, steps = random.choice((0, 1, 1, 30, 1000)), random.choice(((0,), (0, 0, 0, -5 * 10**9, 10**6, 90 * 10**9)))
    first = out[0].ts_ns
    return [frame._replace(ts_ns=first + (frame.ts_ns - first) * speed + random.choice(steps)) for frame in out]
