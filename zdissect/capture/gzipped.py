"""A gzip stream as a raw binary stream, made for pipes and for damaged files.

The gzip module of the standard library waits for whole blocks of compressed bytes, which holds back a live capture, and
gives up what it had unpacked when it meets damage.
"""

import io
import zlib
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAGIC = b"\x1f\x8b"

_INPUT = 1 << 16
_GZIP = 31  # zlib's wbits for a gzip header, the full window and a check of the sum at the end


class _Source(Protocol):
    def read1(self, size: int, /) -> bytes: ...


class UnpackError(OSError):
    """The stream is damaged, or ends too early. Everything that could be unpacked has been given."""

    def __init__(self, text: str, early: bool) -> None:
        super().__init__(text)
        self.early = early


class GzipStream(io.RawIOBase):
    """Unpacks the gzip members in `source`, one after the other; `head` are its first bytes, already read.

    Gives bytes as soon as they can be unpacked, and never holds more of them than were asked for.
    """

    def __init__(self, head: bytes, source: _Source) -> None:
        super().__init__()
        self._source = source
        self._input = head
        self._taken = len(head)
        self._member: zlib._Decompress | None = zlib.decompressobj(_GZIP)
        self._pending = False  # output may be left inside zlib although it took all input
        self._failure = ""
        self._early = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer).cast("B")
        while not self._failure:
            if not self._input and not self._pending:
                self._fill()
            if self._member is None and not self._next_member():
                return 0
            if not self._input and not self._pending:
                self._failure, self._early = f"the gzip data end too early, at byte {self._taken}", True
                break
            data = self._unpack(len(view))
            if data:
                view[: len(data)] = data
                return len(data)
        raise UnpackError(self._failure, self._early)

    def _fill(self) -> None:
        self._input = self._source.read1(_INPUT)
        self._taken += len(self._input)

    def _next_member(self) -> bool:
        """Begin what follows the end of a member; zeros are allowed there as padding, as in gzip itself."""
        while self._input:
            self._input = self._input.lstrip(b"\0")
            if self._input:
                self._member = zlib.decompressobj(_GZIP)
                return True
            self._fill()
        return False

    def _unpack(self, size: int) -> bytes:
        member = self._member
        assert member is not None
        before = member.copy()
        try:
            data = member.decompress(self._input, size)
        except zlib.error as error:
            self._failure = f"the gzip data are damaged before byte {self._taken} (zlib: {error})"
            return _salvage(before, self._input, size)
        self._pending = len(data) == size
        self._input = member.unconsumed_tail
        if member.eof:
            self._input = member.unused_data
            self._member = None
            self._pending = False
        return data


def _salvage(member: "zlib._Decompress", packed: bytes, size: int) -> bytes:
    """Unpack up to the damage, in smaller and smaller steps, because the call that meets it gives nothing.

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
