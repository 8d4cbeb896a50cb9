"""IP: options, extension headers, padding, cut packets."""

import struct

import pytest

from tests.flow.flow_frames import SYN, ethernet, frame, ipv4, ipv6, tcp, udp
from zdissect.flow import ip
from zdissect.flow.link import Decoder
from zdissect.records import Datagram, Segment


def decode(packet: bytes, wire_len: int | None = None) -> Segment | Datagram | None:
    return Decoder().feed(frame(packet, 101, wire_len=wire_len))


def extension(next_header: int, size: int = 8) -> bytes:
    return bytes((next_header, size // 8 - 1)) + bytes(size - 2)


def test_ipv4_options_and_tcp_options() -> None:
    segment = decode(ipv4(tcp(b"x" * 9, flags=SYN, options=b"\x01" * 12), options=b"\x01" * 8))
    assert isinstance(segment, Segment)
    assert (segment.payload, segment.offset, segment.flags) == (b"x" * 9, 60, SYN)


@pytest.mark.parametrize("header", [0, 43, 60, 135])
def test_ipv6_extension_headers(header: int) -> None:
    segment = decode(ipv6(extension(60, 16) + extension(6) + tcp(b"abc"), header))
    assert isinstance(segment, Segment)
    assert segment.payload == b"abc"


def test_ipv6_authentication_header() -> None:
    segment = decode(ipv6(b"\x06\x04" + bytes(22) + tcp(b"abc"), 51))
    assert isinstance(segment, Segment)
    assert segment.payload == b"abc"


def test_ipv6_atomic_fragment_is_whole() -> None:
    segment = decode(ipv6(struct.pack(">BBHI", 6, 0, 0, 7) + tcp(b"abc"), 44))
    assert isinstance(segment, Segment)
    assert (segment.payload, segment.offset) == (b"abc", 68)


@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        (ipv6(bytes(30), 50), "IP protocol 50 (ESP)"),
        (ipv6(b"", 59), "no next header"),
        (ipv6(b"\x06", 0), "short IPv6"),
        (ipv6(b"")[:30], "short IPv6"),
        (ipv4(bytes(30), 200), "IP protocol 200"),
        (ipv4(tcp(), total=19), "bad IPv4"),
        (b"\x41" + ipv4(tcp())[1:], "bad IPv4"),
        (ipv4(tcp()[:13]), "short TCP"),
        (ipv4(tcp()[:12] + b"\x40" + tcp()[13:]), "bad TCP"),
        (ipv4(tcp()[:12] + b"\xf0" + tcp()[13:]), "bad TCP"),
        (ipv4(udp(b"")[:7], 17), "short UDP"),
        (ipv4(udp(b"abc", length=5), 17), "bad UDP"),
        (ipv4(b"", place=0x2000), "bad IP fragment"),
    ],
)
def test_what_is_not_understood_is_counted(packet: bytes, reason: str) -> None:
    decoder = Decoder()
    assert decoder.feed(frame(packet, 101)) is None
    assert decoder.unopened.total() == {reason: 1}


def test_ethernet_padding_is_no_payload() -> None:
    segment = Decoder().feed(frame(ethernet(ipv4(tcp())) + bytes(6)))
    assert isinstance(segment, Segment)
    assert (segment.payload, segment.missing) == (b"", 0)
    datagram = Decoder().feed(frame(ethernet(ipv6(udp(b"ab"), 17), 0x86DD) + bytes(10)))
    assert isinstance(datagram, Datagram)
    assert datagram.payload == b"ab"


@pytest.mark.parametrize("packet", [ipv4(tcp(b"y" * 70000), total=0), ipv6(tcp(b"y" * 70000), length=0)])
def test_length_zero_of_segmentation_offload_takes_the_rest(packet: bytes) -> None:
    segment = decode(packet)
    assert isinstance(segment, Segment)
    assert segment.payload == b"y" * 70000


@pytest.mark.parametrize("make", [ipv4, ipv6])
@pytest.mark.parametrize("captured", [0, 1, 99, 100])
def test_snaplen_cuts_the_payload(make: type, captured: int) -> None:
    packet = make(tcp(b"z" * 100, options=bytes(12)))
    cut = packet[: len(packet) - 100 + captured]
    segment = decode(cut, wire_len=len(packet))
    assert isinstance(segment, Segment)
    assert (segment.payload, segment.missing) == (b"z" * captured, 100 - captured)
    datagram = decode(make(udp(b"z" * 100), 17)[: captured - 100 or None], wire_len=len(packet) - 24)
    assert isinstance(datagram, Datagram)
    assert (datagram.payload, datagram.missing) == (b"z" * captured, 100 - captured)


def test_snaplen_within_the_tcp_options() -> None:
    packet = ipv4(tcp(b"z" * 100, options=bytes(12)))
    segment = decode(packet[:45], wire_len=len(packet))
    assert isinstance(segment, Segment)
    assert (segment.payload, segment.missing) == (b"", 100)


def test_a_length_beyond_the_wire_is_not_believed() -> None:
    segment = decode(ipv4(tcp(b"abc"), total=60000))
    assert isinstance(segment, Segment)
    assert (segment.payload, segment.missing) == (b"abc", 0)


def test_udp_length_cuts_and_zero_takes_the_rest() -> None:
    short, rest = decode(ipv4(udp(b"abcdef", length=11), 17)), decode(ipv4(udp(b"abcdef", length=0), 17))
    assert isinstance(short, Datagram)
    assert isinstance(rest, Datagram)
    assert (short.payload, rest.payload) == (b"abc", b"abcdef")
    assert short.frames == (1,)


def test_the_endpoints_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ip, "MAX_PAIRS", 2)
    decoder = Decoder()
    for port in range(10):
        found = decoder.feed(frame(ipv4(struct.pack(">H", port) + tcp(b"x")[2:]), 101))
        assert found is not None
        assert found.src.port == port
