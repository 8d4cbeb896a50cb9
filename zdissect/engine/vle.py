"""Zenoh's variable-length integer (notes 1.1): base 128, least significant group first, at most nine bytes, the ninth
with eight bits of data. It isn't LEB128."""

_MORE = 0x8080808080808080
"""The continuation bits of eight bytes."""


class Short(Exception):
    """The bytes end before the integer does."""


def read(data: bytes, pos: int, stop: int) -> tuple[int, int]:
    """Value and position after the integer at `pos`. Raises Short if it doesn't end before `stop`."""
    if stop - pos > 8 and data[pos + 7] > 127:
        value = int.from_bytes(data[pos : pos + 8], "little")
        if value & _MORE == _MORE:  # all nine bytes, as for a time: groups are joined in pairs, then pairs of pairs
            value = value & 0x007F007F007F007F | (value & 0x7F007F007F007F00) >> 1
            value = value & 0x00003FFF00003FFF | (value & 0x3FFF00003FFF0000) >> 2
            value = value & 0x000000000FFFFFFF | (value & 0x0FFFFFFF00000000) >> 4
            return value | data[pos + 8] << 56, pos + 9
    value = shift = 0
    last = min(stop, pos + 8)
    while pos < last:
        byte = data[pos]
        pos += 1
        if byte < 128:
            return value | byte << shift, pos
        value |= (byte & 127) << shift
        shift += 7
    if shift < 56 or pos >= stop:
        raise Short
    return value | data[pos] << 56, pos + 1


def encode(value: int) -> bytes:
    """The shortest form of an integer from 0 to 2**64 - 1. Raises ValueError for any other."""
    if not 0 <= value < 1 << 64:
        raise ValueError(f"{value} doesn't fit in 64 bits")
    out = bytearray()
    while value > 127 and len(out) < 8:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
