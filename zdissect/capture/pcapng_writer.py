"""Writes pcapng: frames with their link types, times in nanoseconds, and comments. Pure; `output_file` does the I/O.

draft-ietf-opsawg-pcapng: one section, little endian; an interface for each link type, described before its first frame.
"""

from collections.abc import Iterable
from struct import Struct

from zdissect.records import Frame

_SECTION = bytes.fromhex("0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000")
_INTERFACE, _PACKET = 1, 6
_NANOSECONDS = bytes.fromhex("0900010009000000")
"""The option if_tsresol: times count 10^-9 s."""
_COMMENT = 1
_END = bytes(4)
_HEAD = Struct("<II")
_LINK = Struct("<HHI")
_RECORD = Struct("<IIIII")
_OPTION = Struct("<HH")
_LENGTH = Struct("<I")
_LATEST = (1 << 64) - 1
LONGEST_COMMENT = 2000
"""Most bytes of a comment; longer ones are cut. A frame may have several."""


class PcapngWriter:
    """Turns frames into blocks, which must be written in order, `start()` first."""

    def __init__(self) -> None:
        self._interfaces: dict[int, int] = {}

    @staticmethod
    def start() -> bytes:
        """The header of the section."""
        return _SECTION

    def frame(self, frame: Frame, comments: Iterable[str] = ()) -> bytes:
        """The block of a frame; for the first frame of an interface, after the block that describes the interface.

        A time that the format can't hold, before 1970 or after 2554, becomes the nearest that it can hold.
        """
        out = b""
        interface = self._interfaces.get(frame.link)
        if interface is None:
            interface = self._interfaces[frame.link] = len(self._interfaces)
            out = _block(_INTERFACE, _LINK.pack(frame.link, 0, 0) + _NANOSECONDS + _END)
        ticks = min(max(frame.ts_ns, 0), _LATEST)
        head = _RECORD.pack(interface, ticks >> 32, ticks & 0xFFFFFFFF, len(frame.data), frame.wire_len)
        options = b"".join(map(_comment, comments))
        return out + _block(_PACKET, head + _padded(frame.data) + (options + _END if options else b""))


def _comment(text: str) -> bytes:
    data = text.encode(errors="backslashreplace")[:LONGEST_COMMENT]
    data = data.decode(errors="ignore").encode()  # no half characters
    return _OPTION.pack(_COMMENT, len(data)) + _padded(data)


def _padded(data: bytes) -> bytes:
    """Bytes padded with zeros to a multiple of four."""
    return data + bytes(-len(data) % 4)


def _block(kind: int, body: bytes) -> bytes:
    size = len(body) + 12
    return _HEAD.pack(kind, size) + body + _LENGTH.pack(size)
