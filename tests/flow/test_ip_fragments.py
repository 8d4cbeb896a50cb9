"""IP fragments: put together in any order, bounded, and safe from those who lie."""

import pickle
import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.flow.flow_frames import frame, ipv4, ipv6, tcp, udp
from zdissect.flow import ipfragments
from zdissect.flow.link import Decoder
from zdissect.limits import Quota
from zdissect.records import Datagram, Frame, Segment


def cut4(body: bytes, size: int, ident: int = 1) -> list[bytes]:
    return [
        ipv4(body[at : at + size], 17, ident=ident, place=at // 8 | 0x2000 * (at + size < len(body)))
        for at in range(0, len(body), size)
    ]


def cut6(body: bytes, size: int, ident: int = 1) -> list[bytes]:
    return [
        ipv6(struct.pack(">BBHI", 17, 0, at | (at + size < len(body)), ident) + body[at : at + size], 44)
        for at in range(0, len(body), size)
    ]


def numbered(packets: list[bytes], ts_ns: int = 0) -> list[Frame]:
    return [frame(packet, 101, number, ts_ns) for number, packet in enumerate(packets, 1)]


def datagrams(decoder: Decoder, frames: list[Frame]) -> list[Datagram]:
    found = [decoder.feed(frame) for frame in frames]
    return [item for item in found if isinstance(item, Datagram)]


PAYLOAD = random.Random(1).randbytes(5000)


@pytest.mark.parametrize("cut", [cut4, cut6])
@pytest.mark.parametrize("seed", range(5))
def test_fragments_in_any_order_with_duplicates(cut: type, seed: int) -> None:
    frames = numbered(cut(udp(PAYLOAD), 1480))
    shuffled = frames * 2
    if seed:
        random.Random(seed).shuffle(shuffled)
    decoder = Decoder()
    (found,) = datagrams(decoder, shuffled)
    assert found.payload == PAYLOAD
    assert (found.missing, found.offset, found.frames) == (0, -1, (1, 2, 3, 4))
    assert found.src.port == 40000
    decoder.close()
    assert not decoder.unopened.total()


def test_the_frame_is_the_one_that_completed_the_datagram() -> None:
    frames = numbered(cut4(udp(PAYLOAD), 1480))
    (found,) = datagrams(Decoder(), [frames[3], frames[0], frames[2], frames[1]])
    assert found.frame.number == 2
    assert found.frames == (1, 2, 3, 4)


def test_datagrams_in_between_each_other() -> None:
    first, second = cut4(udp(b"a" * 3000), 1480, 1), cut4(udp(b"b" * 3000), 1480, 2)
    mixed = [packet for pair in zip(first, second, strict=True) for packet in pair]
    found = datagrams(Decoder(), numbered(mixed))
    assert [item.payload for item in found] == [b"a" * 3000, b"b" * 3000]
    assert [item.frames for item in found] == [(1, 3, 5), (2, 4, 6)]


def test_overlapping_fragments_first_wins() -> None:
    body = udp(b"." * 56)
    packets = [
        ipv4(body[:32], 17, place=0x2000),
        ipv4(b"#" * 32, 17, place=0x2002),  # overlaps the first by 16
        ipv4(b"!" * 40, 17, place=3),  # overlaps both, is the last
    ]
    (found,) = datagrams(Decoder(), numbered(packets))
    assert found.payload == b"." * 24 + b"#" * 16 + b"!" * 16


def test_an_identification_used_again_for_other_content() -> None:
    frames = numbered(cut4(udp(b"a" * 3000), 1480) + cut4(udp(b"b" * 3000), 1480))
    assert [item.payload[:1] for item in datagrams(Decoder(), frames)] == [b"a", b"b"]


def test_an_old_fragment_is_not_mixed_with_a_new_datagram() -> None:
    late = ipfragments.FRAGMENT_LIFETIME_NS + 1
    frames = numbered(cut4(udp(b"a" * 3000), 1480)[1:]) + numbered(cut4(udp(b"b" * 3000), 1480), late)
    decoder = Decoder()
    (found,) = datagrams(decoder, frames)
    assert found.payload == b"b" * 3000
    assert decoder.unopened.total() == {"IP fragments without the others": 2}


def test_a_fragment_cut_by_the_capture() -> None:
    packets = cut4(udp(PAYLOAD), 1480)
    frames = [frame(packet[:100], 101, number, 0, len(packet)) for number, packet in enumerate(packets, 1)]
    (found,) = datagrams(Decoder(), frames)
    assert found.payload == PAYLOAD[:72]
    assert found.missing == 5000 - 72


def test_open_datagrams_are_bounded_and_counted() -> None:
    decoder = limited(10_000)
    lost = [cut4(udp(bytes(3000)), 1480, ident)[0] for ident in range(50)]
    assert not datagrams(decoder, numbered(lost))
    assert 44 <= decoder.unopened.total()["IP fragments without the others"] < 50
    decoder.close()
    assert decoder.unopened.total() == {"IP fragments without the others": 50}


def limited(most: int) -> Decoder:
    """A decoder that keeps so many bytes of fragments at most."""
    decoder = Decoder()
    decoder.limit(Quota("packets", most))
    return decoder


def test_datagrams_that_are_too_old_are_given_up() -> None:
    decoder = Decoder()
    lost = [cut4(udp(bytes(3000)), 1480, ident)[0] for ident in range(2)]
    late = frame(lost[1], 101, 2, ts_ns=ipfragments.FRAGMENT_LIFETIME_NS + 2)
    assert not datagrams(decoder, [frame(lost[0], 101, 1), late])
    assert decoder.unopened.total() == {"IP fragments without the others": 1}


def stranger(packet: bytes) -> bytes:
    """The same packet from another sender."""
    return packet[:12] + b"\x0b\0\0\2" + packet[16:]


def test_a_fragment_that_lies_about_its_size_harms_no_other_datagram() -> None:
    """A record that claims 4 GB, and a total length that is 0: `stop` is where the record says."""
    first, second = cut4(udp(b"hello" * 100), 256, 7)[:2]
    evil = stranger(ipv4(b"x" * 64, 17, total=0, ident=9, place=0x2000))
    decoder = Decoder()
    frames = [frame(first, 101, 1), frame(evil, 101, 2, wire_len=0xFFFFFFFF), frame(second, 101, 3)]
    (found,) = datagrams(decoder, frames)
    assert found.payload == b"hello" * 100
    assert decoder.unopened.total() == {"IP fragments beyond 65535 bytes": 1}


@pytest.mark.parametrize("place", [0x1FFF, 0x3FFF])
def test_no_datagram_is_longer_than_64_kb(place: int) -> None:
    decoder = Decoder()
    assert decoder.feed(frame(ipv4(bytes(16), 17, place=place), 101)) is None
    assert decoder.unopened.total() == {"IP fragments beyond 65535 bytes": 1}


def test_the_longest_datagram_is_put_together() -> None:
    body = udp(bytes(65507))
    (found,) = datagrams(Decoder(), numbered(cut4(body, 1480)))
    assert len(found.payload) == 65507


def test_who_floods_pushes_out_only_himself() -> None:
    first, second = cut4(udp(b"a" * 2000), 1480, 7)
    flood = [stranger(cut4(udp(bytes(3000)), 1480, ident)[0]) for ident in range(100)]
    (found,) = datagrams(limited(20_000), numbered([first, *flood, second]))
    assert found.payload == b"a" * 2000


def test_many_senders_with_little_dont_push_out_the_largest() -> None:
    first, second = cut4(udp(b"a" * 2000), 1480, 7)
    flood = [
        packet[:12] + bytes([11, 0, 0, ident]) + packet[16:]
        for ident in range(250)
        for packet in [cut4(udp(bytes(64)), 16, ident)[0]]
    ]
    (found,) = datagrams(limited(40_000), numbered([*flood, first, *flood[:15], second]))
    assert found.payload == b"a" * 2000


def test_a_contradiction_costs_the_liar_only() -> None:
    first, second = cut4(udp(b"a" * 1500), 1480, 7)
    beyond = ipv4(bytes(800), 17, ident=7, place=0x2000 | 1480 // 8)
    end = ipv4(bytes(8), 17, ident=7, place=4000 // 8)
    for order in ([first, beyond, end, second], [end, first, second]):
        (found,) = datagrams(Decoder(), numbered(order))
        assert len(found.payload) == 1500
    decoder = Decoder()
    assert not datagrams(decoder, numbered([second, end]))
    assert decoder.unopened.total() == {"bad IP fragment": 1}


def test_the_smallest_fragments_backwards() -> None:
    pieces = cut4(udp(bytes(65496)), 8)
    assert len(pieces) == 8188
    (found,) = datagrams(Decoder(), numbered(pieces[::-1]))
    assert len(found.payload) == 65496


def test_tcp_in_fragments() -> None:
    body = tcp(b"q" * 100)
    packets = [ipv4(body[:64], place=0x2000), ipv4(body[64:], place=8)]
    found = [Decoder.feed(decoder, item) for decoder in [Decoder()] for item in numbered(packets)]
    assert isinstance(found[1], Segment)
    assert (found[1].payload, found[1].offset) == (b"q" * 100, -1)


def test_pickled_between_two_fragments() -> None:
    frames = numbered(cut4(udp(PAYLOAD), 1480))
    decoder = Decoder()
    datagrams(decoder, frames[:2])
    (found,) = datagrams(pickle.loads(pickle.dumps(decoder)), frames[2:])
    assert found.payload == PAYLOAD


@given(
    parts=st.lists(
        st.tuples(st.integers(0, 40), st.booleans(), st.binary(min_size=0, max_size=40), st.integers(0, 20)),
        max_size=30,
    )
)
def test_any_fragments_at_all(parts: list[tuple[int, bool, bytes, int]]) -> None:
    decoder = Decoder()
    for place, more, data, lost in parts:
        packet = ipv4(data, 17, place=place | 0x2000 * more, total=20 + len(data) + lost)
        found = decoder.feed(frame(packet, 101, wire_len=len(packet) + lost))
        assert found is None or found.missing >= 0
    decoder.close()
