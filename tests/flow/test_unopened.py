"""Frames that are not opened: each is counted with the reason, and only once."""

import struct

import pytest

from tests.flow.envelopes import PKTAP, geneve, gre, in_udp, mpls, pppoe
from tests.flow.flow_frames import ethernet, frame, ipv4, tcp
from zdissect.flow.link import Decoder
from zdissect.records import Frame

V4 = ipv4(tcp(b"hello"))


@pytest.mark.parametrize(
    ("link", "data", "reason"),
    [
        (1, ethernet(gre(b"", 0x0800, 0x0002)), "GRE version 2"),
        (1, ethernet(gre(bytes(8), 0x0800, 0x4000)), "GRE with source routing"),
        (1, ethernet(gre(b"", 0)), "GRE protocol 0x0000"),
        (1, ethernet(gre(bytes(9), 0x88E5)), "EtherType 0x88e5 (MACsec)"),
        (1, ethernet(gre(ethernet(bytes(28), 0x0806), 0x6558)), "ARP"),
        (1, ethernet(gre(bytes(10) + b"\x10\0" + bytes(9), 0x22EB)), "ERSPAN of another link"),
        (1, ethernet(ipv4(bytes(20), 97)), "bad EtherIP"),
        (1, ethernet(ipv4(bytes(20), 50)), "IP protocol 50 (ESP)"),
        (1, ethernet(ipv4(bytes(20), 115)), "IP protocol 115 (L2TPv3)"),
        (1, ethernet(in_udp(b"\0\0\0\1" + bytes(40), 4500)), "IPsec over UDP (encrypted)"),
        (1, ethernet(in_udp(struct.pack(">II", 0x0C000009, 0), 4790)), "VXLAN-GPE of another protocol"),
        (1, ethernet(in_udp(geneve(b"", 0x88CC), 6081)), "LLDP"),
        (1, ethernet(in_udp(b"\1\0\0\1\0\x0a\1\x55", 37008)), "short TZSP"),
        (127, bytes(2) + b"\x08\0" + bytes(4) + b"\x80\0" + bytes(22) + bytes(12), "802.11 management"),
        (105, b"\x08\x41" + bytes(60), "802.11 (encrypted)"),
        (187, bytes(20), "link type 187 (BLUETOOTH_HCI_H4) without IP"),
        (1, ethernet(pppoe(b"")[:5], 0x8864), "short PPPoE"),
        (1, ethernet(b"\x12" + pppoe(V4)[1:], 0x8864), "bad PPPoE"),
        (1, ethernet(pppoe(bytes(8), b"\xc0\x21"), 0x8864), "PPP control"),
        (1, ethernet(pppoe(bytes(8), b"\x00\xfd"), 0x8864), "PPP protocol 0x00fd"),
        (1, ethernet(bytes(20), 0x8863), "PPPoE discovery"),
        (1, ethernet(b"\0\x06\x40\x40" * 5, 0x8847), "short MPLS"),
        (1, ethernet(mpls(b"\x10\0\0\0" + bytes(20), 5), 0x8847), "MPLS control"),
        (1, ethernet(mpls(b"\xff" * 40, 5), 0x8847), "MPLS that carries no IP"),
        (1, ethernet(b"\x42\x42\x03" + bytes(35), 38), "STP"),
        (1, ethernet(bytes(40), 0x88E5), "EtherType 0x88e5 (MACsec)"),
        (1, ethernet(bytes(40), 0x1234), "EtherType 0x1234"),
        (1, ethernet(b"\0\1", 0x8100), "short VLAN tag"),
        (113, struct.pack(">HHH8sH", 0, 280, 0, bytes(8), 12) + bytes(16), "CAN"),
        (258, PKTAP[:8] + struct.pack("<I", 999) + PKTAP[12:] + bytes(40), "link type 999"),
        (258, PKTAP[:8] + struct.pack("<I", 258) + PKTAP[12:] + PKTAP, "link type 258 (PKTAP)"),
        (258, PKTAP[:50], "short PKTAP"),
        (258, bytes(200), "link type 258 (PKTAP)"),
        (189, bytes(40), "link type 189 (USB_LINUX)"),
        (271, bytes(40), "link type 271 (VSOCK)"),
        (117, b"\0" * 40, "short PFLOG"),
        (239, bytes(4) + b"\x08\0\x02\0" + bytes(4), "NFLOG without a packet"),
        (239, bytes(64), "NFLOG without a packet"),
    ],
)
def test_what_isn_t_opened_is_named(link: int, data: bytes, reason: str) -> None:
    decoder = Decoder()
    assert decoder.feed(frame(data, link)) is None
    assert decoder.unopened.total() == {reason: 1}


def test_kinds_of_unopened_frames_are_bounded() -> None:
    decoder = Decoder()
    for kind in range(0x1000, 0x2000):
        decoder.feed(frame(ethernet(bytes(40), kind)))
    total = decoder.unopened.total()
    assert total.total() == 0x1000
    assert len(total) == 257
    assert total["others"] == 0x1000 - 256


def test_unopened_frames_are_counted_by_file() -> None:
    decoder = Decoder()
    for source in ("a", "b", "b"):
        decoder.feed(Frame(source, 1, 0, 189, 40, bytes(40)))
    assert {source: dict(kinds) for source, kinds in decoder.unopened.files.items()} == {
        "a": {"link type 189 (USB_LINUX)": 1}, "b": {"link type 189 (USB_LINUX)": 2},
    }  # fmt: skip
