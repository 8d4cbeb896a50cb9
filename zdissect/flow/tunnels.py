"""Headers between the link layer and IP, and tunnels: one function for each, which says what follows it and where.

All are pure: (bytes, start, stop) to (EtherType of what follows, its start, its stop), or the reason why it isn't
opened. `stop` is where the content ends on the wire and may lie beyond the bytes. What a UDP datagram on a
tunnel's port holds is believed only if its header is sound; None is a datagram like any other.
"""

from collections.abc import Callable

from zdissect.flow.names import ETHERTYPES, LLC, PPP_CONTROL, STP

Next = tuple[int, int, int] | str
Header = Callable[[bytes, int, int], Next]

ANY_IP, CISCO_HDLC, FIREWALL_LOG, NETFILTER_LOG, LLC_HEADER = range(5)
"""What has no EtherType, in numbers that can't be one: IP of either version, Cisco's HDLC, the records of OpenBSD's
pflog and of Linux's nflog, 802.2 (4, as in Linux)."""
IPV4, IPV6, ETHERNET, PPP, MPLS = 0x0800, 0x86DD, 0x6558, 0x880B, 0x8847
"""0x6558 is Transparent Ethernet Bridging: an Ethernet frame within something else."""
_MPLS_UPSTREAM = 0x8848
PPPOE, _BACKBONE = 0x8864, 0x88E7
LONGEST_LENGTH = 0x05FF
"""Beyond is an EtherType, up to here an 802.3 length."""

_TAGS = {0x8100: 4, 0x88A8: 4, 0x9100: 4, 0x9200: 4, 0x9300: 4, 0x8926: 6, 0x892F: 6, 0xF1C1: 6, 0x8909: 8}
"""Tags with their size, at whose end the next EtherType stands: 802.1Q, 802.1ad and the QinQ that came before it;
VN-Tag, HSR, 802.1CB (redundancy), Cisco metadata."""
_SOUND = frozenset({IPV4, IPV6, MPLS, _MPLS_UPSTREAM, PPPOE, _BACKBONE, 0x0806, 0x88CC, *_TAGS})
"""EtherTypes by which a guess that this is Ethernet is confirmed."""


def _u16(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2])


def typed(kind: int, start: int, stop: int, header: str) -> Next:
    """What follows a header whose EtherType may be any number at all: the small ones have other meanings here."""
    return (kind, start, stop) if kind > LONGEST_LENGTH else f"{header} protocol 0x{kind:04x}"


def ethernet(data: bytes, start: int, stop: int) -> Next:
    """Ethernet II, or 802.3 with its length."""
    if len(data) < start + 14:
        return "short Ethernet"
    kind = _u16(data, start + 12)
    if kind > LONGEST_LENGTH:
        return kind, start + 14, stop
    return LLC_HEADER, start + 14, min(stop, start + 14 + kind)


def llc(data: bytes, start: int, stop: int) -> Next:
    """802.2: SNAP says what follows with an EtherType, all else holds no IP (RFC 1042)."""
    head = data[start : start + 8]
    if head[:3] == b"\xaa\xaa\x03" and len(head) == 8 and head[3:6] in (b"\0\0\0", b"\0\0\xf8"):
        return typed(_u16(data, start + 6), start + 8, stop, "SNAP")
    return STP if head[:2] == b"\x42\x42" else LLC


def _tag(size: int) -> Header:
    def tag(data: bytes, start: int, stop: int) -> Next:
        if len(data) < start + size:
            return "short VLAN tag"
        kind = _u16(data, start + size - 2)
        return (kind if kind > LONGEST_LENGTH else LLC_HEADER), start + size, stop

    return tag


def mpls(data: bytes, start: int, stop: int) -> Next:
    """MPLS labels (RFC 3032). Nothing says what they carry: its first four bits must do, as everywhere (RFC 4928)."""
    while len(data) >= start + 4:
        label, last = int.from_bytes(data[start : start + 3]) >> 4, data[start + 2] & 1
        start += 4
        if last:
            break
    else:
        return "short MPLS"
    version = data[start] >> 4 if start < len(data) else -1
    if version in (4, 6):
        return ANY_IP, start, stop
    if label == 13 or version == 1:
        return "MPLS control"  # the alert label, and the associated channel of RFC 5586
    for at in (start + 4, start) if version == 0 else (start,):  # a pseudowire, with a control word or without
        if len(data) >= at + 14 and _u16(data, at + 12) in _SOUND:
            return ETHERNET, at, stop
    return "MPLS that carries no IP"


def pppoe(data: bytes, start: int, stop: int) -> Next:
    """The session stage of PPPoE (RFC 2516)."""
    if len(data) < start + 6:
        return "short PPPoE"
    if data[start : start + 2] != b"\x11\x00":
        return "bad PPPoE"
    return PPP, start + 6, min(stop, start + 6 + _u16(data, start + 4))


_PPP = {0x21: IPV4, 0x57: IPV6, 0x281: MPLS, 0x283: _MPLS_UPSTREAM}
_CISCO = (b"\x0f\x00", b"\x8f\x00")


def ppp(data: bytes, start: int, stop: int) -> Next:
    """PPP (RFC 1661), with or without address and control, its protocol in one byte or two; or Cisco's HDLC."""
    head = data[start : start + 2]
    if head in _CISCO:
        return cisco_hdlc(data, start, stop)
    if head == b"\xff\x03":
        start += 2
    size = 1 if data[start : start + 1] and data[start] & 1 else 2
    if len(data) < start + size:
        return "short PPP"
    kind = int.from_bytes(data[start : start + size])
    if kind >= 0x8000:
        return PPP_CONTROL
    follows = _PPP.get(kind)
    if follows is None:
        return f"PPP protocol 0x{kind:04x}"
    return follows, start + size, stop


def cisco_hdlc(data: bytes, start: int, stop: int) -> Next:
    """Cisco's HDLC: address, control, EtherType."""
    if len(data) < start + 4:
        return "short HDLC"
    return typed(_u16(data, start + 2), start + 4, stop, "HDLC")


def firewall_log(data: bytes, start: int, stop: int) -> Next:
    """OpenBSD's and FreeBSD's pflog: a header with its size, padded to words, then IP."""
    if len(data) <= start or not data[start]:
        return "short PFLOG"
    return ANY_IP, start + (data[start] + 3 & ~3), stop


def netfilter_log(data: bytes, start: int, stop: int) -> Next:
    """Linux's nflog: attributes in the byte order of the machine, one of which is the packet."""
    at = start + 4
    while len(data) >= at + 4:
        size, kind = (int.from_bytes(data[place : place + 2], "little") for place in (at, at + 2))
        if kind == _NFULA_PAYLOAD:
            return ANY_IP, at + 4, stop
        at += max(4, size + 3 & ~3)
    return "NFLOG without a packet"


_NFULA_PAYLOAD = 9


def _backbone(data: bytes, start: int, stop: int) -> Next:
    return ETHERNET, start + 4, stop  # 802.1ah: the service's number, then the customer's frame


def gre(data: bytes, start: int, stop: int) -> Next:
    """GRE (RFC 2784, 2890): with ERSPAN, WCCP and PPTP (RFC 2637)."""
    if len(data) < start + 4:
        return "short GRE"
    flags, kind, body = _u16(data, start), _u16(data, start + 2), start + 4
    if flags & 7 == 1 and kind == PPP:
        body += 4 * (1 + bool(flags & 0x1000) + bool(flags & 0x80))
        return PPP, body, min(stop, body + _u16(data, start + 4))
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
    """VXLAN (RFC 7348), perhaps with a group policy: a reserved bit that is set is something else."""
    head = data[start : start + 8]
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
    kind = _u16(head, 2)
    if len(head) < 8 or head[0] & 0xC0 or head[1] & 0x3F or kind not in ETHERTYPES or head[7]:
        return None
    body = start + 8 + 4 * (head[0] & 0x3F)
    return (kind, body, stop) if body <= stop else None


def gtp(data: bytes, start: int, stop: int) -> Next | None:
    """User data of mobile networks: GTP-U version 1 (3GPP TS 29.281), past its extension headers."""
    head = data[start : start + 12]
    if len(head) < 8 or head[0] & 0xF8 != 0x30 or head[1] != 0xFF or _u16(head, 2) != stop - start - 8:
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
    if stop - start < 16:
        return None
    return None if data[start : start + 4] == b"\0\0\0\0" else "IPsec over UDP (encrypted)"


def l2tp(data: bytes, start: int, stop: int) -> Next | None:
    """Data of L2TP version 2 (RFC 2661), which is PPP."""
    flags = _u16(data, start)
    if len(data) < start + 6 or flags & 0x84FF != 2 or flags & 0x30F8:
        return None
    body = start + 6 + 2 * bool(flags & 0x4000) + 4 * bool(flags & 0x0800)
    if flags & 0x0200:
        body += 2 + _u16(data, body)
    return PPP, body, stop


HEADERS: dict[int, Header] = {
    ETHERNET: ethernet, LLC_HEADER: llc, MPLS: mpls, _MPLS_UPSTREAM: mpls, PPPOE: pppoe, PPP: ppp,
    _BACKBONE: _backbone, CISCO_HDLC: cisco_hdlc, FIREWALL_LOG: firewall_log, NETFILTER_LOG: netfilter_log,
    **{kind: _tag(size) for kind, size in _TAGS.items()},
}  # fmt: skip
"""By EtherType. All go forward, so that a chain of them ends."""

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
    4789: vxlan, 8472: vxlan, 4790: vxlan_gpe, 6081: geneve, 2152: gtp, 1701: l2tp, 4500: ipsec,
}  # fmt: skip
"""By UDP port of the receiver. 8472 is that of Linux before there was a registered one, and of flannel."""
