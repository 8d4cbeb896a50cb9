"""Tunnels: what carries packets within packets, over IP or over UDP. One pure function for each, as in `headers`.

A UDP datagram on a tunnel's port counts as a tunnel only if its header is sound; None stands for an ordinary datagram.
"""

from collections.abc import Callable

from zdissect.flow.headers import ANY_IP, ETHERNET, IPV4, IPV6, MPLS, PPP, Header, Next, mpls, typed, u16
from zdissect.flow.protocol_numbers import ETHERTYPES


def gre(data: bytes, start: int, stop: int) -> Next:
    """GRE (RFC 2784, 2890): with ERSPAN, WCCP and PPTP (RFC 2637)."""
    if len(data) < start + 4:
        return "short GRE"
    flags, kind, body = u16(data, start), u16(data, start + 2), start + 4
    if flags & 7 == 1 and kind == PPP:
        body += 4 * (1 + bool(flags & 0x1000) + bool(flags & 0x80))
        return PPP, body, min(stop, body + u16(data, start + 4))
    if flags & 0x4007:
        return "GRE with source routing" if flags & 0x4000 else f"GRE version {flags & 7}"
    body += 4 * (bool(flags & 0x8000) + bool(flags & 0x2000) + bool(flags & 0x1000))
    if kind == 0x88BE:  # mirrored frames: ERSPAN I has no header of its own, II is numbered
        return ETHERNET, body + (8 if flags & 0x1000 else 0), stop
    if kind == 0x22EB:
        return _erspan(data, body, stop)
    if kind == 0x883E:  # WCCP: version 2 has a header of its own
        return IPV4, body + (4 if data[body : body + 1] and data[body] >> 4 != 4 else 0), stop
    return typed(kind, body, stop, "GRE")


def _erspan(data: bytes, start: int, stop: int) -> Next:
    """ERSPAN III: what kind of frame it has mirrored, and perhaps 8 bytes about the platform."""
    if len(data) < start + 12:
        return "short ERSPAN"
    kind = {0: ETHERNET, 2: ANY_IP}.get(data[start + 10] >> 2 & 31)
    return "ERSPAN of another link" if kind is None else (kind, start + (20 if data[start + 11] & 1 else 12), stop)


def etherip(data: bytes, start: int, stop: int) -> Next:
    """Ethernet in IP (RFC 3378)."""
    return (ETHERNET, start + 2, stop) if data[start : start + 2] == b"\x30\x00" else "bad EtherIP"


def vxlan(data: bytes, start: int, stop: int) -> Next | None:
    """VXLAN (RFC 7348), perhaps with a group policy; with a reserved bit set it is something else.

    Some senders, such as scapy, name the protocol they carry here too.
    """
    head = data[start : start + 8]
    if head[:1] == b"\x0c":
        generic = vxlan_gpe(data, start, stop)
        return None if isinstance(generic, str) else generic
    if len(head) < 8 or head[0] & 0x7F != 8 or head[7] or (head[1:4].strip(b"\0") and not head[0] & 0x80):
        return None
    return (ETHERNET, start + 8, stop) if stop >= start + 22 else None


_GPE = {1: IPV4, 2: IPV6, 3: ETHERNET, 5: MPLS}


def vxlan_gpe(data: bytes, start: int, stop: int) -> Next | None:
    """VXLAN that says what it carries (draft-ietf-nvo3-vxlan-gpe)."""
    head = data[start : start + 8]
    if len(head) < 8 or head[0] & 0xCA != 8 or head[1:3] != b"\0\0" or head[7]:
        return None
    kind = _GPE.get(head[3]) if head[0] & 4 else ETHERNET
    return (kind, start + 8, stop) if kind else "VXLAN-GPE of another protocol"


def geneve(data: bytes, start: int, stop: int) -> Next | None:
    """Geneve (RFC 8926), past its options."""
    head = data[start : start + 8]
    kind = u16(head, 2)
    if len(head) < 8 or head[0] & 0xC0 or head[1] & 0x3F or kind not in ETHERTYPES or head[7]:
        return None
    body = start + 8 + 4 * (head[0] & 0x3F)
    return (kind, body, stop) if body <= stop else None


def gtp(data: bytes, start: int, stop: int) -> Next | None:
    """User data of mobile networks: GTP-U version 1 (3GPP TS 29.281), past its extension headers."""
    head = data[start : start + 12]
    if len(head) < 8 or head[0] & 0xF8 != 0x30 or head[1] != 0xFF or u16(head, 2) != stop - start - 8:
        return None
    body = start + 8
    if head[0] & 7:
        body += 4
        following = data[body - 1 : body] if head[0] & 4 else b"\0"
        while following != b"\0":
            size = 4 * data[body] if body < len(data) else 0
            if not size:
                return "short GTP"
            body += size
            following = data[body - 1 : body]
    return ANY_IP, body, stop


def ipsec(data: bytes, start: int, stop: int) -> Next | None:
    """IPsec through address translation (RFC 3948): encrypted, or the exchange of keys, which has a marker of zeros."""
    head, size = data[start : start + 5], stop - start
    words = size >= 16 and not size % 4 and head[4:] == b"\0"  # padded, and its number isn't a large one
    return "IPsec over UDP (encrypted)" if words and head[:4] != b"\0\0\0\0" else None


def l2tp(data: bytes, start: int, stop: int) -> Next | None:
    """Data of L2TP version 2 (RFC 2661): PPP."""
    flags = u16(data, start)
    if len(data) < start + 6 or flags & 0x84FF != 2 or flags & 0x30F8:
        return None
    body = start + 6 + 2 * bool(flags & 0x4000) + 4 * bool(flags & 0x0800)
    if flags & 0x0200:
        body += 2 + u16(data, body)
    return PPP, body, stop


def gre_in_udp(data: bytes, start: int, stop: int) -> Next | None:
    """GRE in UDP (RFC 8086), without the fields that it leaves to UDP."""
    sound = len(data) >= start + 4 and not u16(data, start) & 0x4FFF and u16(data, start + 2) in ETHERTYPES
    return gre(data, start, stop) if sound else None


def mpls_in_udp(data: bytes, start: int, stop: int) -> Next | None:
    """MPLS in UDP (RFC 7510): believed where IP follows."""
    content = mpls(data, start, stop)
    return content if not isinstance(content, str) and content[0] == ANY_IP else None


def teredo(data: bytes, start: int, stop: int) -> Next | None:
    """Teredo (RFC 4380): IPv6, perhaps after what the server adds about the sender."""
    if data[start : start + 2] == b"\0\1":
        start += 4 + sum(data[start + 2 : start + 4]) + 9
    if data[start : start + 2] == b"\0\0":
        start += 8
    sound = data[start : start + 1] and data[start] >> 4 == 6 and start + 40 + u16(data, start + 4) == stop
    return (IPV6, start, stop) if sound else None


def tzsp(data: bytes, start: int, stop: int) -> Next | None:
    """TZSP: frames that a router or an access point has mirrored, past tags with their sizes."""
    if data[start : start + 2] not in (b"\1\0", b"\1\1") or data[start + 2 : start + 4] != b"\0\1":
        return None
    at = start + 4
    while at < len(data) and data[at] != _TZSP_END:
        at += 1 if data[at] == _TZSP_PADDING else 2 + sum(data[at + 1 : at + 2])
    return (ETHERNET, at + 1, stop) if at < len(data) else "short TZSP"


_TZSP_PADDING, _TZSP_END = 0, 1


PROTOCOLS: dict[int, Header] = {
    4: lambda data, start, stop: (IPV4, start, stop),
    41: lambda data, start, stop: (IPV6, start, stop),
    47: gre,
    94: lambda data, start, stop: (IPV4, start, stop),
    97: etherip,
    137: lambda data, start, stop: (MPLS, start, stop),
    143: lambda data, start, stop: (ETHERNET, start, stop),
}
"""By IP protocol."""

PORTS: dict[int, Callable[[bytes, int, int], Next | None]] = {
    4789: vxlan, 8472: vxlan, 4790: vxlan_gpe, 6081: geneve, 2152: gtp, 1701: l2tp,
    3544: teredo, 4500: ipsec, 4754: gre_in_udp, 6635: mpls_in_udp, 37008: tzsp,
}  # fmt: skip
"""By UDP port of the receiver. 8472 is the port of flannel, and of Linux before one was registered."""
