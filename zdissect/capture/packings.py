"""The ways in which captures are packed (gzip, zstd, lz4, xz), each behind the same few methods.

The libraries unpack a member (zstd and lz4 call it a frame) bit by bit, and give no more at once than they are asked
for, so that a few kilobytes that unpack to gigabytes cost time only. Each is imported when a file needs it.
"""

import sys
import zlib
from collections.abc import Callable
from typing import NamedTuple, Protocol

_GZIP = 31  # zlib's wbits for a gzip header, the full window, and the checksum at the end verified
_XZ_MEMORY = 256 << 20
"""Most bytes of an xz dictionary; that of `xz -9` takes a quarter of this."""


class Damaged(Exception):
    """The packed data are damaged; `good` is what could be unpacked before the damage."""

    def __init__(self, why: str, good: bytes = b"") -> None:
        super().__init__(why)
        self.good = good


class Member(Protocol):
    """Unpacks one member. It keeps input that it hasn't used yet."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Take more input, and return at most `max_length` bytes; none if there are none yet."""

    @property
    def needs_input(self) -> bool:
        """Whether more input is needed for more output."""

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""

    @property
    def unused_data(self) -> bytes:
        """The input after its end."""


class Packing(NamedTuple):
    """A way of packing."""

    name: str
    magics: tuple[bytes, ...]
    """First bytes by which it is recognised."""
    member: Callable[[], Member]


class _Checked:
    """A member whose library has an error of its own."""

    def __init__(self, member: Member, library: str, error: type[Exception]) -> None:
        self.member = member
        self.library = library
        self.error = error

    def decompress(self, data: bytes, max_length: int) -> bytes:
        try:
            return self.member.decompress(data, max_length)
        except (self.error, MemoryError) as problem:
            raise Damaged(f"{self.library}: {problem or 'out of memory'}") from problem

    @property
    def needs_input(self) -> bool:
        return self.member.needs_input

    @property
    def eof(self) -> bool:
        return self.member.eof

    @property
    def unused_data(self) -> bytes:
        return self.member.unused_data


class _GzipMember:
    """A member of zlib, which neither keeps its input nor returns what it had unpacked when it meets damage."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP)
        self._input = b""
        self._full = False  # output may be left inside zlib although it took all input

    def decompress(self, data: bytes, max_length: int) -> bytes:
        packed = self._input + data
        before = self._member.copy()
        try:
            out = self._member.decompress(packed, max_length)
        except zlib.error as error:
            raise Damaged(f"zlib: {error}", _salvage(before, packed, max_length)) from error
        self._input = self._member.unconsumed_tail
        self._full = len(out) == max_length
        return out

    @property
    def needs_input(self) -> bool:
        return not self._input and not self._full

    @property
    def eof(self) -> bool:
        return self._member.eof

    @property
    def unused_data(self) -> bytes:
        return self._member.unused_data


def _salvage(member: "zlib._Decompress", packed: bytes, size: int) -> bytes:
    """Unpack up to the damage, in smaller and smaller steps, because the call that meets it returns nothing.

    The steps are of input: output that ends just before the damage does not keep zlib from going on to meet it.
    """
    good = bytearray()
    for step in (1 << 12, 1 << 6, 1):
        while packed and len(good) < size:
            trial = member.copy()
            try:
                good += trial.decompress(packed[:step], size - len(good))
            except zlib.error:
                break
            member, packed = trial, packed[step:]
    return bytes(good)


def _zstd_member() -> Member:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return _Checked(zstd.ZstdDecompressor(), "zstd", zstd.ZstdError)


def _lz4_member() -> Member:
    from lz4.frame import LZ4FrameDecompressor  # type: ignore[import-untyped]

    return _Checked(LZ4FrameDecompressor(), "lz4", RuntimeError)


def _xz_member() -> Member:
    import lzma

    return _Checked(lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY), "lzma", lzma.LZMAError)


GZIP = Packing("gzip", (b"\x1f\x8b",), _GzipMember)
ZSTD = Packing("zstd", (b"\x28\xb5\x2f\xfd", *(bytes((n, 0x2A, 0x4D, 0x18)) for n in range(0x50, 0x60))), _zstd_member)
"""The second magic is that of a skippable frame, with which pzstd begins."""
LZ4 = Packing("lz4", (b"\x04\x22\x4d\x18",), _lz4_member)
XZ = Packing("xz", (b"\xfd7zX",), _xz_member)
PACKINGS = (GZIP, ZSTD, LZ4, XZ)


def packing_of(head: bytes) -> Packing | None:
    """How a file that begins with the four bytes `head` is packed; None if it isn't, or in an unknown way."""
    return next((packing for packing in PACKINGS if head.startswith(packing.magics)), None)
