"""Tunnels as scapy writes them: what it and we took from the standards must agree."""

import logging
import warnings

import pytest

from tests.flow.flow_frames import frame
from zdissect.flow.link import Decoder
from zdissect.records import Segment

logging.getLogger("scapy").setLevel(logging.CRITICAL)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from scapy.contrib.erspan import ERSPAN_I, ERSPAN_II, ERSPAN_III, ERSPAN_PlatformSpecific
    from scapy.contrib.etherip import EtherIP
    from scapy.contrib.geneve import GENEVE
    from scapy.contrib.gtp import GTP_U_Header
    from scapy.contrib.mpls import MPLS
    from scapy.layers.inet import IP, TCP, UDP
    from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt
    from scapy.layers.l2 import GRE, GRE_PPTP, LLC, SNAP, Dot1AD, Dot1Q, Dot3, Ether
    from scapy.layers.l2tp import L2TP
    from scapy.layers.ppp import HDLC, PPP, PPPoE
    from scapy.layers.vxlan import VXLAN

TCP_PAYLOAD = TCP(sport=40000, dport=7447, seq=1000, flags="A") / b"hello"
V4 = IP(src="10.0.0.1", dst="10.0.0.2") / TCP_PAYLOAD
V6 = IPv6(src="fd00::1", dst="fd00::2") / TCP_PAYLOAD
MAC = {"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}
INNER = Ether(**MAC) / V4
OUTER = Ether(**MAC) / IP(src="172.16.0.1", dst="172.16.0.2")
OUTER6 = Ether(**MAC) / IPv6(src="fd01::1", dst="fd01::2")

PACKETS = {
    "vxlan": OUTER / UDP(dport=4789) / VXLAN(vni=66, flags="Instance") / INNER,
    "vxlan with a group": OUTER / UDP(dport=4789) / VXLAN(vni=66, flags=0x88, gpid=7) / INNER,
    "vxlan, its content named": OUTER / UDP(dport=4789) / VXLAN(vni=66) / INNER,
    "vxlan, tagged": OUTER / UDP(dport=8472) / VXLAN(vni=66) / Ether(**MAC) / Dot1Q(vlan=5) / V6,
    "geneve": OUTER6 / UDP(dport=6081) / GENEVE(vni=66, proto=0x6558) / INNER,
    "geneve of ip": OUTER / UDP(dport=6081) / GENEVE(vni=66, proto=0x0800) / V4,
    "gre": OUTER / GRE(proto=0x0800) / V4,
    "gre with all fields": OUTER / GRE(proto=0x86DD, chksum_present=1, key_present=1, seqnum_present=1) / V6,
    "gre bridging": OUTER / GRE(proto=0x6558, key_present=1, key=7) / INNER,
    "gre over ipv6": OUTER6 / GRE(proto=0x0800) / V4,
    "pptp": OUTER / GRE_PPTP(seqnum_present=1, acknum_present=1, call_id=3) / PPP() / V4,
    "erspan 1": OUTER / GRE(proto=0x88BE) / ERSPAN_I() / INNER,
    "erspan 2": OUTER / GRE(proto=0x88BE, seqnum_present=1) / ERSPAN_II() / INNER,
    "erspan 3": OUTER / GRE(proto=0x22EB, seqnum_present=1) / ERSPAN_III() / INNER,
    "erspan 3, platform": OUTER
    / GRE(proto=0x22EB, seqnum_present=1)
    / ERSPAN_III(o=1)
    / ERSPAN_PlatformSpecific()
    / INNER,
    "ip in ip": OUTER / V4,
    "ipv6 in ip": OUTER / V6,
    "ip in ipv6": OUTER6 / V4,
    "ipv6 in ipv6, options": OUTER6 / IPv6ExtHdrDestOpt() / V6,
    "etherip": OUTER / EtherIP() / INNER,
    "gtp": OUTER / UDP(dport=2152) / GTP_U_Header(teid=1) / V4,
    "gtp with a number": OUTER / UDP(dport=2152) / GTP_U_Header(teid=1, S=1, seq=5) / V4,
    "l2tp": OUTER / UDP(dport=1701) / L2TP(hdr=["length", "sequence"], tunnel_id=1, session_id=2) / PPP() / V4,
    "pppoe": Ether(**MAC) / PPPoE(sessionid=7) / PPP() / V4,
    "pppoe, tagged twice": Ether(**MAC) / Dot1AD(vlan=1) / Dot1Q(vlan=2) / PPPoE() / PPP(proto=0x57) / V6,
    "mpls": Ether(**MAC) / MPLS(label=100, s=0) / MPLS(label=200, s=1) / V4,
    "snap": Dot3(**MAC) / LLC() / SNAP() / V4,
    "ppp link": HDLC() / PPP() / V4,
}
LINKS = {"ppp link": 9}


@pytest.mark.parametrize("name", PACKETS)
def test_what_scapy_wrote(name: str) -> None:
    data = bytes(PACKETS[name])
    decoder = Decoder()
    segment = decoder.feed(frame(data, LINKS.get(name, 1)))
    assert isinstance(segment, Segment), decoder.unopened.total()
    assert (segment.payload, segment.seq, segment.src.port) == (b"hello", 1000, 40000)
    assert data[segment.offset :].startswith(b"hello")
