"""The attachment that rmw_zenoh adds to each message, request and response: number, time, and gid of its maker.

Three layouts (docs/ros2.md): 33 bytes, little endian; 77 bytes, each value behind its name (the first releases on
Zenoh 1.x); a map of byte strings with the numbers as text (Zenoh 0.11).
"""

import struct
from functools import lru_cache
from typing import NamedTuple

CURRENT = struct.Struct("<qqB16s")
_GID_BYTES = 16
GID = slice(CURRENT.size - _GID_BYTES, CURRENT.size)
LENGTH_AT = GID.start - 1
"""Where in the current layout the gid is, and its length."""
_NAMES = (b"sequence_number", b"source_timestamp", b"source_gid")
_NAMED = struct.Struct("<16sq17sq11sB16s")
_NAMED_PARTS = tuple(bytes([len(name)]) + name for name in _NAMES)
_LONGEST_MAP = 512


class RosAttachment(NamedTuple):
    """What an attachment says."""

    seq: int
    """Sequence number of the publisher or client."""
    source_ts_ns: int
    """When it was published, by the publisher's clock: nanoseconds since 1970."""
    gid: str
    """Of the publisher or client, in hex."""
    layout: str
    """`current`, `named`, `map`."""


@lru_cache(maxsize=1 << 10)
def parse_attachment(data: bytes) -> RosAttachment | None:
    """What an attachment says; None if it is none of rmw_zenoh's."""
    size = len(data)
    if size == CURRENT.size:
        seq, source_ts_ns, length, gid = CURRENT.unpack(data)
        return RosAttachment(seq, source_ts_ns, gid.hex(), "current") if length == _GID_BYTES else None
    if size == _NAMED.size:
        first, seq, second, source_ts_ns, third, length, gid = _NAMED.unpack(data)
        if (first, second, third) == _NAMED_PARTS and length == _GID_BYTES:
            return RosAttachment(seq, source_ts_ns, gid.hex(), "named")
        return None
    return _from_map(data) if size <= _LONGEST_MAP and all(name in data for name in _NAMES) else None


def _from_map(data: bytes) -> RosAttachment | None:
    """From a map: pairs of byte strings, each behind its length."""
    texts, at = list[bytes](), 0
    while at < len(data):
        size = data[at]
        texts.append(data[at + 1 : at + 1 + size])
        at += 1 + size
    values = dict(zip(texts[::2], texts[1::2], strict=False))
    try:
        seq, source_ts_ns = (int(values[name]) for name in _NAMES[:2])
        gid = values[_NAMES[2]]
    except (KeyError, ValueError):
        return None
    return RosAttachment(seq, source_ts_ns, gid.hex(), "map") if len(gid) == _GID_BYTES else None
