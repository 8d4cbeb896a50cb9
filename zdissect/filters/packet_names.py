"""Names of what frames hold besides Zenoh, as in Wireshark."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from zdissect.filters.predicates import Among, Begins, Holds, Unless
from zdissect.filters.typed_tree import Called, ColumnValues, Guard, Operand, PacketValues, Sliced
from zdissect.filters.value_types import IP, MAC, NONE, NUMBER, SECOND, TEXT, ValueType

_V6 = Guard(("src_ip", "dst_ip"), Holds(":"))
_V4 = Guard(("src_ip", "dst_ip"), Unless(Holds(":")))
_T = TypeVar("_T")
_TIME = ValueType("time", bare=SECOND)


def _flow(protocol: str) -> Guard:
    return Guard(("flow_id",), Begins(f"{protocol}."))


def _addresses(guard: Guard) -> dict[str, tuple[str, ColumnValues]]:
    return {
        "src": ("Address of the sender.", ColumnValues(IP, ("src_ip",), guards=(guard,))),
        "dst": ("Address of the receiver.", ColumnValues(IP, ("dst_ip",), guards=(guard,))),
        "addr": ("Either address.", ColumnValues(IP, ("src_ip", "dst_ip"), guards=(guard,))),
        "host": ("Either address.", ColumnValues(IP, ("src_ip", "dst_ip"), guards=(guard,))),
    }


def _ports(protocol: str) -> dict[str, tuple[str, Operand]]:
    guards = (_flow(protocol),)
    number = Sliced(TEXT, ColumnValues(TEXT, ("flow_id",), guards=guards), ((len(protocol) + 1, None),))
    return {
        "srcport": ("Port of the sender.", ColumnValues(NUMBER, ("src_port",), guards=guards)),
        "dstport": ("Port of the receiver.", ColumnValues(NUMBER, ("dst_port",), guards=guards)),
        "port": ("Either port.", ColumnValues(NUMBER, ("src_port", "dst_port"), guards=guards)),
        "stream": ("Number of the conversation, from 0.", Called(NUMBER, "number", number)),
    }


_FRAME: dict[str, tuple[str, Operand]] = {
    "number": ("Number of the frame in its file, from 1.", ColumnValues(NUMBER, ("frame_number",))),
    "time": ("Capture time.", ColumnValues(_TIME, ("ts_ns",))),
    "time_epoch": ("Capture time, seconds since 1970.", ColumnValues(_TIME, ("ts_ns",))),
    "time_relative": (
        "Time since the first frame of the capture.",
        PacketValues(ValueType("duration", bare=SECOND), "frame.time_relative"),
    ),
    "len": ("Length of the frame on the wire, bytes.", PacketValues(NUMBER, "frame.len")),
    "cap_len": ("Captured bytes of the frame.", PacketValues(NUMBER, "frame.cap_len")),
}
_STATIONS: dict[str, tuple[str, Operand]] = {
    "src": ("MAC address of the sender.", PacketValues(MAC, "eth.src")),
    "dst": ("MAC address of the receiver.", PacketValues(MAC, "eth.dst")),
    "addr": ("Either MAC address.", PacketValues(MAC, "eth.addr")),
}
_PRESENT: dict[str, tuple[str, Operand]] = {
    "zenoh": ("Anything of the Zenoh protocol.", ColumnValues(NONE, ("frame_number",))),
    "frame": ("The frame of the capture.", ColumnValues(NONE, ("frame_number",))),
    "eth": ("Ethernet.", PacketValues(NONE, "eth.addr")),
    "ip": ("IPv4.", ColumnValues(NONE, ("src_ip",), guards=(_V4,))),
    "ipv6": ("IPv6.", ColumnValues(NONE, ("src_ip",), guards=(_V6,))),
    "tcp": ("TCP.", ColumnValues(NONE, ("flow_id",), guards=(_flow("tcp"),))),
    "udp": ("UDP.", ColumnValues(NONE, ("flow_id",), guards=(_flow("udp"),))),
    "ws": ("WebSocket.", ColumnValues(NONE, ("link",), guards=(Guard(("link",), Among(frozenset(["ws"]))),))),
}


def packet_names(make: Callable[[str, str, Operand], _T]) -> Iterator[_T]:
    """All of these names, made by `make(name, doc, operand)`."""
    for name, (doc, operand) in _PRESENT.items():
        yield make(name, doc, operand)
    groups: dict[str, Mapping[str, tuple[str, Operand]]] = {
        "frame": _FRAME,
        "eth": _STATIONS,
        "ip": _addresses(_V4),
        "ipv6": _addresses(_V6),
    }
    groups |= {"tcp": _ports("tcp"), "udp": _ports("udp")}
    for group, members in groups.items():
        for member, (doc, operand) in members.items():
            yield make(f"{group}.{member}", doc, operand)
