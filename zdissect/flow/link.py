"""The link layer: from a captured frame, through all headers, to the TCP segment or UDP datagram in it."""

from typing import Final

from zdissect.flow.envelope import Envelope, Found
from zdissect.flow.headers import (
    ANY_IP,
    CISCO_HDLC,
    ETHERNET,
    FIREWALL_LOG,
    HEADERS,
    IPV4,
    IPV6,
    LLC_HEADER,
    LONGEST_LENGTH,
    MPLS,
    NETFILTER_LOG,
    PPP,
    PPPOE,
)
from zdissect.flow.ip import Packets
from zdissect.flow.protocol_numbers import ethertype, link_type
from zdissect.flow.unopened import Unopened
from zdissect.grammar.ports import RAW_ETHERTYPES
from zdissect.limits import Quota
from zdissect.records import RAW_ETHERNET, Datagram, Endpoint, Frame

_ETHERNET = 1
LOOPBACK = frozenset({0, 108})
"""NULL (host byte order of the capturing machine) and LOOP (network byte order)."""
SLL, SLL2 = 113, 276
PKTAPS = frozenset({258, 149})
"""Apple's own tcpdump writes the private number 149."""
LINKS = {
    _ETHERNET: (ETHERNET, 0), **dict.fromkeys((12, 14, 101, 228, 229), (ANY_IP, 0)),
    9: (PPP, 0), 50: (PPP, 0), 51: (PPPOE, 0), 104: (CISCO_HDLC, 0), 109: (ANY_IP, 12), 117: (FIREWALL_LOG, 0),
    166: (PPP, 2), 204: (PPP, 1), 205: (CISCO_HDLC, 1), 219: (MPLS, 0), 226: (ANY_IP, 24), 239: (NETFILTER_LOG, 0),
    240: (ETHERNET, 4), 259: (ETHERNET, 8), 274: (ETHERNET, 8), 282: (ETHERNET, 4),
}  # fmt: skip
"""Link types by the protocol that they begin with, and its offset. Raw IP; PPP; OpenBSD's ENC and Solaris's IPNET;
Ethernet after a header of Hilscher's or Broadcom's, or after its preamble."""

FAMILIES = {2: IPV4, 10: IPV6, 24: IPV6, 28: IPV6, 30: IPV6}
"""AF_INET, and AF_INET6 of Linux, the BSDs and macOS."""
_CAN = (0x0C, 0x0D, 0x0E)
"""Protocol numbers of CAN in a cooked header of Linux."""

Stations = tuple[bytes, bytes]
"""MAC addresses of sender and receiver; empty where the capture has none."""


class Decoder:
    """Turns frames into segments and datagrams. State: the IP fragments that wait for others.

    `unopened` counts frames that hold neither, by reason: "ARP", "ICMP", "link type 147 (USER0)", "short Ethernet"...
    """

    def __init__(self, plain: frozenset[int] = frozenset()) -> None:
        """`plain`: UDP ports that carry no tunnel, even if a tunnel usually has them."""
        self.unopened: Final = Unopened()
        self._plain: Final = plain
        self._packets: Final = Packets(self.unopened, self._open, plain)

    def feed(self, frame: Frame) -> Found:
        """Decode one frame.

        None: it holds no TCP or UDP (see `unopened`), or an IP fragment that waits for others. Never raises.
        """
        _, _, _, link, stop, data = frame
        if link == _ETHERNET:
            kind = data[12:14]
            if kind == b"\x08\x00":
                return self._packets.ipv4(frame, data, 14, stop)
            if kind == b"\x86\xdd":
                return self._packets.ipv6(frame, data, 14, stop)
            kind, start = (data[16:18], 18) if kind == b"\x81\x00" else (b"", 0)
        elif link == SLL:
            kind, start = data[14:16], 16
        elif link == SLL2:
            kind, start = data[:2] if len(data) >= 20 else b"", 20
        else:
            return self._linked(frame, link, 0)
        if kind == b"\x08\x00":  # the shortcut again, for the other common case
            return self._packets.ipv4(frame, data, start, stop)
        if kind == b"\x86\xdd":
            return self._packets.ipv6(frame, data, start, stop)
        return self._linked(frame, link, 0)

    def ahead(self) -> "Decoder":
        """A decoder that has come as far, to look at the next frames before it is their turn."""
        out = Decoder(self._plain)
        out._packets.take_over(self._packets)
        return out

    def limit(self, store: Quota[bytes]) -> None:
        """Count the IP fragments that wait, by sender, in a store."""
        self._packets.limit(store)

    def close(self) -> None:
        """Count the IP fragments that were never completed."""
        self._packets.close()

    def _linked(self, frame: Frame, link: int, start: int) -> Found:
        """Decode bytes that begin with the header of a link type."""
        envelope = Envelope(frame, frame.data)
        if link in LINKS:
            kind, size = LINKS[link]
            return self._open(envelope, kind, start + size, envelope.stop)
        if link == SLL:
            return self._cooked(envelope, start + 4, start + 14, start + 16)
        if link == SLL2:
            return self._cooked(envelope, start + 11, start, start + 20)
        if link in LOOPBACK:
            return self._loopback(envelope, start)
        if start:
            return self._ignore(frame, link_type(link))
        if link in PKTAPS and frame.data[4:8] == b"\x01\0\0\0":
            return self._packet_tap(frame)
        return self._foreign(frame)

    def _open(self, envelope: Envelope, kind: int, start: int, stop: int, stations: Stations | None = None) -> Found:
        """Decode a packet by its EtherType (or our own number for protocols without one), header by header."""
        frame, data = envelope.frame, envelope.data
        while True:
            if kind == IPV4:
                return self._packets.ipv4(frame, data, start, stop, envelope)
            if kind == IPV6:
                return self._packets.ipv6(frame, data, start, stop, envelope)
            if kind == ANY_IP:
                return self._packets.any(frame, data, start, stop, envelope)
            if kind in RAW_ETHERTYPES and stations is not None:
                return self._raw_ethernet(envelope, stations, start, stop)
            if kind == ETHERNET:
                stations = data[start + 6 : start + 12], data[start : start + 6]
            header = HEADERS.get(kind)
            if header is None:
                return self._ignore(frame, ethertype(kind))
            follows = header(data, start, stop)
            if isinstance(follows, str):
                return self._ignore(frame, follows)
            kind, start, stop = follows

    def _cooked(self, envelope: Envelope, address: int, type_at: int, start: int) -> Found:
        """Decode a frame of Linux's "any" device, which has only the sender's address."""
        data = envelope.data
        if len(data) < start:
            return self._ignore(envelope.frame, "short Linux cooked header")
        kind = int.from_bytes(data[type_at : type_at + 2])
        if kind <= LONGEST_LENGTH and kind != LLC_HEADER:
            return self._ignore(envelope.frame, "CAN" if kind in _CAN else f"Linux cooked protocol 0x{kind:04x}")
        size = 2 if type_at > address else 1
        known = int.from_bytes(data[address : address + size]) == 6
        sender = data[address + size : address + size + 6] if known else b""
        return self._open(envelope, kind, start, envelope.stop, (sender, b""))

    def _loopback(self, envelope: Envelope, start: int) -> Found:
        head = envelope.data[start : start + 4]
        if len(head) < 4:
            return self._ignore(envelope.frame, "short loopback")
        family = int.from_bytes(head, "little")
        if family > 0xFFFF:
            family = int.from_bytes(head)
        kind = FAMILIES.get(family)
        if kind is None:
            return self._ignore(envelope.frame, f"address family {family}")
        return self._open(envelope, kind, start + 4, envelope.stop)

    def _packet_tap(self, frame: Frame) -> Found:
        """Decode a frame of Apple's "pktap" or "any": its header tells its length and the link type that follows."""
        size, link = (int.from_bytes(frame.data[at : at + 4], "little") for at in (0, 8))
        if size < 12 or len(frame.data) < size:
            return self._ignore(frame, "short PKTAP")
        return self._linked(frame, link, size)

    def _raw_ethernet(self, envelope: Envelope, stations: Stations, start: int, stop: int) -> Found:
        """Decode a datagram of zenoh-pico without IP: a length of two bytes, because short frames are padded."""
        frame, data = envelope.frame, envelope.data
        body = start + 2
        if len(data) < body:
            return self._ignore(frame, "short raw Ethernet of zenoh-pico")
        end = body + int.from_bytes(data[start:body])
        if end > stop:
            return self._ignore(frame, "bad raw Ethernet of zenoh-pico")
        src, dst = (Endpoint(station, 0) for station in stations)
        payload = data[body:end]
        missing, frames = end - body - len(payload), envelope.numbers()
        return Datagram(frame, src, dst, payload, missing, envelope.frame_offset(body), frames, RAW_ETHERNET)

    def _foreign(self, frame: Frame) -> Found:
        from zdissect.flow.scapy_links import find_ip  # this loads scapy: only where a capture needs it

        packet_at = find_ip(frame.link, frame.data)
        if packet_at is None or isinstance(packet_at, str):
            return self._ignore(frame, packet_at or link_type(frame.link))
        packet, start = packet_at
        if start < 0:
            return self._open(Envelope(frame, packet, inside=False), ANY_IP, 0, len(packet))
        envelope = Envelope(frame, frame.data)
        return self._open(envelope, ANY_IP, start, envelope.stop)

    def _ignore(self, frame: Frame, what: str) -> Found:
        self.unopened.add(frame.source, what)
        return None
