"""Streams: cutting them, and finding the place again, takes linear time however they are cut into segments."""

import random
from collections.abc import Iterator

import pytest

from tests.hostile.work import TWICE, growth
from zdissect.flow.cutter import Cutter
from zdissect.flow.framing import FRAMINGS, STREAM, Framing
from zdissect.flow.stream_buffer import Batch, Skipped
from zdissect.records import Chunk, Frame

RANDOM = random.Random(1).randbytes(1 << 16)
LOST = {
    "random": RANDOM,
    "zeros": bytes(1 << 16),
    "KEEP_ALIVEs": b"\x04" * (1 << 16),
    "compressed": b"\x01" * (1 << 16),
    "FRAMEs": (b"\x05\x00\x25" * 22_000)[: 1 << 16],
}


def pieces(data: bytes, size: int) -> Iterator[Chunk]:
    for at in range(0, len(data), size):
        part = data[at : at + size]
        yield Chunk(0, 0, at, part, Frame("test", at, at, 1, len(part), part), 0)


def cut(cutter: Cutter, data: bytes, size: int) -> list[Batch | Skipped]:
    out: list[Batch | Skipped] = []
    for chunk in pieces(data, size):
        out += cutter.feed(chunk)
    return out + list(cutter.close())


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("kind", LOST)
def test_a_lost_place_is_searched_once(kind: str, framing: Framing, size: int) -> None:
    def search(length: int) -> None:
        cutter = Cutter(framing)
        cutter.lost = "lost"
        found = cut(cutter, LOST[kind][:length], size)
        assert sum(len(one.data if isinstance(one, Skipped) else one.buffer.data) for one in found) == length

    assert growth(search, 1 << (12 if size == 1 else 14)) < TWICE


def test_a_place_is_found_after_much_that_looks_like_batches() -> None:
    batch = b"\x0b\x00\x25\x01\x3d\x00\x01k\x01\x03abc"
    cutter = Cutter(STREAM)
    cutter.lost = "lost"
    found = cut(cutter, RANDOM + batch * 4, 1000)
    assert sum(isinstance(one, Batch) for one in found) == 4


def test_many_batches_in_one_segment() -> None:
    def read(count: int) -> None:
        assert len(cut(Cutter(STREAM), b"\x01\x00\x04" * count, 1 << 30)) == count

    assert growth(read, 2000) < TWICE


def test_taken_bytes_arent_copied_again() -> None:
    cutter = Cutter(STREAM)
    data = b"\x01\x00\x04" * 1000
    (chunk,) = pieces(data, len(data))
    batches = cutter.feed(chunk)
    for number in range(999):
        batch = next(iter(batches))
        assert batch.buffer.origin[0].offset == 3 * number  # type: ignore[union-attr]
        assert cutter.parts[0].data is data
