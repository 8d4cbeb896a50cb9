"""Headers on arrays: the segments and datagrams that the decoder finds, or none; and none is missed that may matter."""

from random import Random

import pytest

from tests.flow.envelopes import envelopes
from tests.flow.flow_frames import frame, ipv4, ipv6, tcp, udp
from tests.packets import MS
from zdissect.flow.link import Decoder
from zdissect.records import Datagram, Endpoint, Frame, Segment
from zdissect.vector.block_headers import Headers, endpoints


def plain(frames: list[Frame]) -> dict[int, Segment | Datagram]:
    """The segments and datagrams that headers on arrays give, by frame number; those of all others are checked."""
    headers = Headers(frames)
    found, out = headers.segments, dict[int, Segment | Datagram]()
    for at, (index, ends) in enumerate(zip(found.frame.tolist(), found.ends, strict=True)):
        half, one = (len(ends) - 4) // 2, frames[index]
        src, dst = (
            Endpoint(ends[:half], int.from_bytes(ends[-4:-2])),
            Endpoint(ends[half:-4], int.from_bytes(ends[-2:])),
        )
        start, stop = int(found.start[at]), int(found.stop[at])
        seq, ack, flags = (int(column[at]) for column in (found.seq, found.ack, found.flags))
        offset = start - int(headers.start[index])
        out[one.number] = Segment(one, src, dst, seq, ack, flags, headers.data[start:stop], 0, offset)
    out |= datagrams(frames, headers)
    for index, one in enumerate(frames):
        packet = Decoder().feed(one)
        if one.number in out:
            assert out[one.number] == packet
        elif packet is not None:
            assert headers.odd[index], one
    return out


def datagrams(frames: list[Frame], headers: Headers) -> dict[int, Datagram]:
    """The datagrams, by the number of their frame."""
    found, out = headers.datagrams, dict[int, Datagram]()
    for at, (index, ends) in enumerate(zip(found.frame.tolist(), found.ends, strict=True)):
        one, start, stop = frames[index], int(found.start[at]), int(found.stop[at])
        before = int(headers.start[index])
        out[one.number] = Datagram(one, *endpoints(ends), headers.data[start:stop], 0, start - before, (one.number,))
        packet = int(found.packet[at]) - before
        if found.number[at] >= 0:
            assert found.number[at] == int.from_bytes(one.data[packet + 4 : packet + 6])
    return out


def numbered(packets: list[tuple[int, bytes]]) -> list[Frame]:
    return [frame(data, link, number, number * MS) for number, (link, data) in enumerate(packets, 1)]


PACKETS = [
    (ipv4(tcp(b"abc", 0x81828384, 0x91929394)), ipv6(tcp(b"abc", 0x81828384, 0x91929394))),
    (ipv4(tcp()), ipv6(tcp())),
    (ipv4(tcp(b"abc", options=bytes(12))), ipv6(tcp(b"abc", options=bytes(40)))),
    (ipv4(udp(b"abcdefgh"), 17), ipv6(udp(b"abcdefgh"), 17)),
    (ipv4(tcp(b"abc", 0x81828384, 0x91929394), options=bytes(4)), ipv6(tcp(b"abc"), length=0)),
]


def links(v4: bytes, v6: bytes) -> dict[str, tuple[int, bytes]]:
    """Packets on the links that are read on arrays."""
    return {
        **{f"{number}": (number, v4) for number in (12, 14, 101, 228)},
        **{f"{number} 6": (number, v6) for number in (101, 229)},
        "ethernet": (1, bytes(12) + b"\x08\x00" + v4),
        "ethernet 6": (1, bytes(12) + b"\x86\xdd" + v6),
        "tagged": (1, bytes(12) + b"\x81\x00\x00\x05\x08\x00" + v4),
        "tagged 6": (1, bytes(12) + b"\x81\x00\x00\x05\x86\xdd" + v6),
        "sll": (113, bytes(14) + b"\x08\x00" + v4),
        "sll 6": (113, bytes(14) + b"\x86\xdd" + v6),
        "sll2": (276, b"\x08\x00" + bytes(18) + v4),
        "sll2 6": (276, b"\x86\xdd" + bytes(18) + v6),
        "null": (0, b"\x02\0\0\0" + v4),
        "null, big endian": (0, b"\0\0\0\x02" + v4),
        "null 6": (0, b"\x1e\0\0\0" + v6),
        "loop": (108, b"\0\0\0\x02" + v4),
        "loop 6": (108, b"\0\0\0\x18" + v6),
    }


ALL = [packet for pair in PACKETS for packet in (*links(*pair).values(), *envelopes(*pair).values())]


def test_plain_packets_are_found():
    for pair in PACKETS[:4]:
        frames = numbered([*links(*pair).values()])
        assert len(plain(frames)) == len(frames)


def test_all_envelopes():
    plain(numbered(ALL))


def test_short_frames():
    for size in range(90):
        plain(numbered([(link, data[:size]) for link, data in ALL]))


@pytest.mark.parametrize("seed", range(20))
def test_changed_bytes(seed):
    random, packets = Random(seed), []
    for link, data in ALL:
        changed = bytearray(data)
        for _ in range(random.randint(1, 3)):
            value = random.choice((0, 1, 6, 17, 0x45, 0x46, 0x50, random.randrange(256)))
            changed[random.randrange(min(70, len(data)))] = value
        packets.append((link, bytes(changed) + bytes(random.choice((0, 0, 7)))))
    random.shuffle(packets)
    plain(numbered(packets))


def test_no_frames():
    assert plain([]) == {}
