"""IPv4 and IPv6: from an IP packet to a TCP segment or a UDP datagram; IP fragments are put together.

Total: any bytes give a record or None, never an exception, and what isn't understood is counted. Checksums are not
verified, because a capture on the sending machine holds packets whose checksums the network card fills in later.

Positions: `stop` is where the packet ends on the wire, in the coordinates of `data`; it lies beyond `len(data)` where
the capture cut the frame.
"""

from collections.abc import Callable
from copy import deepcopy
from struct import Struct, error

from zdissect.flow.envelope import Envelope, Found
from zdissect.flow.headers import Next
from zdissect.flow.ipfragments import Fragment, FragmentHeader, Fragments
from zdissect.flow.protocol_numbers import protocol as protocol_name
from zdissect.flow.tunnels import PORTS, PROTOCOLS
from zdissect.flow.unopened import Unopened
from zdissect.limits import Quota
from zdissect.records import Datagram, Endpoint, Frame, Segment

_TCP, _UDP = 6, 17
_IPV4 = Struct(">BxHHHxB")
"""Version and header length, total length, identification, flags and fragment offset, protocol."""
_IPV4_TCP = Struct(">BxHxxHxB14xIIBB")
"""An IPv4 header without options and the TCP header after it: as above, then seq, ack, data offset, flags."""
_IPV6 = Struct(">BxxxHB")
"""Version, payload length, next header."""
_IPV6_TCP = Struct(">BxxxHB37xIIBB")
"""An IPv6 header and the TCP header right after it."""
_TCP_HEADER = Struct(">4xIIBB")

_AUTHENTICATION, _FRAGMENT = 51, 44
_EXTENSIONS = frozenset({0, 43, 60, 135, 139, 140, _AUTHENTICATION, _FRAGMENT})
"""IPv6 headers that carry the number of the next one: hop-by-hop, routing, destination, mobility, HIP, shim6..."""

MAX_PAIRS = 1 << 13
"""Pairs of endpoints remembered; a port scan must not fill the memory."""
MAX_DEPTH = 8
"""Most IP packets inside each other. Two are ordinary, three happen (a tunnel over another one)."""
_new = tuple.__new__  # NamedTuple's own constructor takes twice the time


Decode = Callable[[Envelope, int, int, int], Found]
"""Decodes a packet of some EtherType between two positions."""


class Packets:
    """Decodes IP packets; holds the fragments that wait for others."""

    def __init__(self, unopened: Unopened, decode: Decode, plain: frozenset[int]) -> None:
        """`decode`: for what tunnels carry. `plain`: UDP ports that carry no tunnel."""
        self._unopened = unopened
        self._decode = decode
        self._plain = plain
        self._pairs: dict[bytes, tuple[Endpoint, Endpoint]] = {}
        self._fragments = Fragments(unopened)

    def limit(self, store: Quota[bytes]) -> None:
        """Count the fragments that wait in a store."""
        self._fragments.store = store

    def take_over(self, other: "Packets") -> None:
        """Take over copies of the fragments that wait."""
        self._fragments = deepcopy(other._fragments)

    def close(self) -> None:
        """Count the fragments that never became a datagram."""
        self._fragments.close()

    def any(self, frame: Frame, data: bytes, start: int, stop: int, envelope: Envelope | None = None) -> Found:
        """Decode the IP packet at `start`, its version taken from its first byte."""
        version = data[start] >> 4 if start < len(data) else 0
        if version == 4:
            return self.ipv4(frame, data, start, stop, envelope)
        if version == 6:
            return self.ipv6(frame, data, start, stop, envelope)
        return self._ignore(frame, "not IP" if start < len(data) else "short IP")

    def ipv4(self, frame: Frame, data: bytes, start: int, stop: int, envelope: Envelope | None = None) -> Found:
        """Decode the IPv4 packet at `start`. `envelope`: where `data` is from, if it isn't just the frame."""
        try:
            first, total, fragment, protocol, seq, ack, size, flags = _IPV4_TCP.unpack_from(data, start)
        except error:
            return self._ipv4(frame, data, start, stop, envelope)
        body = start + 20 + (size >> 2 & 0x3C)
        end = start + total
        # the common case, all at once: TCP, no IP options, no fragment, nothing cut off
        if first != 0x45 or protocol != _TCP or fragment & 0x3FFF or size < 0x50 or not body <= end <= len(data):
            return self._ipv4(frame, data, start, stop, envelope)
        ends = data[start + 12 : start + 24]
        src, dst = self._pairs.get(ends) or self._pair(ends)
        if envelope is None:
            return _new(Segment, (frame, src, dst, seq, ack, flags, data[body:end], 0, body))
        if end > stop:  # longer than the tunnel around it
            return self._ipv4(frame, data, start, stop, envelope)
        return _new(Segment, (frame, src, dst, seq, ack, flags, data[body:end], 0, envelope.frame_offset(body)))

    def _ipv4(self, frame: Frame, data: bytes, start: int, stop: int, envelope: Envelope | None) -> Found:
        if len(data) < start + 20:
            return self._ignore(frame, "short IPv4")
        if envelope is None:
            envelope = _new(Envelope, (frame, data, True, 0, ()))
            stop = max(stop, len(data))
        first, total, identification, fragment, protocol = _IPV4.unpack_from(data, start)
        body = start + (first & 15) * 4
        if total:  # 0: segmentation offload, longer than the field can say; else whatever follows is Ethernet padding
            stop = min(stop, start + total)
        if first >> 4 != 4 or not start + 20 <= body <= stop:
            return self._ignore(frame, "bad IPv4")
        addresses = data[start + 12 : start + 20]
        if not fragment & 0x3FFF:
            while protocol == _AUTHENTICATION and len(data) >= body + 8:
                protocol, body = data[body], body + (data[body + 1] + 2) * 4
            return self._transport(envelope, protocol, addresses, body, stop)
        key = addresses + bytes((protocol, identification >> 8, identification & 255))
        header = FragmentHeader(key, addresses, protocol, (fragment & 0x1FFF) * 8, bool(fragment & 0x2000))
        return self._fragment(envelope, header, body, stop)

    def ipv6(self, frame: Frame, data: bytes, start: int, stop: int, envelope: Envelope | None = None) -> Found:
        """Decode the IPv6 packet at `start`, past its extension headers. `envelope`: as of `ipv4`."""
        try:
            first, length, header, seq, ack, size, flags = _IPV6_TCP.unpack_from(data, start)
        except error:
            return self._ipv6(frame, data, start, stop, envelope)
        body = start + 40 + (size >> 2 & 0x3C)
        end = start + 40 + length
        if first >> 4 != 6 or header != _TCP or size < 0x50 or not body <= end <= len(data):
            return self._ipv6(frame, data, start, stop, envelope)
        ends = data[start + 8 : start + 44]
        src, dst = self._pairs.get(ends) or self._pair(ends)
        if envelope is None:
            return _new(Segment, (frame, src, dst, seq, ack, flags, data[body:end], 0, body))
        if end > stop:  # longer than the tunnel around it
            return self._ipv6(frame, data, start, stop, envelope)
        return _new(Segment, (frame, src, dst, seq, ack, flags, data[body:end], 0, envelope.frame_offset(body)))

    def _ipv6(self, frame: Frame, data: bytes, start: int, stop: int, envelope: Envelope | None) -> Found:
        if len(data) < start + 40:
            return self._ignore(frame, "short IPv6")
        if envelope is None:
            envelope = _new(Envelope, (frame, data, True, 0, ()))
            stop = max(stop, len(data))
        first, length, header = _IPV6.unpack_from(data, start)
        if first >> 4 != 6:
            return self._ignore(frame, "bad IPv6")
        addresses = data[start + 8 : start + 40]
        body = start + 40
        if length:  # 0: a jumbogram or segmentation offload
            stop = min(stop, body + length)
        while header in _EXTENSIONS:
            if len(data) < body + 8:
                return self._ignore(frame, "short IPv6")
            this, header, size = header, data[body], data[body + 1]
            if this == _FRAGMENT:
                offset = int.from_bytes(data[body + 2 : body + 4])
                if offset & 0xFFF9:  # else an "atomic fragment", which is whole (RFC 6946)
                    key = addresses + data[body + 4 : body + 8]
                    fragment = FragmentHeader(key, addresses, header, offset & 0xFFF8, bool(offset & 1))
                    return self._fragment(envelope, fragment, body + 8, stop)
                size = 0
            body += (size + 2) * 4 if this == _AUTHENTICATION else (size + 1) * 8
        return self._transport(envelope, header, addresses, body, stop)

    def _fragment(self, envelope: Envelope, header: FragmentHeader, body: int, stop: int) -> Found:
        frame, data, addresses = envelope.frame, envelope.data, header.addresses
        if stop <= body:
            return self._ignore(frame, "bad IP fragment")
        sender, captured = addresses[: len(addresses) // 2], data[body : min(stop, len(data))]
        whole = self._fragments.feed(
            Fragment(header.key, sender, frame, envelope.numbers(), header.start, stop - body, header.more, captured)
        )
        if whole is None:
            return None
        # an IPv6 fragment after the first names the next header too, but only the first one's counts (RFC 8200, 4.5);
        # they differ only in forged packets, and then the datagram is the one that completes it
        put_together = Envelope(frame, whole.data, False, envelope.depth, whole.frames)
        return self._transport(put_together, header.protocol, addresses, 0, whole.size)

    def _transport(self, envelope: Envelope, protocol: int, addresses: bytes, body: int, stop: int) -> Found:
        if protocol == _TCP:
            return self._tcp(envelope, addresses, body, stop)
        if protocol == _UDP:
            return self._udp(envelope, addresses, body, stop)
        tunnel = PROTOCOLS.get(protocol)
        if tunnel is not None:
            return self._inner(envelope, tunnel(envelope.data, body, stop))
        return self._ignore(envelope.frame, protocol_name(protocol))

    def _inner(self, envelope: Envelope, content: Next) -> Found:
        """Decode what a tunnel carries."""
        if isinstance(content, str):
            return self._ignore(envelope.frame, content)
        if envelope.depth + 1 >= MAX_DEPTH:
            return self._ignore(envelope.frame, f"more than {MAX_DEPTH} IP packets inside each other")
        return self._decode(envelope._replace(depth=envelope.depth + 1), *content)

    def _tcp(self, envelope: Envelope, addresses: bytes, start: int, stop: int) -> Found:
        frame, data = envelope.frame, envelope.data
        if min(len(data), stop) < start + 14:
            return self._ignore(frame, "short TCP")
        seq, ack, size, flags = _TCP_HEADER.unpack_from(data, start)
        body = start + (size >> 2 & 0x3C)
        if size < 0x50 or body > stop:
            return self._ignore(frame, "bad TCP")
        src, dst = self._ends(addresses, data, start)
        payload, missing = data[body : min(stop, len(data))], stop - max(body, min(stop, len(data)))
        return Segment(frame, src, dst, seq, ack, flags, payload, missing, envelope.frame_offset(body))

    def _udp(self, envelope: Envelope, addresses: bytes, start: int, stop: int) -> Found:
        frame, data, inside, _, frames = envelope
        body = start + 8
        if min(len(data), stop) < body:
            return self._ignore(frame, "short UDP")
        length = int.from_bytes(data[start + 4 : start + 6])
        if length:  # 0: longer than the field can say
            stop = min(stop, start + length)
        if stop < body:
            return self._ignore(frame, "bad UDP")
        src, dst = self._ends(addresses, data, start)
        tunnel = PORTS.get(dst.port)
        if tunnel is not None and not self._plain & {src.port, dst.port}:
            content = tunnel(data, body, stop)
            if content is not None:
                return self._inner(envelope, content)
        payload, missing = data[body : min(stop, len(data))], max(0, stop - len(data))
        offset = body if inside else -1
        return _new(Datagram, (frame, src, dst, payload, missing, offset, frames or (frame[1],), "udp"))

    def _ends(self, addresses: bytes, data: bytes, start: int) -> tuple[Endpoint, Endpoint]:
        ends = addresses + data[start : start + 4]
        return self._pairs.get(ends) or self._pair(ends)

    def _pair(self, ends: bytes) -> tuple[Endpoint, Endpoint]:
        """The two ends from both addresses and both ports; cached, as there are few of them and many packets."""
        if len(self._pairs) >= MAX_PAIRS:
            self._pairs.clear()
        half = (len(ends) - 4) // 2
        src = Endpoint(ends[:half], int.from_bytes(ends[-4:-2]))
        dst = Endpoint(ends[half:-4], int.from_bytes(ends[-2:]))
        return self._pairs.setdefault(ends, (src, dst))

    def _ignore(self, frame: Frame, what: str) -> Found:
        self._unopened.add(frame.source, what)
        return None
