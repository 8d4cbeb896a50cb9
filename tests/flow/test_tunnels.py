"""Tunnels and rare links: the same packet in each of them, and what only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.flow.envelopes import datagram, envelopes, geneve, gtp, in_udp, mpls, vxlan
from tests.flow.flow_frames import A4, B4, ethernet, frame, ipv4, ipv6, tcp, udp
from zdissect.flow.ip import MAX_DEPTH
from zdissect.flow.link import Decoder
from zdissect.records import Datagram, Segment

V4, V6 = ipv4(tcp(b"hello")), ipv6(tcp(b"hello"))
TCP = envelopes(V4, V6)


UDP = envelopes(ipv4(udp(b"hello"), 17), ipv6(udp(b"hello"), 17))


PADDED = {name: one for name, one in UDP.items() if one[0] == 1}


@pytest.mark.parametrize("name", TCP)
def test_segment_in_every_envelope(name: str) -> None:
    link, data = TCP[name]
    decoder = Decoder()
    segment = decoder.feed(frame(data, link))
    assert isinstance(segment, Segment)
    assert (segment.payload, segment.missing, segment.seq, segment.src.port) == (b"hello", 0, 1000, 40000)
    assert data[segment.offset :] == b"hello"
    assert not decoder.unopened.total()


@pytest.mark.parametrize("name", UDP)
def test_datagram_in_every_envelope(name: str) -> None:
    link, data = UDP[name]
    found = Decoder().feed(frame(data, link, number=7))
    assert isinstance(found, Datagram)
    assert (found.payload, found.missing, found.dst.port, found.frames) == (b"hello", 0, 7447, (7,))
    assert data[found.offset :] == b"hello"


@pytest.mark.parametrize("name", PADDED)
def test_padding_behind_an_envelope_is_no_payload(name: str) -> None:
    found = Decoder().feed(frame(PADDED[name][1] + bytes(9)))
    assert found is not None
    assert found.payload == b"hello"


@pytest.mark.parametrize("name", TCP)
@pytest.mark.parametrize("cut", [1, 5])
def test_an_envelope_cut_by_the_capture(name: str, cut: int) -> None:
    link, data = TCP[name]
    segment = Decoder().feed(frame(data[:-cut], link, wire_len=len(data)))
    assert isinstance(segment, Segment)
    assert (segment.payload, segment.missing) == (b"hello"[: 5 - cut], cut)


@pytest.mark.parametrize("name", TCP)
def test_every_cut_of_an_envelope_is_counted_once(name: str) -> None:
    link, data = TCP[name]
    for size in range(len(data) - 5 - 20):
        decoder = Decoder()
        found = decoder.feed(frame(data[:size], link, wire_len=len(data)))
        assert isinstance(found, Datagram) or (found, decoder.unopened.total().total()) == (None, 1), size


def test_an_outer_packet_in_fragments() -> None:
    outer = datagram(vxlan(ipv4(udp(b"x" * 3000), 17)), 4789)
    frames = [
        frame(ethernet(ipv4(outer[at : at + 1480], 17, place=at // 8 | 0x2000 * (at + 1480 < len(outer)))), number=at)
        for at in range(0, len(outer), 1480)
    ]
    decoder = Decoder()
    found = [one for one in map(decoder.feed, frames) if one is not None]
    assert len(found) == 1
    assert isinstance(found[0], Datagram)
    assert (found[0].payload, found[0].offset) == (b"x" * 3000, -1)
    assert found[0].frames == (0, 1480, 2960)


def test_fragments_in_a_tunnel_name_all_their_frames() -> None:
    inner = udp(b"y" * 2000)
    pieces = [ipv4(inner[:1000], 17, ident=9, place=0x2000), ipv4(inner[1000:], 17, ident=9, place=125)]
    outers = [datagram(vxlan(piece), 4789) for piece in pieces]
    frames = []
    for ident, outer in enumerate(outers):
        frames += [
            frame(ethernet(ipv4(outer[:512], 17, ident=ident, place=0x2000)), number=10 * ident + 1),
            frame(ethernet(ipv4(outer[512:], 17, ident=ident, place=64)), number=10 * ident + 2),
        ]
    decoder = Decoder()
    found = [one for one in map(decoder.feed, frames) if one is not None]
    assert isinstance(found[0], Datagram)
    assert (found[0].payload, found[0].frames) == (b"y" * 2000, (1, 2, 11, 12))


@pytest.mark.parametrize(
    "content",
    [
        b"\x00" + vxlan(V4)[1:],  # no network number
        b"\x18" + vxlan(V4)[1:],
        vxlan(V4, 0x08000100),
        vxlan(V4, 0x0C000009),
        vxlan(V4, vni=0x12301),
        vxlan(V4)[:7],
        vxlan(V4)[:8],
        b"\x25\x00\x7d\x00\x03k/a\x01\x03111",  # a FRAME of Zenoh
    ],
)
@pytest.mark.parametrize("port", [4789, 8472])
def test_what_is_no_vxlan_is_a_datagram(content: bytes, port: int) -> None:
    found = Decoder().feed(frame(ethernet(in_udp(content, port))))
    assert isinstance(found, Datagram)
    assert found.payload == content


@pytest.mark.parametrize(
    ("content", "port"),
    [
        (geneve(ethernet(V4))[:7], 6081),
        (b"\x40" + geneve(ethernet(V4))[1:], 6081),
        (geneve(ethernet(V4), 0x5D00), 6081),
        (geneve(b"", options=b"")[:1] + b"\x01" + geneve(ethernet(V4))[2:], 6081),
        (gtp(V4)[:-1], 2152),
        (gtp(V4, 0x50), 2152),
        (b"\x32\x01\0\4\0\0\0\0\0\0\0\0", 2152),
        (bytes(4) + b"\x21" * 40, 4500),  # the exchange of keys
        (b"\xff", 4500),  # keep-alive
        (b"\x25\x05\x7d\x00\x03k/a\x01\x03111", 4500),
        (b"\x40\0\x08\0" + V4, 4754),
        (b"\0\0\x5d\0" + V4, 4754),
        (mpls(bytes(40), 5), 6635),
        (V6 + b"!", 3544),
        (b"\1\0\0\2" + V4, 37008),
        (b"\xc8\x02" + bytes(10), 1701),  # L2TP's control
    ],
)
def test_what_is_no_other_tunnel_is_a_datagram(content: bytes, port: int) -> None:
    found = Decoder().feed(frame(ethernet(in_udp(content, port))))
    assert isinstance(found, Datagram)
    assert found.payload == content


@pytest.mark.parametrize("ports", [(4789, 50000), (50000, 4789)])
def test_decode_as_wins_over_a_tunnel(ports: tuple[int, int]) -> None:
    data = ethernet(ipv4(datagram(vxlan(V4), 4789, ports[0]), 17))
    found = Decoder(frozenset({ports[0]})).feed(frame(data))
    assert isinstance(found, Datagram)
    assert found.payload == vxlan(V4)


def nested(times: int) -> bytes:
    packet = V4
    for _ in range(times):
        packet = in_udp(vxlan(packet), 4789)
    return ethernet(packet)


def test_packets_in_each_other_up_to_a_bound() -> None:
    assert isinstance(Decoder().feed(frame(nested(MAX_DEPTH - 1))), Segment)
    for deep in (nested(MAX_DEPTH), nested(100)):
        decoder = Decoder()
        assert decoder.feed(frame(deep)) is None
        assert decoder.unopened.total() == {f"more than {MAX_DEPTH} IP packets inside each other": 1}


def test_a_hundred_headers_of_other_kinds() -> None:
    assert isinstance(Decoder().feed(frame(ethernet(V4, tags=[0x8100] * 100))), Segment)
    assert isinstance(Decoder().feed(frame(ethernet(mpls(V4, *range(16, 116)), 0x8847))), Segment)
    data = V4
    for _ in range(100):
        data = ipv4(data, 4)
    decoder = Decoder()
    assert decoder.feed(frame(ethernet(data))) is None
    assert decoder.unopened.total().total() == 1


def test_a_length_beyond_the_tunnel_is_not_believed() -> None:
    inner = ipv4(tcp(b"abc"), total=47)  # as if four bytes more were in it
    segment = Decoder().feed(frame(ethernet(in_udp(vxlan(inner), 4789)) + b"FCS!"))
    assert isinstance(segment, Segment)
    assert (segment.payload, segment.missing) == (b"abc", 0)


def test_a_long_inner_length_is_not_believed() -> None:
    inner = ipv4(udp(b"abc", length=60000), 17, total=60028)
    found = Decoder().feed(frame(ethernet(in_udp(vxlan(inner), 4789)) + bytes(6)))
    assert isinstance(found, Datagram)
    assert (found.payload, found.missing) == (b"abc", 0)


@given(
    name=st.sampled_from(sorted(TCP)),
    position=st.integers(0, 150),
    data=st.binary(max_size=60),
    extra=st.integers(-20, 2000),
)
def test_never_raises_on_a_changed_envelope(name: str, position: int, data: bytes, extra: int) -> None:
    link, whole = TCP[name]
    changed = whole[:position] + data + whole[position + len(data) :]
    decoder = Decoder()
    found = decoder.feed(frame(changed, link, wire_len=max(0, len(changed) + extra)))
    assert found is not None or decoder.unopened.total().total() <= 1
    if found is not None:
        assert found.missing >= 0
        assert changed[found.offset : found.offset + len(found.payload)] == found.payload


def test_addresses_are_those_of_the_inner_packet() -> None:
    inner = V4.replace(A4, b"\x0a\x2a\0\5").replace(B4, b"\x0a\x2a\1\7")
    segment = Decoder().feed(frame(ethernet(in_udp(vxlan(inner), 4789))))
    assert isinstance(segment, Segment)
    assert (segment.src.address, segment.dst.address) == (b"\x0a\x2a\0\5", b"\x0a\x2a\1\7")
