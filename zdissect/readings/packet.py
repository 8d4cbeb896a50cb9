"""Whole packets, as tcpdump -X and Wireshark show them: link, IP and transport headers, then Zenoh.

Only the IP header decides whether this is a packet; the decoder of captures then does the work, and is imported only
for that.
"""

from collections.abc import Callable
from ipaddress import ip_address

from zdissect.grammar.ports import RAW_ETHERTYPES
from zdissect.readings.attempt import GIVEN, Attempt
from zdissect.records import RAW_ETHERNET, Endpoint, Frame, Segment

_ETHERNET = 1
_LINKS = ((101, 0), (_ETHERNET, 14), (_ETHERNET, 18), (_ETHERNET, 22), (0, 4), (113, 16), (276, 20))
"""LINKTYPE_ values and where their IP header begins: raw IP; Ethernet, also with a VLAN tag or an MPLS label, two of
them, or PPPoE; loopback; `any`."""
_STATIONS = 12
"""Bytes before the EtherType: two MAC addresses."""
_TRANSPORTS = (6, 17)
_PADDING = 46
"""Bytes that an Ethernet frame's payload is padded to."""
_KINDS = {"udp": "UDP packet", RAW_ETHERNET: "frame of raw Ethernet"}
_TCP = ("stream", "lowlatency", "compressed")
_UDP = ("scouting", "datagram", "compressed")
_CHECKSUM = 16.0
_SHAPE = 12.0
"""Evidence in bits of an IP header whose checksum is right, and of one that only looks right."""

Best = Callable[[bytes, tuple[str, ...]], tuple[str, Attempt]]
"""The best reading of some bytes among those named."""


def read(data: bytes, best: Best) -> list[Attempt]:
    """The bytes as one packet, with its TCP or UDP payload as Zenoh; nothing if they aren't a packet."""
    for link, start in _LINKS:
        evidence = _ip_header(data, start)
        if evidence and (attempt := _dissect(data, link, best)):
            return [attempt._replace(evidence=attempt.evidence + evidence)]
    evidence = _raw_ethernet(data)
    if evidence and (attempt := _dissect(data, _ETHERNET, best)):
        return [attempt._replace(evidence=attempt.evidence + evidence)]
    return []


def _raw_ethernet(data: bytes) -> float:
    """Evidence that this is a frame of zenoh-pico's raw Ethernet: its EtherType, and a length that fits."""
    at = _STATIONS + (4 if data[_STATIONS : _STATIONS + 2] == b"\x81\0" else 0)
    start = at + 4
    end = start + int.from_bytes(data[at + 2 : start])
    fits = start < end <= len(data) and not data[end:].strip(b"\0")
    return _CHECKSUM + _SHAPE if fits and int.from_bytes(data[at : at + 2]) in RAW_ETHERTYPES else 0.0


def _ip_header(data: bytes, start: int) -> float:
    """Evidence that an IP header stands at `start`; 0 if none does."""
    head = data[start : start + 40]
    if len(head) < 28:
        return 0.0
    if head[0] >> 4 == 6:
        size, transport, evidence = 40 + int.from_bytes(head[4:6]), head[6], _SHAPE
    elif head[0] >> 4 == 4 and head[0] & 15 >= 5:
        size, transport = int.from_bytes(head[2:4]), head[9]
        evidence = _CHECKSUM + (_SHAPE if _sum(data[start : start + 4 * (head[0] & 15)]) == 0xFFFF else 0.0)
    else:
        return 0.0
    extra = len(data) - start - size
    proven = evidence > _CHECKSUM
    fits = proven or extra <= 0 or size < _PADDING
    return evidence if fits and (proven or transport in _TRANSPORTS) else 0.0


def _sum(header: bytes) -> int:
    """The Internet checksum (RFC 1071) before it is inverted: 0xFFFF for a sound header."""
    total = sum(int.from_bytes(header[at : at + 2]) for at in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _dissect(data: bytes, link: int, best: Best) -> Attempt | None:
    """The payload of a packet."""
    from zdissect.flow import other_protocols
    from zdissect.flow.link import Decoder  # only here: plain hex doesn't need it

    decoder = Decoder()
    carried = decoder.feed(Frame(GIVEN, 1, 0, link, len(data), data))
    if carried is None:
        reason = decoder.unopened.last
        return Attempt(f"a packet without TCP or UDP ({reason or 'an IP fragment'})", [])
    tcp = isinstance(carried, Segment)
    kind = "TCP packet" if isinstance(carried, Segment) else _KINDS[carried.link]
    who = f"a {kind} {_end(carried.src)} > {_end(carried.dst)}"
    if not carried.payload:
        return Attempt(f"{who}, without payload", [])
    other = other_protocols.of_stream(carried.payload) if tcp else other_protocols.of_datagram(carried.payload)
    if other:
        return Attempt(f"{who}: {other.value}, not Zenoh", [])
    name, inner = best(carried.payload, _TCP if tcp else _UDP)
    units = [unit._replace(base=unit.base + carried.offset) if unit.given else unit for unit in inner.units]
    return Attempt(f"{who}: {inner.title} ({name})", units, inner.fit, inner.evidence)


def _end(end: Endpoint) -> str:
    """`10.0.0.1:7447`, `[fe80::1]:7447`, `02:00:00:00:00:01`."""
    if len(end.address) not in (4, 16):
        return end.address.hex(":") or "?"
    address = ip_address(end.address)
    return f"[{address}]:{end.port}" if address.version == 6 else f"{address}:{end.port}"
