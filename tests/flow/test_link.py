"""Link layers: the same packet behind each of them."""

import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.flow.flow_frames import A4, B6, ethernet, frame, ipv4, ipv6, tcp, udp
from zdissect.flow import scapy_links
from zdissect.flow.link import Decoder
from zdissect.records import Endpoint, Segment

V4, V6 = ipv4(tcp(b"hello")), ipv6(tcp(b"hello"))
SLL = struct.pack(">HHH8s", 0, 772, 6, bytes(8))
SLL2_TAIL = struct.pack(">HIHBB8s", 0, 1, 772, 0, 6, bytes(8))

LAYERS = {
    "ethernet": (1, ethernet(V4)),
    "ethernet ipv6": (1, ethernet(V6, 0x86DD)),
    "vlan": (1, ethernet(V4, tags=[0x8100])),
    "vlan ipv6": (1, ethernet(V6, 0x86DD, tags=[0x8100])),
    "802.1ad": (1, ethernet(V4, tags=[0x88A8, 0x8100])),
    "qinq": (1, ethernet(V4, tags=[0x9100, 0x9100, 0x8100])),
    "null little": (0, b"\x02\0\0\0" + V4),
    "null big": (0, b"\0\0\0\x02" + V4),
    **{f"null ipv6 {family}": (0, struct.pack("<I", family) + V6) for family in (24, 28, 30, 10)},
    **{f"null ipv6 big {family}": (0, struct.pack(">I", family) + V6) for family in (24, 28, 30, 10)},
    "loop": (108, b"\0\0\0\x02" + V4),
    "loop ipv6": (108, b"\0\0\0\x1e" + V6),
    **{f"raw {link}": (link, V4) for link in (12, 14, 101, 228)},
    **{f"raw ipv6 {link}": (link, V6) for link in (12, 14, 101, 229)},
    "sll": (113, SLL + b"\x08\0" + V4),
    "sll ipv6": (113, SLL + b"\x86\xdd" + V6),
    "sll vlan": (113, SLL + b"\x81\0\0\x2a\x08\0" + V4),
    "sll2": (276, b"\x08\0" + SLL2_TAIL + V4),
    "sll2 ipv6": (276, b"\x86\xdd" + SLL2_TAIL + V6),
    "radiotap, by scapy": (
        127,
        bytes((0, 0, 8, 0, 0, 0, 0, 0)) + b"\x08\x01" + bytes(22) + b"\xaa\xaa\x03\0\0\0\x08\0" + V4,
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_segment_behind_every_link_layer(name: str) -> None:
    link, data = LAYERS[name]
    segment = Decoder().feed(frame(data, link))
    assert isinstance(segment, Segment)
    assert (segment.payload, segment.missing, segment.seq, segment.flags) == (b"hello", 0, 1000, 16)
    assert segment.dst.port == 7447
    assert segment.src == Endpoint(A4, 40000) or segment.dst == Endpoint(B6, 7447)
    assert data[segment.offset :] == b"hello"


@pytest.mark.parametrize(
    ("link", "data", "reason"),
    [
        (1, ethernet(bytes(28), 0x0806), "ARP"),
        (1, ethernet(bytes(28), 0x88B5), "EtherType 0x88b5 (local experimental 1)"),
        (1, ethernet(bytes(28), 0x0026), "LLC without IP"),
        (1, bytes(13), "short Ethernet"),
        (1, ethernet(b"", 0x0800), "short IPv4"),
        (0, b"\x02\0", "short loopback"),
        (0, b"\x07\0\0\0" + V4, "address family 7"),
        (101, b"", "short IP"),
        (101, b"\x50" + bytes(40), "not IP"),
        (113, bytes(15), "short Linux cooked header"),
        (276, b"\x08\6" + bytes(10), "short Linux cooked header"),
        (276, b"\x08\0" + bytes(10), "short Linux cooked header"),
        (147, V4, "link type 147 (USER0)"),
        (9, b"\xff\x03\xc0\x21", "PPP control"),
        (1, ethernet(ipv4(bytes(8), 1)), "ICMP"),
        (1, ethernet(ipv6(bytes(8), 58), 0x86DD), "ICMPv6"),
    ],
)
def test_the_rest_is_counted(link: int, data: bytes, reason: str) -> None:
    decoder = Decoder()
    assert decoder.feed(frame(data, link)) is None
    assert decoder.unopened.total() == {reason: 1}


@pytest.mark.parametrize("link", [9, 50, 105, 127, 192, 195, 230])
@pytest.mark.parametrize("data", [b"", bytes(30), b"\x08\x02" * 40, bytes(range(200))])
def test_scapy_neither_raises_nor_speaks(link: int, data: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    decoder = Decoder()
    assert decoder.feed(frame(data, link)) is None
    assert decoder.unopened.total().total() == 1
    assert capfd.readouterr() == ("", "")


def test_without_scapy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scapy_links, "_scapy", lambda: ({}, ()))
    decoder = Decoder()
    assert decoder.feed(frame(LAYERS["radiotap, by scapy"][1], 127)) is None
    assert decoder.unopened.total() == {"link type 127 (IEEE802_11_RADIOTAP)": 1}


def test_no_scapy_until_it_is_needed() -> None:
    code = "import sys, zdissect.flow.link, zdissect.flow.tcp; sys.exit('scapy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False).returncode == 0


@given(
    link=st.sampled_from([0, 1, 12, 101, 108, 113, 228, 229, 276, 147, 9999]),
    head=st.sampled_from([b"", *(data for link, data in LAYERS.values() if link != 127)]),
    keep=st.integers(0, 80),
    tail=st.binary(max_size=80),
    extra=st.integers(-20, 2000),
)
def test_never_raises(link: int, head: bytes, keep: int, tail: bytes, extra: int) -> None:
    data = head[:keep] + tail
    decoder = Decoder()
    found = decoder.feed(frame(data, link, wire_len=max(0, len(data) + extra)))
    assert found is not None or decoder.unopened.total().total() <= 1
    if found is not None:
        assert found.missing >= 0
        assert data[found.offset : found.offset + len(found.payload)] == found.payload


@given(data=st.binary(max_size=60), position=st.integers(0, 100), link=st.sampled_from(sorted(LAYERS)))
def test_never_raises_on_a_changed_packet(data: bytes, position: int, link: str) -> None:
    number, whole = LAYERS[link]
    changed = whole[:position] + data + whole[position + len(data) :]
    found = Decoder().feed(frame(changed, number))
    assert found is None or found.missing >= 0


@pytest.mark.parametrize("packet", [V4, ipv4(udp(b"hello"), 17), ipv6(udp(b"hello"), 17)])
@pytest.mark.parametrize("link", [1, 101])
def test_a_record_that_claims_less_than_it_holds(link: int, packet: bytes) -> None:
    data = packet if link == 101 else ethernet(packet, 0x0800 if packet[0] == 0x45 else 0x86DD)
    found = Decoder().feed(frame(data, link, wire_len=10))
    assert found is not None
    assert (found.payload, found.missing) == (b"hello", 0)
