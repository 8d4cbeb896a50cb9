"""Blocks of LZ4 of a given size."""

import lz4.block
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zdissect.anonymize.lz4size import compress

WORDS = st.lists(st.sampled_from([b"a", b"sensor/", b"temperature", bytes(20), b"\x01\x02\x03"]), max_size=60).map(
    b"".join
)


def expanded(block, size):
    return lz4.block.decompress(block, uncompressed_size=size)


@given(WORDS, st.integers(0, 400))
def test_a_block_of_a_size_holds_the_data(data, size):
    block = compress(data, size)
    if block is not None:
        assert len(block) == size
        assert expanded(block, len(data)) == data


@pytest.mark.parametrize("seed", range(5))
def test_nearly_every_size_can_be_had(seed):
    data = b"".join(b"key/%d/of/%d," % (number % 7, number * seed % 13) for number in range(100))
    best = len(lz4.block.compress(data, store_size=False))
    sizes = range(best, len(data), 61)
    assert sum(compress(data, size) is not None for size in sizes) >= len(sizes) - 2


def test_it_compresses_as_well_as_the_library():
    data = b"".join(b"robot/%d/joint/%d=%d;" % (n % 9, n % 5, n * n) for n in range(500))
    size = len(lz4.block.compress(data, store_size=False))
    block = compress(data, size)
    assert block is not None
    assert expanded(block, len(data)) == data


def test_what_is_too_small_is_refused():
    assert compress(bytes(range(256)), 100) is None
    assert compress(b"", 0) is None
    assert compress(b"", 1) == b"\0"
