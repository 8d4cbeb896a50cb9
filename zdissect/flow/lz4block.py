"""Decompresses the content of a compressed batch: one raw LZ4 block (notes 3.2).

The block comes without frame header, stored size and checksum, so the only bound is what the receiver allows. The work
is done by `lz4.block`, always with a size: without one it would take the first four bytes for a stored size (which its
own `compress` writes unless `store_size=False`). It returns whatever there is, up to that size, and has one error for
all that can go wrong; a second look at the block then says what it was. It accepts a match offset of 0, which the
format forbids, and writes zeros.
"""

from collections.abc import Callable
from functools import cache

_MOST_EXPANSION = 255
"""No byte of a block can stand for more bytes of output."""
_MOST = (1 << 31) - 1
"""The library's sizes are C ints."""
_LEAST_MATCH = 4


class CompressionError(ValueError):
    """The block can't be decompressed; the message says why, and where in the block."""


class _Bad(Exception):
    """What is wrong with a block."""


def decompress(block: bytes, limit: int) -> bytes:
    """The content of a raw LZ4 block.

    Args:
        block: The bytes after the batch header.
        limit: The most bytes it may hold: the negotiated batch size. No more memory than that is used.

    Raises:
        CompressionError: The block is malformed, or holds more than `limit` bytes.
    """
    if not block:
        raise CompressionError("not an LZ4 block: it is empty")
    room = max(0, min(limit, _MOST, len(block) * _MOST_EXPANSION))
    run, error = _library()
    try:
        return run(block, uncompressed_size=room)
    except error:
        raise CompressionError(_explain(block, limit)) from None


@cache
def _library() -> tuple[Callable[..., bytes], type[Exception]]:
    """The library's function and its error; imported late, as few captures are compressed."""
    import lz4.block  # type: ignore[import-untyped]

    return lz4.block.decompress, lz4.block.LZ4BlockError


def _explain(block: bytes, limit: int) -> str:
    """What is wrong with a block that the library refused."""
    try:
        size = _measure(block)
    except _Bad as bad:
        return f"bad LZ4 block: {bad}"
    if size > limit:
        return f"the LZ4 block holds {size} bytes, but {limit} are allowed"
    return "bad LZ4 block: its end breaks the rules of the format (the last 5 bytes are literals)"


def _measure(block: bytes) -> int:
    """Size of the output, computed without writing it; raises _Bad where the block contradicts itself."""
    pos = size = 0
    while True:
        if pos >= len(block):
            raise _Bad("it ends with a match, not with literals")
        token = block[pos]
        count, pos = _length(block, pos + 1, token >> 4)
        if pos + count > len(block):
            raise _Bad(f"{count} literals at byte {pos}, where {len(block) - pos} bytes are left")
        pos += count
        size += count
        if pos == len(block):
            return size
        if pos + 2 > len(block):
            raise _Bad(f"it ends in the match offset at byte {pos}")
        offset = int.from_bytes(block[pos : pos + 2], "little")
        if not 0 < offset <= size:
            raise _Bad(f"the match offset at byte {pos} is {offset}, but {size} bytes of output come before it")
        count, pos = _length(block, pos + 2, token & 15)
        size += count + _LEAST_MATCH


def _length(block: bytes, pos: int, value: int) -> tuple[int, int]:
    """(length, position after it): half a token and, if that is 15, more bytes up to the first that isn't 255."""
    if value < 15:
        return value, pos
    while pos < len(block):
        value += block[pos]
        pos += 1
        if block[pos - 1] != 255:
            return value, pos
    raise _Bad("it ends in a length")
