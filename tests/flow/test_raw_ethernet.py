"""Zenoh over raw Ethernet, as zenoh-pico writes it."""

import struct

import pytest

from tests.conversation import CLIENT, OTHER_ROUTER, Conversation
from tests.flow.flow_frames import frame
from tests.messages import push
from tests.packets import CaptureBuilder
from zdissect.flow.link import Decoder
from zdissect.pipeline import Pipeline
from zdissect.records import Datagram


def raweth(message: bytes, tags: bytes = b"", length: int | None = None, kind: bytes = b"\xe0\x72") -> bytes:
    head = b"\x01\0\x5e\0\0\x01" + b"\x02\0\0\0\0\x01" + tags + kind
    return head + struct.pack(">H", len(message) if length is None else length) + message


@pytest.mark.parametrize("kind", [b"\xe0\x72", b"\x72\xe0"])
@pytest.mark.parametrize("tags", [b"", b"\x81\0\0\5"])
def test_raw_ethernet(kind: bytes, tags: bytes) -> None:
    data = raweth(b"\4\4", tags, kind=kind)
    found = Decoder().feed(frame(data + bytes(60 - len(data))))
    assert isinstance(found, Datagram)
    assert (found.payload, found.missing, found.link) == (b"\4\4", 0, "raweth")
    assert found.src == (b"\x02\0\0\0\0\x01", 0)
    assert found.dst == (b"\x01\0\x5e\0\0\x01", 0)
    assert data[found.offset :] == b"\4\4"


def test_raw_ethernet_cut_and_lying() -> None:
    found = Decoder().feed(frame(raweth(b"abcdef")[:-2], wire_len=60))
    assert isinstance(found, Datagram)
    assert (found.payload, found.missing) == (b"abcd", 2)
    decoder = Decoder()
    assert decoder.feed(frame(raweth(b"abcdef", length=7))) is None
    assert decoder.feed(frame(raweth(b"")[:15])) is None
    assert decoder.unopened.total() == {
        "bad raw Ethernet of zenoh-pico": 1, "short raw Ethernet of zenoh-pico": 1,
    }  # fmt: skip


@pytest.mark.parametrize("link", [113, 276])
def test_raw_ethernet_of_a_cooked_capture_has_no_receiver(link: int) -> None:
    mac = b"\x02\0\0\0\0\x01"
    head = struct.pack(">HHH6s2sH", 2, 1, 6, mac, b"", 0xE072) if link == 113 else (
        struct.pack(">HHIHBB6s2s", 0xE072, 0, 1, 1, 2, 6, mac, b""))  # fmt: skip
    found = Decoder().feed(frame(head + b"\0\1\4", link))
    assert isinstance(found, Datagram)
    assert (found.payload, found.src.address, found.dst.address) == (b"\4", mac, b"")


@pytest.mark.parametrize("closed", [True, False])
def test_what_a_station_sends_shares_its_numbers_after_a_further_handshake_too(closed: bool) -> None:
    """The sessions that begin anew on one of two links: numbers that are missing may be on the other one."""

    def frames(talk: Conversation, receiver: int) -> list[bytes]:
        stations = b"\x02\x00\x00\x00\x00\x01", bytes((2, 0, 0, 0, 0, receiver))
        out = []
        for one in talk.capture.frames:
            payload, side = one.data[42:], int(one.data[34:36] == b"\x1d\x17")
            out.append(stations[1 - side] + stations[side] + b"\xe0\x72" + len(payload).to_bytes(2) + payload)
        return out

    first = Conversation(udp=True).open().frame(0, push("a"))
    other = Conversation(udp=True, nodes=(CLIENT, OTHER_ROUTER)).open()
    again = Conversation(udp=True)
    if closed:
        again.close(0)
    again.open().frame(0, push("a"))
    packets = [*frames(first, 2), *frames(other, 3), *frames(again, 2)]
    capture = CaptureBuilder()
    for packet in packets:
        capture.record(packet)
    pipeline = Pipeline()
    for one in capture.frames:
        pipeline.feed(one)
    links = pipeline.sessions.links
    assert len(links) == 2
    assert all(link.session.shared for link in links.values())
