"""The pcapng format: a series of blocks; those that describe interfaces and those that hold packets matter here.

draft-ietf-opsawg-pcapng. Blocks of other kinds (secrets, names, statistics, custom...) are passed over.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from zdissect.capture.errors import CaptureError
from zdissect.capture.reader import MAX_RECORD, Reader
from zdissect.records import Frame

MAGIC = b"\x0a\x0d\x0d\x0a"
"""First four bytes: the type of a section header block, the same in both byte orders."""

_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = int.from_bytes(MAGIC), 1, 2, 3, 6
_MIN_BLOCK, _MIN_PACKET = 12, 32  # with type, both lengths and, of a packet, the fields before its bytes
_TSRESOL, _TSOFFSET = 9, 14
_BYTE_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}


class _Interface(NamedTuple):
    """How the packets of an interface are read: time in ns = ticks * multiplier // divisor + shift."""

    link: int
    multiplier: int
    divisor: int
    shift: int
    snaplen: int


class PcapngReader(Reader):
    """Reads everything when iterated.

    The frames of Simple Packet Blocks have `ts_ns` 0: those blocks carry no time.
    """

    format = "pcapng"
    record = "block"

    def __init__(self, read: Callable[[int], bytes], magic: bytes, name: str, unit: str = "byte") -> None:
        super().__init__(read, magic, name, unit)
        self._offset = 0  # where the block being read starts
        self._interfaces: list[_Interface] = []
        self._set_order("<")

    def __iter__(self) -> Iterator[Frame]:
        read, name, interfaces = self.read, self.name, self._interfaces
        new, frame_type = tuple.__new__, Frame  # a third faster than Frame(...)
        shortest, longest = _MIN_PACKET, MAX_RECORD
        unpack_head, unpack_packet = self._head.unpack, self._packet.unpack_from
        head = self.magic + read(8 - len(self.magic))
        self.magic = b""
        while head:
            if len(head) != 8:
                raise self._cut(len(head))
            kind, length = unpack_head(head)
            # The usual block is read here, without calls; all others, and damaged ones, in `_other`.
            if kind == _PACKET and shortest <= length <= longest:
                body = read(length - 8)
                if len(body) != length - 8:
                    raise self._cut(8 + len(body))
                interface, high, low, captured, wire_len = unpack_packet(body)
                if captured > length - shortest or interface >= len(interfaces) or not body.endswith(head[4:]):
                    raise self._bad_packet(length, interface, captured, _MIN_PACKET)
                link, multiplier, divisor, shift, _ = interfaces[interface]
                ts_ns = (high << 32 | low) * multiplier
                if divisor != 1:
                    ts_ns //= divisor
                self.frames = number = self.frames + 1
                self.bytes += captured
                self._offset += length
                yield new(frame_type, (name, number, ts_ns + shift, link, wire_len, body[20 : 20 + captured]))
            else:
                frame = self._other(head, kind, length)
                if frame:
                    yield frame
                unpack_head, unpack_packet = self._head.unpack, self._packet.unpack_from
            head = read(8)

    def complete(self, data: bytes, at: int) -> bool:
        if self.magic:  # which was read before there was a reader, and is the beginning of a block
            data, at = self.magic + data[at:], 0
        head = self._head
        while at + _MIN_BLOCK <= len(data):
            kind, length = head.unpack_from(data, at)
            if kind == _SECTION:
                order = _BYTE_ORDERS.get(data[at + 8 : at + 12])
                if order is None:
                    return True
                head = struct.Struct(order + "II")
                _, length = head.unpack_from(data, at)
            if not _MIN_BLOCK <= length <= MAX_RECORD:
                return True
            if at + length > len(data):
                return False
            if kind in (_PACKET, _SIMPLE_PACKET, _OLD_PACKET):
                return True
            at += length
        return False

    def mark(self) -> list[Any]:
        interfaces = [list(interface) for interface in self._interfaces]
        return [self._offset, self.frames, self.bytes, self.others, self._order, interfaces]

    def resume(self, mark: list[Any]) -> None:
        self._offset, self.frames, self.bytes, self.others, order, interfaces = mark
        self._set_order(order)
        self._interfaces[:] = [_Interface(*interface) for interface in interfaces]
        self.magic = b""

    def _set_order(self, order: str) -> None:
        self._order = order
        self._head = struct.Struct(order + "II")
        self._packet = struct.Struct(order + "IIIII")

    def _other(self, head: bytes, kind: int, length: int) -> Frame | None:
        """Read the rest of a block that isn't an ordinary packet; return the frame if there is one in it."""
        frame = None
        if kind == _SECTION:
            length = self._section(head)
        elif kind == _INTERFACE:
            self._interface(self._body(head, length, 8))
        elif kind == _SIMPLE_PACKET:
            frame = self._simple_packet(self._body(head, length, 4), length)
        elif kind == _OLD_PACKET:
            frame = self._old_packet(self._body(head, length, 20), length)
        elif kind == _PACKET:
            self._body(head, length, 20)  # a length that no packet has: raises
        else:
            self._pass_over(head, length)
        if frame:
            self.frames += 1
            self.bytes += len(frame.data)
        else:
            self.others += 1
        self._offset += length
        return frame

    def _body(self, head: bytes, length: int, least: int, done: bytes = b"") -> bytes:
        """Read a block to its end; return what is between its two lengths, of which `done` has been read."""
        if not _MIN_BLOCK + least <= length <= MAX_RECORD:
            raise self._bad_length(length)
        body = done + self.read(length - 8 - len(done))
        if len(body) != length - 8:
            raise self._cut(8 + len(body))
        if not body.endswith(head[4:]):
            raise self._bad_trailer(length)
        return body[:-4]

    def _pass_over(self, head: bytes, length: int) -> None:
        if length < _MIN_BLOCK:
            raise self._bad_length(length)
        size = self.skip(length - _MIN_BLOCK)
        trailer = self.read(4)
        if len(trailer) != 4:
            raise self._cut(8 + size + len(trailer))
        if trailer != head[4:]:
            raise self._bad_trailer(length)

    def _section(self, head: bytes) -> int:
        """Begin a section, with its own byte order and no interfaces yet. Return the length of the block."""
        magic = self.read(4)
        if len(magic) != 4:
            raise self._cut(8 + len(magic))
        if magic not in _BYTE_ORDERS:
            raise self.damaged(self._offset, f"a section header without a byte-order magic (it has {magic.hex()})")
        self._set_order(_BYTE_ORDERS[magic])
        length: int = self._head.unpack(head)[1]
        body = self._body(head, length, 16, magic)
        major, minor = struct.unpack_from(self._order + "HH", body, 4)
        if major != 1:
            raise self.damaged(self._offset, f"a section of pcapng version {major}.{minor}, but only 1 is known")
        self._interfaces.clear()
        return length

    def _interface(self, body: bytes) -> None:
        link, snaplen = struct.unpack_from(self._order + "HxxI", body)
        multiplier, divisor, shift = 1000, 1, 0
        for code, value in self._options(body, 8):
            if code == _TSRESOL and len(value) == 1:
                multiplier, divisor = _resolution(value[0])
            elif code == _TSOFFSET and len(value) == 8:
                shift = struct.unpack(self._order + "q", value)[0] * 1_000_000_000
        self._interfaces.append(_Interface(link, multiplier, divisor, shift, snaplen))
        self.link_types.add(link)

    def _options(self, body: bytes, at: int) -> Iterator[tuple[int, bytes]]:
        unpack = struct.Struct(self._order + "HH").unpack_from
        while at + 4 <= len(body):
            code, size = unpack(body, at)
            if code == 0:
                return
            at += 4
            if at + size > len(body):
                raise self.damaged(self._offset, f"an option of {size} bytes, where {len(body) - at} are left")
            yield code, body[at : at + size]
            at += size + -size % 4

    def _simple_packet(self, body: bytes, length: int) -> Frame:
        if not self._interfaces:
            raise self._bad_packet(length, 0, 0, 16)
        (wire_len,) = struct.unpack_from(self._order + "I", body)
        link, _, _, _, snaplen = self._interfaces[0]
        captured = min(wire_len, snaplen or wire_len)
        if captured > len(body) - 4:
            raise self._bad_packet(length, 0, captured, 16)
        return Frame(self.name, self.frames + 1, 0, link, wire_len, body[4 : 4 + captured])

    def _old_packet(self, body: bytes, length: int) -> Frame:
        interface, high, low, captured, wire_len = struct.unpack_from(self._order + "HxxIIII", body)
        if captured > len(body) - 20 or interface >= len(self._interfaces):
            raise self._bad_packet(length, interface, captured, _MIN_PACKET)
        link, multiplier, divisor, shift, _ = self._interfaces[interface]
        ts_ns = (high << 32 | low) * multiplier // divisor + shift
        return Frame(self.name, self.frames + 1, ts_ns, link, wire_len, body[20 : 20 + captured])

    def _cut(self, size: int) -> CaptureError:
        return self.cut(self._offset, self._offset + size) if self._offset else self.short(size)

    def _bad_length(self, length: int) -> CaptureError:
        return self.damaged(self._offset, f"its length cannot be {length}")

    def _bad_trailer(self, length: int) -> CaptureError:
        return self.damaged(self._offset, f"its length is {length} at its start, but not at its end")

    def _bad_packet(self, length: int, interface: int, captured: int, around: int) -> CaptureError:
        if interface >= len(self._interfaces):
            return self.damaged(self._offset, f"a packet of interface {interface}, which no block describes")
        if captured > length - around:
            return self.damaged(self._offset, f"a frame of {captured} bytes in a block of {length}")
        return self._bad_trailer(length)


def _resolution(tsresol: int) -> tuple[int, int]:
    """Multiplier and divisor that turn ticks into nanoseconds, from the option if_tsresol."""
    power = tsresol & 0x7F
    if tsresol & 0x80:
        return 1_000_000_000, 1 << power
    return (10 ** (9 - power), 1) if power <= 9 else (1, 10 ** (power - 9))
