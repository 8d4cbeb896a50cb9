"""What the frame of an item tells besides Zenoh: its lengths, its time in the capture, its MAC addresses."""

from collections.abc import Callable
from typing import Any

from zdissect.dissection import Item
from zdissect.records import RAW_ETHERNET, Frame

_ETHERNET, _SLL = 1, 113
TIME_RELATIVE = "frame.time_relative"
_STATION = 6
"""Bytes of a MAC address."""


def length(item: Item, began_ns: int) -> tuple[Any, ...]:
    """Bytes on the wire."""
    return (item.frame.wire_len,)


def captured(item: Item, began_ns: int) -> tuple[Any, ...]:
    """Bytes in the capture."""
    return (len(item.frame.data),)


def time_relative(item: Item, began_ns: int) -> tuple[Any, ...]:
    """Nanoseconds since the capture began."""
    return (item.frame.ts_ns - began_ns,)


def stations(item: Item, began_ns: int) -> tuple[Any, ...]:
    """The MAC addresses of receiver and sender."""
    return (*destination(item, began_ns), *source(item, began_ns))


def source(item: Item, began_ns: int) -> tuple[Any, ...]:
    """The MAC address of the sender."""
    frame = item.frame
    if frame.link == _SLL:
        return _whole(frame.data[6:12])
    return _whole(frame.data[6:12]) if frame.link == _ETHERNET else _raw(item, item.direction)


def destination(item: Item, began_ns: int) -> tuple[Any, ...]:
    """The MAC address of the receiver."""
    frame: Frame = item.frame
    return _whole(frame.data[:6]) if frame.link == _ETHERNET else _raw(item, 1 - item.direction)


def _whole(data: bytes) -> tuple[bytes, ...]:
    return (data,) if len(data) == _STATION else ()


def _raw(item: Item, side: int) -> tuple[bytes, ...]:
    """Of Zenoh on raw Ethernet, whatever else is around it."""
    return _whole(item.flow.ends[side].address) if item.flow.link == RAW_ETHERNET else ()


PARTS: dict[str, Callable[[Item, int], tuple[Any, ...]]] = {
    "frame.len": length,
    "frame.cap_len": captured,
    TIME_RELATIVE: time_relative,
    "eth.src": source,
    "eth.dst": destination,
    "eth.addr": stations,
}
"""By the names that packet values have in a typed tree: functions of an item, and of when the capture began."""
