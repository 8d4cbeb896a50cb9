"""The pcap format: a file header, then a header and the bytes of each frame.

draft-ietf-opsawg-pcap; the "modified" kind with longer record headers is that of Alexey Kuznetzov's libpcap.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Any

from zdissect.capture.reader import MAX_RECORD, Reader
from zdissect.records import Frame

FILE_HEADER = 24  # bytes
_NORMAL_SNAPLEN = 1 << 20  # files exist with frames longer than their snaplen says

_RECORD = "IIII"
_MODIFIED = "IIII8x"  # interface index, protocol, packet type

MAGIC = {
    struct.pack(order + "I", magic): (order, record, nanoseconds)
    for order in "<>"
    for magic, record, nanoseconds in (
        (0xA1B2C3D4, _RECORD, 1000),
        (0xA1B23C4D, _RECORD, 1),
        (0xA1B2CD34, _MODIFIED, 1000),
    )
}
"""First four bytes -> (byte order, record header, nanoseconds in a unit of its fraction)."""


class PcapReader(Reader):
    """Reads the file header when created, the frames when iterated."""

    format = "pcap"

    def __init__(self, read: Callable[[int], bytes], magic: bytes, name: str, unit: str = "byte") -> None:
        super().__init__(read, magic, name, unit)
        order, record, self._nanoseconds = MAGIC[magic]
        self._record = struct.Struct(order + record)
        header = read(FILE_HEADER - len(magic))
        if len(header) != FILE_HEADER - len(magic):
            raise self.short(len(magic) + len(header))
        snaplen, link = struct.unpack_from(order + "II", header, 12)
        self._limit = min(max(snaplen, _NORMAL_SNAPLEN), MAX_RECORD)
        self._link = link & 0xFFFF  # the bits above say whether, and how long, a frame check sequence follows
        self.link_types.add(self._link)

    def __iter__(self) -> Iterator[Frame]:
        read, unpack, size = self.read, self._record.unpack, self._record.size
        name, link, nanoseconds, limit = self.name, self._link, self._nanoseconds, self._limit
        new, frame_type = tuple.__new__, Frame  # a third faster than Frame(...)
        number, count = self.frames, self.bytes
        while head := read(size):
            if len(head) != size:
                raise self.cut(self._offset(), self._offset() + len(head))
            seconds, fraction, captured, wire_len = unpack(head)
            if captured > limit:
                raise self.damaged(self._offset(), f"a frame of {captured} bytes, where at most {limit} are possible")
            data = read(captured)
            if len(data) != captured:
                raise self.cut(self._offset(), self._offset() + size + len(data))
            self.frames = number = number + 1
            self.bytes = count = count + captured
            yield new(
                frame_type, (name, number, seconds * 1_000_000_000 + fraction * nanoseconds, link, wire_len, data)
            )

    def complete(self, data: bytes, at: int) -> bool:
        size, left = self._record.size, len(data) - at
        if left < size:
            return False
        captured: int = self._record.unpack_from(data, at)[2]
        return captured > self._limit or left >= size + captured

    def mark(self) -> list[Any]:
        return [self._offset(), self.frames, self.bytes]

    def resume(self, mark: list[Any]) -> None:
        _, self.frames, self.bytes = mark

    def _offset(self) -> int:
        """Where the record after the last frame starts."""
        return FILE_HEADER + self.frames * self._record.size + self.bytes
