"""The headers of a frame and where they stand, from the link layer to TCP and UDP, as far as they are understood.

The same headers are followed as in `flow`, by the same functions, so that what is found here is what is dissected.
"""

from typing import NamedTuple

from zdissect.flow.headers import (
    ANY_IP,
    ETHERNET,
    FIREWALL_LOG,
    HEADERS,
    IPV4,
    IPV6,
    NETFILTER_LOG,
    Next,
)
from zdissect.flow.link import FAMILIES, LINKS, LOOPBACK, PKTAPS, SLL, SLL2
from zdissect.flow.tunnels import PORTS, PROTOCOLS
from zdissect.grammar.ports import RAW_ETHERTYPES
from zdissect.records import Frame

MAC, VERBATIM, STATION, IP4, IP6, TCP, UDP, FRAGMENT, PAYLOAD = (
    "mac", "verbatim", "station", "ipv4", "ipv6", "tcp", "udp", "fragment", "payload",
)  # fmt: skip
"""Kinds of layers: an Ethernet header, numbers that say nothing of anybody, a MAC address alone..."""

_PKTAP_KEPT = 12
"""Of Apple's header its size and what follows stay; it also names interfaces and processes."""
_GENEVE, _GENEVE_KEPT = 6081, 8
"""Its options may hold anything."""
_LOGS = (FIREWALL_LOG, NETFILTER_LOG)
"""They name rules, interfaces and users."""
_HOLD_ADDRESSES = (3544, 37008)
"""Ports of tunnels whose headers do: Teredo, TZSP."""
_TCP, _UDP, _IPV6_FRAGMENT, _AUTHENTICATION = 6, 17, 44, 51
_EXTENSIONS = (0, 43, 60, 135, 139, 140, _AUTHENTICATION, _IPV6_FRAGMENT)
_MOST = 32


class Layer(NamedTuple):
    """A header, or what it carries."""

    kind: str
    start: int
    body: int
    """Where what it carries starts."""
    stop: int
    """Where that ends on the wire; it may be beyond the bytes."""
    key: bytes = b""
    """Of an IP fragment: what it shares with the others."""
    place: int = 0
    """Of an IP fragment: where it is in the whole."""


def layers(frame: Frame, plain: frozenset[int] = frozenset()) -> list[Layer]:
    """The layers of a frame, the outermost first; up to the first that isn't understood, none if that is the first.

    `plain`: UDP ports that carry no tunnel.
    """
    return _LayerWalk(frame, plain).walk()


class _LayerWalk:
    """One walk through a frame."""

    def __init__(self, frame: Frame, plain: frozenset[int]) -> None:
        self.data = frame.data
        self.link = frame.link
        self.plain = plain
        self.out: list[Layer] = []
        self.stop = max(frame.wire_len, len(frame.data))

    def walk(self) -> list[Layer]:
        following: Next = self.first()
        while not isinstance(following, str) and len(self.out) < _MOST:
            following = self.header(*following)
        return self.out

    def u16(self, at: int) -> int:
        return int.from_bytes(self.data[at : at + 2])

    def add(self, kind: str, start: int, body: int, stop: int) -> None:
        self.out.append(Layer(kind, start, body, stop))

    def first(self) -> Next:
        """What the header of the link says comes next."""
        link, start = self.link, 0
        if link in PKTAPS and self.data[4:8] == b"\1\0\0\0":
            size, link = (int.from_bytes(self.data[at : at + 4], "little") for at in (0, 8))
            if not _PKTAP_KEPT <= size <= len(self.data):
                return "short PKTAP"
            self.add(VERBATIM, 0, _PKTAP_KEPT, self.stop)
            start = size
        return self.linked(link, start)

    def linked(self, link: int, start: int) -> Next:
        """What the header of a link type at `start` says comes next."""
        data, stop = self.data, self.stop
        if link in LINKS and LINKS[link][0] not in _LOGS:
            kind, size = LINKS[link]
            if size:
                self.add(VERBATIM, start, start + size, stop)
            return kind, start + size, stop
        if link in LOOPBACK:
            head = data[start : start + 4]
            self.add(VERBATIM, start, start + 4, stop)
            return FAMILIES.get(min(int.from_bytes(head, "little"), int.from_bytes(head)), -1), start + 4, stop
        if link in (SLL, SLL2):
            station, size, kind_at = (6, 16, 14) if link == SLL else (12, 20, 0)
            self.add(VERBATIM, start, start + station, stop)
            self.add(STATION, start + station, start + station + 8, stop)
            self.add(VERBATIM, start + station + 8, start + size, stop)
            return self.u16(start + kind_at), start + size, stop
        return "another link"

    def header(self, kind: int, start: int, stop: int) -> Next:
        """Adds the header at `start`; what follows it."""
        if kind == ANY_IP:
            kind = {4: IPV4, 6: IPV6}.get(self.data[start] >> 4 if start < len(self.data) else 0, -1)
        if kind in (IPV4, IPV6):
            return self.ipv4(start, stop) if kind == IPV4 else self.ipv6(start, stop)
        if kind in RAW_ETHERTYPES and any(layer.kind in (MAC, STATION) for layer in self.out):
            self.add(VERBATIM, start, start + 2, stop)
            self.add(PAYLOAD, start + 2, start + 2, start + 2 + self.u16(start))
            return "the end"
        header = HEADERS.get(kind)
        if header is None or kind in _LOGS:
            return "something else"
        following = header(self.data, start, stop)
        if kind == ETHERNET:
            if len(self.data) >= start + 14:
                self.add(MAC, start, start + 14, stop)
        elif not isinstance(following, str):
            self.add(VERBATIM, start, following[1], stop)
        return following

    def ipv4(self, start: int, stop: int) -> Next:
        data = self.data
        body = start + (data[start] & 15) * 4 if start < len(data) else 0
        if len(data) < start + 20 or data[start] >> 4 != 4 or body < start + 20:
            return "bad IPv4"
        total, fragment, protocol = self.u16(start + 2), self.u16(start + 6), data[start + 9]
        stop = min(stop, start + total) if total else stop
        if body > stop:
            return "bad IPv4"
        self.add(IP4, start, body, stop)
        if fragment & 0x3FFF:
            key = data[start + 4 : start + 6] + data[start + 9 : start + 10] + data[start + 12 : start + 20]
            return self.fragment(protocol, key, (fragment & 0x1FFF) * 8, body, stop)
        while protocol == _AUTHENTICATION and len(data) >= body + 8:
            self.add(VERBATIM, body, body + 2, stop)  # what follows, and where
            protocol, body = data[body], body + (data[body + 1] + 2) * 4
        return self.transport(protocol, body, stop)

    def ipv6(self, start: int, stop: int) -> Next:
        data = self.data
        if len(data) < start + 40 or data[start] >> 4 != 6:
            return "bad IPv6"
        length, header, body = self.u16(start + 4), data[start + 6], start + 40
        stop = min(stop, body + length) if length else stop
        place, key = 0, b""
        while header in _EXTENSIONS and not key:
            if len(data) < body + 8:
                return "short IPv6"
            this, header, size = header, data[body], data[body + 1]
            if this == _IPV6_FRAGMENT:
                place, size = self.u16(body + 2), 0
                key = data[start + 8 : start + 40] + data[body + 4 : body + 8] if place & 0xFFF9 else b""
            body += (size + 2) * 4 if this == _AUTHENTICATION else (size + 1) * 8
        if body > stop:
            return "bad IPv6"
        self.add(IP6, start, body, stop)
        return self.fragment(header, key, place & 0xFFF8, body, stop) if key else self.transport(header, body, stop)

    def fragment(self, protocol: int, key: bytes, place: int, body: int, stop: int) -> Next:
        self.out.append(Layer(FRAGMENT, body, body, stop, key, place))
        if not place and protocol == _UDP and len(self.data) >= body + 8:
            self.add(UDP, body, body + 8, stop)
        return "a fragment"

    def transport(self, protocol: int, start: int, stop: int) -> Next:
        data = self.data
        if protocol == _TCP and len(data) >= start + 14:
            body = start + (data[start + 12] >> 2 & 0x3C)
            if start + 20 <= body <= stop:
                self.add(TCP, start, body, stop)
                self.add(PAYLOAD, body, body, stop)
            return "the end"
        if protocol == _UDP and min(len(data), stop) >= start + 8:
            return self.udp(start, stop)
        tunnel = PROTOCOLS.get(protocol)
        following = tunnel(data, start, stop) if tunnel is not None else "another protocol"
        if not isinstance(following, str):
            self.add(VERBATIM, start, following[1], stop)
        return following

    def udp(self, start: int, stop: int) -> Next:
        length = self.u16(start + 4)
        stop = min(stop, start + length) if length else stop
        body = start + 8
        if stop < body:
            return "bad UDP"
        self.add(UDP, start, body, stop)
        port = self.u16(start + 2)
        tunnel = PORTS.get(port)
        if tunnel is not None and not self.plain & {port, self.u16(start)}:
            following = tunnel(self.data, body, stop)
            if following is not None:
                if isinstance(following, str) or port in _HOLD_ADDRESSES:
                    return "a tunnel that isn't followed"
                self.add(VERBATIM, body, body + _GENEVE_KEPT if port == _GENEVE else following[1], stop)
                return following
        self.add(PAYLOAD, body, body, stop)
        return "the end"
