"""First and last times of a capture file, without decoding it. The last time is without leaps of the clock."""

import os
import struct
from collections.abc import Iterable

from zdissect.capture import CaptureError
from zdissect.capture.pcap import FILE_HEADER, MAGIC
from zdissect.export.families import TimeRange
from zdissect.export.filesystems import open_bytes, open_input, size_of
from zdissect.flow.clock import Clock
from zdissect.records import Frame

_TAIL = 1 << 20
"""Bytes at the end of a large pcap file in which its last records are looked for."""
_CHAIN = 3
"""Fewest records that must follow each other, up to the very end of the file, to be believed."""


def time_range_of(path: str) -> TimeRange | None:
    """Times of the first and the last frame; None if there are none, or if the file can't be read.

    Of a large pcap file only both ends are read; of other formats, and of cut files, everything.
    """
    first = last = None
    clock = Clock()
    try:
        with open_input(path, path) as capture:
            large = capture.format == "pcap" and (capture.size or size_of(path) or 0) > 4 * _TAIL
            for frame in capture:
                last = clock.feed(frame).now_ns
                if first is None:
                    first = last
                    if large and (end := _last(path)) is not None:
                        return TimeRange(first, end)
    except (CaptureError, OSError):
        pass  # the good part counts; the error is reported when the file is converted
    return None if first is None or last is None else TimeRange(first, last)


def _last(path: str) -> int | None:
    """Time of the last record of a pcap file, found from its end; None if that isn't possible."""
    try:
        with open_bytes(path) as file:
            kind = MAGIC.get(file.read(4))
            size = file.seek(0, os.SEEK_END)
            file.seek(max(FILE_HEADER, size - _TAIL))
            data = file.read()
    except (OSError, ValueError, NotImplementedError):
        return None
    if kind is None:
        return None
    order, record, unit = kind
    header = struct.Struct(order + record)
    dead: set[int] = set()  # offsets from which records don't chain up to the end
    for start in range(max(0, len(data) - (1 << 18))):
        at = start
        chain: dict[int, int] = {}
        while at + header.size <= len(data) and at not in dead:
            seconds, fraction, captured, wire_len = header.unpack_from(data, at)
            if captured > wire_len or not wire_len or fraction * unit >= 10**9:
                break
            chain[at] = seconds * 10**9 + fraction * unit
            at += header.size + captured
        if at == len(data) and len(chain) >= _CHAIN:
            return _end(chain.values())
        dead.update(chain)
    return None


def _end(times: Iterable[int]) -> int:
    """The last of the times of records, by a clock that doesn't leap."""
    clock = Clock()
    return [clock.feed(Frame("", n, ts_ns, 0, 1, b"")).now_ns for n, ts_ns in enumerate(times, 1)][-1]
