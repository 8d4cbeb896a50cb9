"""Captures made on several interfaces, for tests: each packet of a conversation on every one."""

from dataclasses import dataclass
from struct import pack

from tests.packets import CaptureBuilder
from zdissect.records import Frame

US = 1000
SLL, SLL2, ETHERNET, RAW = 113, 276, 1, 101


def link_header(link: int, interface: int, version: int = 4) -> bytes:
    """What stands before an IP packet on an interface."""
    ethertype = 0x0800 if version == 4 else 0x86DD
    if link == SLL2:
        return pack(">HHIHBB8s", ethertype, 0, interface, 1, 4 if interface == 5 else 0, 6, bytes(8))
    if link == SLL:
        return pack(">HHH8sH", 4 if interface == 5 else 0, 1, 6, bytes(8), ethertype)
    if link == ETHERNET:
        return bytes(11) + bytes((interface,)) + pack(">H", ethertype)
    return b""


@dataclass
class InterfaceCopies:
    """How each packet of a conversation is captured."""

    link: int = SLL2
    interfaces: tuple[int, ...] = (5, 3)
    apart_ns: int = 10 * US
    numbered: bool = True
    version: int = 4

    def of(self, capture: CaptureBuilder, number: int = 1000) -> CaptureBuilder:
        """A capture with every packet of another one (Ethernet, IPv4) on each interface."""
        out = CaptureBuilder()
        for index, frame in enumerate(capture.frames):
            packet = self.packet(frame.data[14:], number + index if self.numbered else 0)
            for place, interface in enumerate(self.interfaces):
                data = link_header(self.link, interface, self.version) + packet
                ts_ns = frame.ts_ns + place * self.apart_ns
                out.frames.append(Frame("test", len(out.frames) + 1, ts_ns, self.link, len(data), data))
        return out

    def packet(self, ip: bytes, number: int) -> bytes:
        """An IP packet with its number, or as IPv6."""
        if self.version == 4:
            return ip[:4] + pack(">H", number) + ip[6:]
        addresses = bytes(12) + ip[12:16] + bytes(12) + ip[16:20]
        return pack(">IHBB", 0x60000000, len(ip) - 20, 17, 64) + addresses + ip[20:]
