"""Headers: addresses, options, checksums."""

from scapy.layers.inet import IP, TCP, UDP, IPOption_RR
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment
from scapy.layers.l2 import ARP, GRE, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Raw

from zdissect.anonymize.addresses import Addresses
from zdissect.anonymize.layers import layers
from zdissect.anonymize.packet_headers import PacketHeaders
from zdissect.anonymize.secret import Secret
from zdissect.records import Frame

ADDRESSES = Addresses(Secret("seed"))
ENDS = {"src": "10.1.2.3", "dst": "10.1.2.4"}


def rewritten(packet, cut=None):
    data = bytes(packet)
    frame = Frame("", 1, 0, 1, len(data), data[:cut])
    new = bytearray(len(frame.data))
    PacketHeaders(ADDRESSES, lambda _: None).write(frame, layers(frame), new)
    return bytes(new)


def right(data):
    """Whether all checksums are those that scapy computes."""
    packet = Ether(data)
    for layer in (IP, TCP, UDP):
        at = packet
        while (at := at.getlayer(layer)) is not None:
            if not (layer is UDP and at.chksum == 0):
                del at.chksum
            at = at.payload
    return bytes(packet) == data


def test_addresses_and_checksums():
    for inside in (TCP(sport=7447, dport=4000, flags="PA"), UDP(sport=7447, dport=4000)):
        packet = (
            Ether(src="02:00:00:00:00:11", dst="02:00:00:00:00:12")
            / Dot1Q(vlan=7)
            / IP(**ENDS)
            / inside
            / Raw(b"secret")
        )
        new = rewritten(packet)
        assert right(new)
        assert Ether(new)[IP].src != "10.1.2.3"
        assert Ether(new)[IP].src[:5] == Ether(new)[IP].dst[:5]
        assert Ether(new).src != packet.src
        assert Ether(new).vlan == 7
        assert b"secret" not in new


def test_ipv6_and_extension_headers():
    packet = (
        Ether()
        / IPv6(src="2001:db8::1", dst="2001:db8::2")
        / IPv6ExtHdrDestOpt(options=[])
        / UDP(dport=4000)
        / Raw(b"ab")
    )
    new = rewritten(packet)
    assert right(new)
    assert Ether(new)[IPv6].dst != "2001:db8::2"


def test_tunnels():
    inner = Ether(src="02:00:00:00:00:13") / IP(**ENDS) / TCP(dport=7447) / Raw(b"secret")
    for packet in (
        Ether() / IP(**ENDS) / UDP(dport=4789) / VXLAN(vni=7) / inner,
        Ether() / IP(**ENDS) / GRE(proto=0x6558) / inner,
    ):
        new = rewritten(packet)
        assert right(new)
        assert bytes(inner)[6:12] not in new
        assert bytes(inner[IP])[12:20] not in new


def test_options_that_may_tell_something_are_left_out():
    options = [("MSS", 1460), ("Timestamp", (0x12345678, 0)), ("WScale", 7), (254, b"secrets")]
    packet = Ether() / IP(**ENDS, options=[IPOption_RR(routers=["10.1.2.9"])]) / TCP(dport=7447, options=options)
    new = rewritten(packet)
    kept = dict(option for option in Ether(new)[TCP].options if option[1] is not None)
    assert kept.get("MSS") == 1460
    assert kept.get("WScale") == 7
    assert b"\x12\x34\x56\x78" not in new
    assert b"secrets" not in new
    assert bytes([10, 1, 2]) not in new


def test_what_is_not_understood_is_zero():
    arp = Ether(src="02:00:00:00:00:11") / ARP(psrc="10.1.2.3")
    assert not any(rewritten(arp)[14:])
    fragment = Ether() / IPv6() / IPv6ExtHdrFragment(offset=3, id=9) / Raw(b"secret")
    assert b"secret" not in rewritten(fragment)
    other = Frame("", 1, 0, 147, 10, b"0123456789")
    assert layers(other) == []


def test_cut_frames_of_any_length():
    packet = Ether() / IP(**ENDS) / TCP(dport=7447, options=[("MSS", 1460)]) / Raw(b"secret")
    for cut in range(len(packet)):
        assert len(rewritten(packet, cut)) == cut
