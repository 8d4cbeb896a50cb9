"""What may stand around an IP packet, written with struct from the standards: links, tags and tunnels."""

import struct

from tests.flow.flow_frames import ethernet, ipv4, ipv6

PKTAP = struct.pack("<III24sIIIII20sIHHI20s", 108, 1, 1, b"en0", 1, 2, 14, 0, 4242, b"zenohd", 0, 6, 0, 0, b"zenohd")


def datagram(payload: bytes, port: int, src: int = 50000) -> bytes:
    return struct.pack(">HHHH", src, port, 8 + len(payload), 0) + payload


def vxlan(packet: bytes, flags: int = 0x08000000, vni: int = 0x000123 << 8) -> bytes:
    return struct.pack(">II", flags, vni) + ethernet(packet)


def in_udp(content: bytes, port: int) -> bytes:
    return ipv4(datagram(content, port), 17)


def geneve(packet: bytes, kind: int = 0x6558, options: bytes = b"") -> bytes:
    return struct.pack(">BBHI", len(options) // 4, 0, kind, 0x12300) + options + packet


def gre(content: bytes, kind: int = 0x0800, flags: int = 0, fields: bytes = b"") -> bytes:
    return ipv4(struct.pack(">HH", flags, kind) + fields + content, 47)


def mpls(content: bytes, *labels: int) -> bytes:
    stack = [label << 12 | 64 for label in labels]
    return struct.pack(f">{len(stack)}I", *stack[:-1], stack[-1] | 0x100) + content


def pppoe(packet: bytes, protocol: bytes = b"\x00\x21") -> bytes:
    return struct.pack(">BBHH", 0x11, 0, 7, len(protocol) + len(packet)) + protocol + packet


def gtp(packet: bytes, flags: int = 0x30, optional: bytes = b"") -> bytes:
    return struct.pack(">BBHI", flags, 0xFF, len(optional) + len(packet), 99) + optional + packet


def envelopes(v4: bytes, v6: bytes) -> dict[str, tuple[int, bytes]]:
    """The same packets in all of them: name to (link type, frame)."""
    inner = ethernet(v4)
    tagged = struct.pack(">II", 0x08000000, 256) + ethernet(v4, tags=[0x8100])
    numbers = struct.pack(">HHII", len(v4) + 4, 1, 2, 3)
    mirrored = b"\x20" + bytes(10) + b"\1" + bytes(8) + inner
    snap = b"\xaa\xaa\x03\0\0\0\x08\0" + v4
    nflog = struct.pack("<BBHHHIHH", 2, 0, 0, 8, 2, 0, 4 + len(v4), 9) + v4
    return {
        "vxlan": (1, ethernet(in_udp(vxlan(v4), 4789))),
        "vxlan on linux's port": (1, ethernet(in_udp(vxlan(v4), 8472))),
        "vxlan with a group": (1, ethernet(in_udp(vxlan(v4, 0x88000007), 4789))),
        "vxlan over ipv6": (1, ethernet(ipv6(datagram(vxlan(v4), 4789), 17), 0x86DD)),
        "vxlan with an inner tag": (1, ethernet(in_udp(tagged, 4789))),
        "vxlan-gpe": (1, ethernet(in_udp(struct.pack(">II", 0x0C000001, 256) + v4, 4790))),
        "vxlan-gpe with ethernet": (1, ethernet(in_udp(struct.pack(">II", 0x0C000003, 256) + inner, 4790))),
        "geneve": (1, ethernet(in_udp(geneve(inner), 6081))),
        "geneve with options": (1, ethernet(in_udp(geneve(inner, options=bytes(12)), 6081))),
        "geneve without ethernet": (1, ethernet(in_udp(geneve(v6, 0x86DD), 6081))),
        "gtp": (1, ethernet(in_udp(gtp(v4), 2152))),
        "gtp with a number": (1, ethernet(in_udp(gtp(v4, 0x32, b"\0\1\0\0"), 2152))),
        "gtp with an extension": (1, ethernet(in_udp(gtp(v4, 0x34, b"\0\0\0\x85\x01\x10\x09\0"), 2152))),
        "gre in udp": (1, ethernet(in_udp(b"\0\0\x08\0" + v4, 4754))),
        "mpls in udp": (1, ethernet(in_udp(mpls(v4, 99), 6635))),
        "teredo": (1, ethernet(in_udp(v6, 3544))),
        "teredo, its server's words": (1, ethernet(in_udp(b"\0\1\1\2" + bytes(12) + bytes(8) + v6, 3544))),
        "tzsp": (1, ethernet(in_udp(b"\1\0\0\1\0\x0a\1\x55\1" + inner, 37008))),
        "gre": (1, ethernet(gre(v4))),
        "gre ipv6": (1, ethernet(gre(v6, 0x86DD))),
        "gre key": (1, ethernet(gre(v4, flags=0x2000, fields=bytes(4)))),
        "gre checksum, key, number": (1, ethernet(gre(v4, flags=0xB000, fields=bytes(12)))),
        "gre bridging": (1, ethernet(gre(inner, 0x6558, 0x2000, bytes(4)))),
        "gre over ipv6": (1, ethernet(ipv6(b"\0\0\x08\0" + v4, 47), 0x86DD)),
        "gre mpls": (1, ethernet(gre(mpls(v4, 100), 0x8847))),
        "erspan 1": (1, ethernet(gre(inner, 0x88BE))),
        "erspan 2": (1, ethernet(gre(b"\x10\x64" + bytes(6) + inner, 0x88BE, 0x1000, bytes(4)))),
        "erspan 3": (1, ethernet(gre(b"\x20" + bytes(11) + inner, 0x22EB, 0x1000, bytes(4)))),
        "erspan 3, platform": (1, ethernet(gre(mirrored, 0x22EB, 0x1000, bytes(4)))),
        "wccp 2": (1, ethernet(gre(bytes(4) + v4, 0x883E))),
        "pptp": (1, ethernet(gre(b"\xff\x03\x00\x21" + v4, 0x880B, 0x3081, numbers))),
        "ipv4 in ipv4": (1, ethernet(ipv4(v4, 4))),
        "ipv6 in ipv4": (1, ethernet(ipv4(v6, 41))),
        "ipv4 in ipv6": (1, ethernet(ipv6(v4, 4), 0x86DD)),
        "ipv6 in ipv6": (1, ethernet(ipv6(v6, 41), 0x86DD)),
        "etherip": (1, ethernet(ipv4(b"\x30\0" + inner, 97))),
        "mpls in ip": (1, ethernet(ipv4(mpls(v4, 5), 137))),
        "ethernet in ipv6": (1, ethernet(ipv6(inner, 143), 0x86DD)),
        "ipsec's authentication": (1, ethernet(ipv4(v4[9:10] + b"\x04" + bytes(22) + v4[20:], 51))),
        "l2tp": (1, ethernet(in_udp(struct.pack(">HHH", 2, 1, 1) + b"\xff\x03\x00\x21" + v4, 1701))),
        "pppoe": (1, ethernet(pppoe(v4), 0x8864)),
        "pppoe ipv6": (1, ethernet(pppoe(v6, b"\x00\x57"), 0x8864)),
        "pppoe behind a tag": (1, ethernet(pppoe(v4), 0x8864, tags=[0x8100])),
        "pppoe, protocol of a byte": (1, ethernet(pppoe(v4, b"\x21"), 0x8864)),
        "mpls": (1, ethernet(mpls(v4, 100), 0x8847)),
        "mpls multicast, three labels": (1, ethernet(mpls(v6, 100, 200, 300), 0x8848)),
        "mpls pseudowire": (1, ethernet(mpls(inner, 100), 0x8847)),
        "mpls pseudowire, control word": (1, ethernet(mpls(bytes(4) + inner, 100, 17), 0x8847)),
        "provider backbone": (1, ethernet(bytes(4) + ethernet(v4), 0x88E7, tags=[0x88A8])),
        "qinq": (1, ethernet(v4, tags=[0x88A8, 0x8100])),
        "vn-tag": (1, ethernet(bytes(4) + b"\x08\0" + v4, 0x8926)),
        "hsr": (1, ethernet(bytes(4) + b"\x08\0" + v4, 0x892F)),
        "802.1cb": (1, ethernet(bytes(4) + b"\x08\0" + v4, 0xF1C1)),
        "snap": (1, ethernet(snap, len(snap))),
        "snap behind a tag": (1, ethernet(snap, len(snap), tags=[0x8100])),
        "ppp": (9, b"\xff\x03\x00\x21" + v4),
        "ppp without address": (9, b"\x00\x57" + v6),
        "ppp hdlc": (50, b"\xff\x03\x00\x21" + v4),
        "cisco hdlc as ppp": (50, b"\x0f\0\x08\0" + v4),
        "ppp ether": (51, pppoe(v4)),
        "ppp with direction": (204, b"\1\xff\x03\x00\x21" + v4),
        "pppd": (166, b"\1\x03\x00\x21" + v4),
        "cisco hdlc": (104, b"\x0f\0\x86\xdd" + v6),
        "mpls link": (219, mpls(v4, 3, 4)),
        "enc": (109, bytes(12) + v4),
        "pflog": (117, b"\x3d" + bytes(63) + v4),
        "nflog": (239, nflog),
        "ipnet": (226, bytes(24) + v6),
        "netanalyzer": (240, bytes(4) + inner),
        "mpacket": (274, bytes(8) + inner),
        "sll snap": (113, struct.pack(">HHH8sH", 0, 1, 6, bytes(8), 4) + snap),
        "pktap": (258, PKTAP + inner),
        "pktap by apple's number": (149, PKTAP + inner),
        "pktap of a tunnel": (258, PKTAP[:8] + b"\x0c\0\0\0" + PKTAP[12:] + v6),
        "pktap of loopback": (258, PKTAP[:8] + b"\0\0\0\0" + PKTAP[12:] + b"\x1e\0\0\0" + v6),
    }  # fmt: skip
