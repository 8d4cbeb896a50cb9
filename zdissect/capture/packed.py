"""Unpacks bytes as a raw binary stream, made for pipes and for damaged files.

The file classes of the libraries wait for whole blocks of packed bytes, which delays a live capture, and throw away
what they had unpacked when they meet damage.
"""

import io
from typing import TYPE_CHECKING, Protocol

from zdissect.capture.packings import Damaged, Member, Packing

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_INPUT = 1 << 16


class _Source(Protocol):
    def read1(self, size: int, /) -> bytes: ...


class UnpackError(OSError):
    """The stream is damaged, or ends too early. Everything that could be unpacked has been returned."""

    def __init__(self, text: str, early: bool) -> None:
        super().__init__(text)
        self.early = early


class PackedStream(io.RawIOBase):
    """Unpacks the members in `source`, one after the other; `head` are its first bytes, already read.

    Returns bytes as soon as they can be unpacked, and never holds more of them than were asked for.
    """

    def __init__(self, packing: Packing, head: bytes, source: _Source) -> None:
        super().__init__()
        self._packing = packing
        self._source = source
        self._input = head
        self._taken = len(head)
        self._member: Member | None = packing.member()
        self._failure = ""
        self._early = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer).cast("B")
        while not self._failure:
            if self._member is None and not self._next_member():
                return 0
            assert self._member is not None
            if self._member.needs_input and not self._input and not self._fill():
                self._failure, self._early = f"the {self._packing.name} data end too early, at byte {self._taken}", True
                break
            data = self._unpack(self._member, len(view))
            if data:
                view[: len(data)] = data
                return len(data)
        raise UnpackError(self._failure, self._early)

    def _fill(self) -> bool:
        self._input = self._source.read1(_INPUT)
        self._taken += len(self._input)
        return bool(self._input)

    def _next_member(self) -> bool:
        """Begin what follows the end of a member; zeros are allowed there as padding, as in gzip itself."""
        while self._input or self._fill():
            self._input = self._input.lstrip(b"\0")
            if self._input:
                self._member = self._packing.member()
                return True
        return False

    def _unpack(self, member: Member, size: int) -> bytes:
        packed, self._input = self._input, b""
        try:
            data = member.decompress(packed, size)
        except Damaged as error:
            self._failure = f"the {self._packing.name} data are damaged before byte {self._taken} ({error})"
            return error.good
        if member.eof:
            self._input, self._member = member.unused_data, None
        return data
