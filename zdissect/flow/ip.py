"""IPv4 and IPv6: from an IP packet to a TCP segment or a UDP datagram; IP fragments are put together.

Total: any bytes give a record or None, never an exception, and what was not understood is counted. Checksums are not
looked at, because a capture on the sending machine holds packets whose checksums the network card fills in later.

Positions: `stop` is where the packet ends on the wire, in the coordinates of `data`; it lies beyond `len(data)` where
the capture cut the frame. `inside` says whether `data` is the frame's own bytes (else offsets are reported as -1).
"""

from collections import Counter
from struct import Struct, error

from zdissect.flow.ipfragments import Fragments
from zdissect.records import Datagram, Endpoint, Frame, Segment

Found = Segment | Datagram | None
"""What a packet gives: None where it holds neither, or is a fragment that waits for others."""

_TCP, _UDP = 6, 17
_IPV4 = Struct(">BxHHHxB")
"""Version and header length, total length, identification, flags and fragment offset, protocol."""
_IPV4_TCP = Struct(">BxHxxHxB14xIIBB")
"""An IPv4 header without options and the TCP header behind it: as above, then seq, ack, data offset, flags."""
_IPV6 = Struct(">BxxxHB")
"""Version, payload length, next header."""
_IPV6_TCP = Struct(">BxxxHB37xIIBB")
"""An IPv6 header and the TCP header right behind it."""
_TCP_HEADER = Struct(">4xIIBB")

_AUTHENTICATION, _FRAGMENT = 51, 44
_EXTENSIONS = frozenset({0, 43, 60, 135, 139, 140, _AUTHENTICATION, _FRAGMENT})
"""IPv6 headers that carry the number of the next one: hop-by-hop, routing, destination, mobility, HIP, shim6..."""
_PROTOCOLS = {1: "icmp", 2: "igmp", 50: "esp", 58: "icmpv6", 59: "ip without content", 132: "sctp"}

MAX_PAIRS = 1 << 16
"""Pairs of endpoints remembered; a port scan must not fill the memory."""
_new = tuple.__new__  # NamedTuple's own constructor takes twice the time


class Packets:
    """Decodes IP packets; holds the fragments that wait for others."""

    def __init__(self, ignored: Counter[str]) -> None:
        self._ignored = ignored
        self._pairs: dict[bytes, tuple[Endpoint, Endpoint]] = {}
        self._fragments = Fragments(ignored)

    def close(self) -> None:
        """Count the fragments that never became a datagram."""
        self._fragments.close()

    def any(self, frame: Frame, data: bytes, start: int, stop: int, inside: bool = True) -> Found:
        """Decode the IP packet at `start`, its version taken from its first byte."""
        version = data[start] >> 4 if start < len(data) else 0
        if version == 4:
            return self.ipv4(frame, data, start, stop, inside)
        if version == 6:
            return self.ipv6(frame, data, start, stop, inside)
        return self._ignore("not ip")

    def ipv4(self, frame: Frame, data: bytes, start: int, stop: int, inside: bool = True) -> Found:
        """Decode the IPv4 packet at `start`."""
        try:
            first, total, fragment, protocol, seq, ack, size, flags = _IPV4_TCP.unpack_from(data, start)
        except error:
            return self._ipv4(frame, data, start, stop, inside)
        body = start + 20 + (size >> 2 & 0x3C)
        end = start + total
        # the common case, all at once: TCP, no IP options, no fragment, nothing cut off
        if first != 0x45 or protocol != _TCP or fragment & 0x3FFF or size < 0x50 or not body <= end <= len(data):
            return self._ipv4(frame, data, start, stop, inside)
        ends = data[start + 12 : start + 24]
        src, dst = self._pairs.get(ends) or self._pair(ends)
        return _new(Segment, (frame, src, dst, seq, ack, flags, data[body:end], 0, body if inside else -1))

    def _ipv4(self, frame: Frame, data: bytes, start: int, stop: int, inside: bool) -> Found:
        if len(data) < start + 20:
            return self._ignore("short ipv4")
        stop = max(stop, len(data))  # files exist whose records claim less than they hold
        first, total, identification, fragment, protocol = _IPV4.unpack_from(data, start)
        body = start + (first & 15) * 4
        if total:  # 0: segmentation offload, longer than the field can say; else whatever follows is Ethernet padding
            stop = min(stop, start + total)
        if first >> 4 != 4 or not start + 20 <= body <= stop:
            return self._ignore("bad ipv4")
        addresses = data[start + 12 : start + 20]
        if not fragment & 0x3FFF:
            return self._transport(frame, data, protocol, addresses, body, stop, inside)
        key = addresses + bytes((protocol, identification >> 8, identification & 255))
        more = bool(fragment & 0x2000)
        return self._fragment(frame, data, protocol, addresses, key, (fragment & 0x1FFF) * 8, more, body, stop)

    def ipv6(self, frame: Frame, data: bytes, start: int, stop: int, inside: bool = True) -> Found:
        """Decode the IPv6 packet at `start`, past its extension headers."""
        try:
            first, length, header, seq, ack, size, flags = _IPV6_TCP.unpack_from(data, start)
        except error:
            return self._ipv6(frame, data, start, stop, inside)
        body = start + 40 + (size >> 2 & 0x3C)
        end = start + 40 + length
        if first >> 4 != 6 or header != _TCP or size < 0x50 or not body <= end <= len(data):
            return self._ipv6(frame, data, start, stop, inside)
        ends = data[start + 8 : start + 44]
        src, dst = self._pairs.get(ends) or self._pair(ends)
        return _new(Segment, (frame, src, dst, seq, ack, flags, data[body:end], 0, body if inside else -1))

    def _ipv6(self, frame: Frame, data: bytes, start: int, stop: int, inside: bool) -> Found:
        if len(data) < start + 40:
            return self._ignore("short ipv6")
        stop = max(stop, len(data))  # files exist whose records claim less than they hold
        first, length, header = _IPV6.unpack_from(data, start)
        if first >> 4 != 6:
            return self._ignore("bad ipv6")
        addresses = data[start + 8 : start + 40]
        body = start + 40
        if length:  # 0: a jumbogram or segmentation offload
            stop = min(stop, body + length)
        while header in _EXTENSIONS:
            if len(data) < body + 8:
                return self._ignore("short ipv6")
            this, header, size = header, data[body], data[body + 1]
            if this == _FRAGMENT:
                place = int.from_bytes(data[body + 2 : body + 4])
                if place & 0xFFF9:  # else an "atomic fragment", which is whole (RFC 6946)
                    key = addresses + data[body + 4 : body + 8]
                    more = bool(place & 1)
                    return self._fragment(frame, data, header, addresses, key, place & 0xFFF8, more, body + 8, stop)
                size = 0
            body += (size + 2) * 4 if this == _AUTHENTICATION else (size + 1) * 8
        return self._transport(frame, data, header, addresses, body, stop, inside)

    def _fragment(
        self,
        frame: Frame,
        data: bytes,
        protocol: int,
        addresses: bytes,
        key: bytes,
        place: int,
        more: bool,
        body: int,
        stop: int,
    ) -> Found:
        if stop <= body:
            return self._ignore("bad ip fragment")
        # an IPv6 fragment after the first names the next header too, but only the first one's counts (RFC 8200, 4.5);
        # they differ only in forged packets, and then the datagram is the one that completes it
        whole = self._fragments.feed(key, frame, place, more, data[body : min(stop, len(data))], stop - body)
        if whole is None:
            return None
        return self._transport(frame, whole.data, protocol, addresses, 0, whole.size, False, whole.frames)

    def _transport(
        self,
        frame: Frame,
        data: bytes,
        protocol: int,
        addresses: bytes,
        body: int,
        stop: int,
        inside: bool,
        frames: tuple[int, ...] = (),
    ) -> Found:
        if protocol == _TCP:
            return self._tcp(frame, data, addresses, body, stop, inside)
        if protocol == _UDP:
            return self._udp(frame, data, addresses, body, stop, inside, frames or (frame.number,))
        return self._ignore(_PROTOCOLS.get(protocol) or f"ip protocol {protocol}")

    def _tcp(self, frame: Frame, data: bytes, addresses: bytes, start: int, stop: int, inside: bool) -> Found:
        if min(len(data), stop) < start + 14:
            return self._ignore("short tcp")
        seq, ack, size, flags = _TCP_HEADER.unpack_from(data, start)
        body = start + (size >> 2 & 0x3C)
        if size < 0x50 or body > stop:
            return self._ignore("bad tcp")
        src, dst = self._ends(addresses, data, start)
        payload, missing = data[body : min(stop, len(data))], stop - max(body, min(stop, len(data)))
        return Segment(frame, src, dst, seq, ack, flags, payload, missing, body if inside else -1)

    def _udp(
        self, frame: Frame, data: bytes, addresses: bytes, start: int, stop: int, inside: bool, frames: tuple[int, ...]
    ) -> Found:
        body = start + 8
        if min(len(data), stop) < body:
            return self._ignore("short udp")
        length = int.from_bytes(data[start + 4 : start + 6])
        if length:  # 0: longer than the field can say
            stop = min(stop, start + length)
        if stop < body:
            return self._ignore("bad udp")
        src, dst = self._ends(addresses, data, start)
        payload, missing = data[body : min(stop, len(data))], max(0, stop - len(data))
        return Datagram(frame, src, dst, payload, missing, body if inside else -1, frames)

    def _ends(self, addresses: bytes, data: bytes, start: int) -> tuple[Endpoint, Endpoint]:
        ends = addresses + data[start : start + 4]
        return self._pairs.get(ends) or self._pair(ends)

    def _pair(self, ends: bytes) -> tuple[Endpoint, Endpoint]:
        """The two ends from both addresses and both ports, remembered: there are few of them and many packets."""
        if len(self._pairs) >= MAX_PAIRS:
            self._pairs.clear()
        half = (len(ends) - 4) // 2
        src = Endpoint(ends[:half], int.from_bytes(ends[-4:-2]))
        dst = Endpoint(ends[half:-4], int.from_bytes(ends[-2:]))
        return self._pairs.setdefault(ends, (src, dst))

    def _ignore(self, what: str) -> Found:
        self._ignored[what] += 1
        return None
