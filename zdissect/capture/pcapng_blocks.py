"""The blocks of a pcapng file, to write one (draft-ietf-opsawg-pcapng)."""

import struct

from zdissect.records import Frame

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_BYTE_ORDER = 0x1A2B3C4D
_UNKNOWN_LENGTH = -1
_NANOSECONDS = struct.pack("<HHBxxxHH", 9, 1, 9, 0, 0)  # the option if_tsresol, and the end of options


def section() -> bytes:
    """The block that a file begins with."""
    return _block(_SECTION, struct.pack("<IHHq", _BYTE_ORDER, 1, 0, _UNKNOWN_LENGTH))


def interface(link: int) -> bytes:
    """The block that describes an interface, by its LINKTYPE_; times of its packets are in nanoseconds."""
    return _block(_INTERFACE, struct.pack("<HHI", link, 0, 0) + _NANOSECONDS)


def packet(frame: Frame, number: int) -> bytes:
    """The block of a frame, which came from the interface of this number in the section, from 0."""
    data = frame.data
    time = frame.ts_ns & (1 << 64) - 1
    head = struct.pack("<IIIII", number, time >> 32, time & 0xFFFFFFFF, len(data), frame.wire_len)
    return _block(_PACKET, head + data + bytes(-len(data) % 4))


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length
