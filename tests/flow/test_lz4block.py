"""LZ4 blocks: the worked example, round trips, and every way to be wrong."""

import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zdissect.engine.interpreter import interpret
from zdissect.flow.framing import Framing
from zdissect.flow.lz4block import CompressionError, decompress
from zdissect.grammar.batch import BATCH

lz4 = pytest.importorskip("lz4.block")

# The notes' example E24: FRAME sn 0, PUSH "k/a", PUT of 40 times "z".
E24 = bytes.fromhex("bf 25007d00036b2f6101287a 0100 0f 50 7a7a7a7a7a")
PLAIN = bytes.fromhex("25007d00036b2f610128") + b"z" * 40


def raw(data: bytes) -> bytes:
    block = lz4.compress(data, store_size=False)
    assert isinstance(block, bytes)
    return block


def test_the_worked_example() -> None:
    assert decompress(E24, 65535) == PLAIN
    assert not interpret(BATCH, decompress(E24, 65535), **Framing(0).inputs).remarks


def test_an_exact_limit() -> None:
    assert decompress(E24, len(PLAIN)) == PLAIN
    with pytest.raises(CompressionError, match="holds 50 bytes, but 49 are allowed"):
        decompress(E24, 49)


@pytest.mark.parametrize("limit", [0, -1, -(1 << 40)])
def test_a_limit_that_allows_nothing(limit: int) -> None:
    """A negative size would make the library read the size from the block."""
    with pytest.raises(CompressionError, match="allowed"):
        decompress(E24, limit)


@pytest.mark.parametrize("limit", [1 << 31, 1 << 80])
def test_a_limit_beyond_the_library(limit: int) -> None:
    assert decompress(E24, limit) == PLAIN


def test_a_block_of_nothing() -> None:
    assert decompress(b"\0", 0) == b""
    with pytest.raises(CompressionError, match="it is empty"):
        decompress(b"", 100)


@given(st.binary(max_size=3000), st.integers(0, 200))
def test_round_trip(data: bytes, times: int) -> None:
    whole = data + data[:7] * times
    assert decompress(raw(whole), len(whole)) == whole
    assert decompress(raw(whole), 65535) == whole
    if whole:
        with pytest.raises(CompressionError, match=f"holds {len(whole)} bytes, but {len(whole) - 1} are allowed"):
            decompress(raw(whole), len(whole) - 1)


def test_a_stored_size_is_no_part_of_the_block() -> None:
    with pytest.raises(CompressionError):
        decompress(lz4.compress(PLAIN), 65535)


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ("f0", "ends in a length"),
        ("f0 ff ff", "ends in a length"),
        ("1f 61 0100 ff", "ends in a length"),
        ("50 61 62", "5 literals at byte 1, where 2 bytes are left"),
        ("10 61 01", "ends in the match offset at byte 2"),
        ("10 61 0200 50 6162636465", "match offset at byte 2 is 2, but 1 bytes of output come before it"),
        ("00 0000", "match offset at byte 1 is 0, but 0 bytes"),
        ("1f 61 0100 00", "ends with a match"),
        ("10 61 0100 10 61", "the last 5 bytes are literals"),
    ],
)
def test_what_is_wrong(block: str, why: str) -> None:
    with pytest.raises(CompressionError, match=why):
        decompress(bytes.fromhex(block), 65535)


@given(st.binary(max_size=400), st.integers(-1, 70000))
def test_garbage_gives_bytes_or_the_one_error(block: bytes, limit: int) -> None:
    with suppress(CompressionError):
        assert len(decompress(block, limit)) <= max(limit, 0)


@given(st.integers(0, len(E24) - 1), st.integers(0, 255))
def test_a_changed_byte(at: int, byte: int) -> None:
    block = E24[:at] + bytes([byte]) + E24[at + 1 :]
    with suppress(CompressionError):
        assert len(decompress(block, 100)) <= 100


def test_a_huge_claim_takes_no_memory() -> None:
    """A block of 60 KB that claims 15 MB."""
    bomb = raw(bytes(15_000_000))
    decompress(E24, 100)
    tracemalloc.start()
    with pytest.raises(CompressionError, match="holds 15000000 bytes, but 65535 are allowed"):
        decompress(bomb, 65535)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000
