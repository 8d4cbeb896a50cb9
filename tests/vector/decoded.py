"""Captures decoded to tables in blocks, and frame by frame."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from zdissect.export.block_tables import BlockTables
from zdissect.export.conversion_settings import Settings
from zdissect.export.decoding import Decoding, TableBatch
from zdissect.export.tables import TABLES
from zdissect.records import Frame
from zdissect.vector import frame_blocks
from zdissect.vector.runs import UsualRun

Tables = dict[str, pa.Table]


class Counted:
    """How much was taken at once."""

    def __init__(self) -> None:
        self.runs = self.messages = 0


@contextmanager
def counting(least: int = 1) -> Iterator[Counted]:
    """Blocks may have as few frames as wished; counts what goes in runs."""
    counted, run = Counted(), BlockTables.run

    def noted(self: BlockTables, one: UsualRun) -> None:
        counted.runs += 1
        counted.messages += len(one.messages)
        run(self, one)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame_blocks, "LEAST_FRAMES", least)
        patch.setattr(BlockTables, "run", noted)
        yield counted


def cuts(frames: list[Any], random: Random, size: int) -> Iterator[list[Any]]:
    """Frames in blocks of about a size; at times a few, or one."""
    at = 0
    while at < len(frames):
        stop = at + random.choice((1, 3, size // 2 or 1, size, size, size, 2 * size))
        yield frames[at:stop]
        at = stop


def tables(batches: Iterable[TableBatch]) -> Tables:
    """Whole tables, without those that have no rows."""
    parts: dict[str, list[pa.RecordBatch]] = {}
    for name, batch in batches:
        parts.setdefault(name, []).append(batch)
    return {name: pa.Table.from_batches(parts[name]) for name in TABLES if name in parts}


def one_by_one(frames: Iterable[Frame], settings: Settings) -> tuple[Tables, Decoding]:
    """Frame by frame."""
    decoding = Decoding(settings)
    out = [batch for frame in frames for batch in decoding.feed(frame)]
    return tables(out + decoding.close()), decoding


def in_blocks(pieces: Iterable[list[Frame]], settings: Settings) -> tuple[Tables, Decoding]:
    """Block by block."""
    decoding = Decoding(settings)
    out = [batch for piece in pieces for batch in decoding.feed_block(piece)]
    return tables(out + decoding.close()), decoding


def assert_same(frames: list[Frame], pieces: Iterable[list[Frame]], settings: Settings | None = None) -> int:
    """Blocks give the tables that frames give, row by row, and the totals. Returns how many messages went in runs."""
    settings = settings or Settings()
    expected, single = one_by_one(frames, settings)
    with counting() as counted:
        found, block = in_blocks(pieces, settings)
    assert found.keys() == expected.keys()
    for name, table in expected.items():
        assert_equal(name, found[name], table)
    for one in (Decoding.totals, Decoding.accounting, lambda decoding: decoding.codes):
        assert one(block) == one(single)
    return counted.messages


def assert_equal(name: str, found: pa.Table, expected: pa.Table) -> None:
    """Two tables are the same; says where they differ first."""
    if found.equals(expected):
        return
    rows = zip(found.to_pylist(), expected.to_pylist(), strict=False)
    for number, (one, other) in enumerate(rows):
        odd = {key: (one[key], other[key]) for key in one if one[key] != other[key]}
        assert not odd, f"{name}, row {number}, frame {other.get('frame_number')}: {odd}"
    assert found.num_rows == expected.num_rows, name
    raise AssertionError(f"{name}: the same rows, but not equal")
