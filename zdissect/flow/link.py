"""The link layer: from a captured frame to the TCP segment or UDP datagram in it."""

from collections import Counter
from typing import Final

from zdissect.flow.ip import Found, Packets
from zdissect.records import Frame

_ETHERNET = 1
_LOOPBACK = frozenset({0, 108})
"""NULL (host byte order of the capturing machine) and LOOP (network byte order)."""
_RAW = frozenset({12, 14, 101, 228, 229})
_SLL, _SLL2 = 113, 276

_IPV4, _IPV6 = 0x0800, 0x86DD
_TAGS = frozenset({0x8100, 0x88A8, 0x9100})
"""Ethertypes of a VLAN tag: 802.1Q, 802.1ad and the QinQ that came before it."""
_ETHERTYPES = {0x0806: "arp", 0x88CC: "lldp", 0x8863: "pppoe", 0x8864: "pppoe", 0x888E: "802.1x"}
_FAMILIES = {2: _IPV4, 10: _IPV6, 24: _IPV6, 28: _IPV6, 30: _IPV6}
"""AF_INET, and AF_INET6 of Linux, the BSDs and macOS."""


class Decoder:
    """Turns frames into segments and datagrams. State: the IP fragments that wait for others.

    `ignored` counts what gave neither, by reason: "arp", "icmp", "link type 147", "short ethernet"...
    """

    def __init__(self) -> None:
        self.ignored: Final[Counter[str]] = Counter()
        self._packets: Final = Packets(self.ignored)

    def feed(self, frame: Frame) -> Found:
        """Decode one frame.

        None: it holds no TCP or UDP (see `ignored`), or an IP fragment that waits for others. Never raises.
        """
        _, _, _, link, stop, data = frame
        if link == _ETHERNET:
            kind = data[12:14]
            if kind == b"\x08\x00":
                return self._packets.ipv4(frame, data, 14, stop)
            if kind == b"\x86\xdd":
                return self._packets.ipv6(frame, data, 14, stop)
            return self._tagged(frame, 12, 14, "ethernet")
        if link in _LOOPBACK:
            return self._loopback(frame)
        if link in _RAW:
            return self._packets.any(frame, data, 0, frame.wire_len)
        if link == _SLL:
            return self._tagged(frame, 14, 16, "linux sll")
        if link == _SLL2:
            return self._tagged(frame, 0, 20, "linux sll2")
        return self._foreign(frame)

    def close(self) -> None:
        """Count the IP fragments that are left over."""
        self._packets.close()

    def _tagged(self, frame: Frame, type_at: int, start: int, name: str) -> Found:
        """Decode what follows an ethertype at `type_at` and starts at `start`, past any VLAN tags."""
        data = frame.data
        ethertype = int.from_bytes(data[type_at : type_at + 2])
        while ethertype in _TAGS and len(data) >= start + 4:
            ethertype = int.from_bytes(data[start + 2 : start + 4])
            start += 4
        if len(data) < start:
            return self._ignore(f"short {name}")
        return self._content(frame, ethertype, start)

    def _content(self, frame: Frame, ethertype: int, start: int) -> Found:
        if ethertype == _IPV4:
            return self._packets.ipv4(frame, frame.data, start, frame.wire_len)
        if ethertype == _IPV6:
            return self._packets.ipv6(frame, frame.data, start, frame.wire_len)
        if ethertype < 0x0600:
            return self._ignore("802.3 length")
        return self._ignore(_ETHERTYPES.get(ethertype) or f"ethertype 0x{ethertype:04x}")

    def _loopback(self, frame: Frame) -> Found:
        data = frame.data
        if len(data) < 4:
            return self._ignore("short loopback")
        family = int.from_bytes(data[:4], "little")
        if family > 0xFFFF:
            family = int.from_bytes(data[:4])
        ethertype = _FAMILIES.get(family)
        if ethertype is None:
            return self._ignore(f"address family {family}")
        return self._content(frame, ethertype, 4)

    def _foreign(self, frame: Frame) -> Found:
        from zdissect.flow.foreign import find_ip  # scapy behind it: only where a capture needs it

        found = find_ip(frame.link, frame.data)
        if found is None:
            return self._ignore(f"link type {frame.link}")
        packet, start = found
        if start < 0:
            return self._packets.any(frame, packet, 0, len(packet), inside=False)
        return self._packets.any(frame, frame.data, start, frame.wire_len)

    def _ignore(self, what: str) -> Found:
        self.ignored[what] += 1
        return None
