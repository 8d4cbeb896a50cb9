"""Headers between the link layer and IP: one function for each, which says what follows it and where.

All are pure: (bytes, start, stop) to (EtherType of what follows, its start, its stop), or the reason why it isn't
opened. `stop` is where the content ends on the wire and may lie beyond the bytes.
"""

from collections.abc import Callable

from zdissect.flow.protocol_numbers import LLC, PPP_CONTROL, STP

Next = tuple[int, int, int] | str
Header = Callable[[bytes, int, int], Next]

ANY_IP, CISCO_HDLC, FIREWALL_LOG, NETFILTER_LOG, LLC_HEADER = range(5)
"""Our numbers for protocols without an EtherType: IP of either version, Cisco's HDLC, the records of OpenBSD's pflog
and of Linux's nflog, 802.2 (4, as in Linux). They can't be EtherTypes."""
IPV4, IPV6, ETHERNET, PPP, MPLS = 0x0800, 0x86DD, 0x6558, 0x880B, 0x8847
"""0x6558 is Transparent Ethernet Bridging: an Ethernet frame within something else."""
_MPLS_UPSTREAM = 0x8848
PPPOE, _BACKBONE = 0x8864, 0x88E7
LONGEST_LENGTH = 0x05FF
"""Up to here a number is an 802.3 length, beyond it an EtherType."""

_TAGS = {0x8100: 4, 0x88A8: 4, 0x9100: 4, 0x9200: 4, 0x9300: 4, 0x8926: 6, 0x892F: 6, 0xF1C1: 6, 0x8909: 8}
"""Tags and their sizes; the next EtherType is at their end: 802.1Q, 802.1ad and its predecessor QinQ; VN-Tag, HSR,
802.1CB (redundancy), Cisco metadata."""
_SOUND = frozenset({IPV4, IPV6, MPLS, _MPLS_UPSTREAM, PPPOE, _BACKBONE, 0x0806, 0x88CC, *_TAGS})
"""EtherTypes that confirm a guess that this is Ethernet."""


def u16(data: bytes, at: int) -> int:
    """A number of two bytes; fewer where the bytes end."""
    return int.from_bytes(data[at : at + 2])


def typed(kind: int, start: int, stop: int, header: str) -> Next:
    """What follows a header whose EtherType may be any number: small ones mean something else here."""
    return (kind, start, stop) if kind > LONGEST_LENGTH else f"{header} protocol 0x{kind:04x}"


def ethernet(data: bytes, start: int, stop: int) -> Next:
    """Ethernet II, or 802.3 with its length."""
    if len(data) < start + 14:
        return "short Ethernet"
    kind = u16(data, start + 12)
    if kind > LONGEST_LENGTH:
        return kind, start + 14, stop
    return LLC_HEADER, start + 14, min(stop, start + 14 + kind)


def llc(data: bytes, start: int, stop: int) -> Next:
    """802.2: SNAP names what follows by an EtherType; anything else holds no IP (RFC 1042)."""
    head = data[start : start + 8]
    if head[:3] == b"\xaa\xaa\x03" and len(head) == 8 and head[3:6] in (b"\0\0\0", b"\0\0\xf8"):
        return typed(u16(data, start + 6), start + 8, stop, "SNAP")
    return STP if head[:2] == b"\x42\x42" else LLC


def _tag(size: int) -> Header:
    def tag(data: bytes, start: int, stop: int) -> Next:
        if len(data) < start + size:
            return "short VLAN tag"
        kind = u16(data, start + size - 2)
        return (kind if kind > LONGEST_LENGTH else LLC_HEADER), start + size, stop

    return tag


def mpls(data: bytes, start: int, stop: int) -> Next:
    """MPLS labels (RFC 3032). Nothing says what they carry, so its first four bits decide, as is usual (RFC 4928)."""
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
        if len(data) >= at + 14 and u16(data, at + 12) in _SOUND:
            return ETHERNET, at, stop
    return "MPLS that carries no IP"


def pppoe(data: bytes, start: int, stop: int) -> Next:
    """The session stage of PPPoE (RFC 2516)."""
    if len(data) < start + 6:
        return "short PPPoE"
    if data[start : start + 2] != b"\x11\x00":
        return "bad PPPoE"
    return PPP, start + 6, min(stop, start + 6 + u16(data, start + 4))


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
    return typed(u16(data, start + 2), start + 4, stop, "HDLC")


def firewall_log(data: bytes, start: int, stop: int) -> Next:
    """OpenBSD's and FreeBSD's pflog: a header with its size, padded to words, then IP."""
    if len(data) <= start or not data[start]:
        return "short PFLOG"
    return ANY_IP, start + (data[start] + 3 & ~3), stop


def netfilter_log(data: bytes, start: int, stop: int) -> Next:
    """Linux's nflog: attributes in the byte order of the machine, one of which is the packet."""
    at = start + 4
    while len(data) >= at + 4:
        size, kind = (int.from_bytes(data[offset : offset + 2], "little") for offset in (at, at + 2))
        if kind == _NFULA_PAYLOAD:
            return ANY_IP, at + 4, stop
        at += max(4, size + 3 & ~3)
    return "NFLOG without a packet"


_NFULA_PAYLOAD = 9


def _backbone(data: bytes, start: int, stop: int) -> Next:
    return ETHERNET, start + 4, stop  # 802.1ah: the service's number, then the customer's frame


HEADERS: dict[int, Header] = {
    ETHERNET: ethernet, LLC_HEADER: llc, MPLS: mpls, _MPLS_UPSTREAM: mpls, PPPOE: pppoe, PPP: ppp,
    _BACKBONE: _backbone, CISCO_HDLC: cisco_hdlc, FIREWALL_LOG: firewall_log, NETFILTER_LOG: netfilter_log,
    **{kind: _tag(size) for kind, size in _TAGS.items()},
}  # fmt: skip
"""By EtherType. Each moves forward, so that a chain of them ends."""
