"""The layers of frames: the payload is where the decoder finds it, in whatever is around it."""

import pytest

from tests.flow.envelopes import datagram, envelopes
from tests.flow.flow_frames import ipv4, ipv6
from zdissect.anonymize.addresses import Addresses
from zdissect.anonymize.layers import PAYLOAD, layers
from zdissect.anonymize.packet_headers import PacketHeaders
from zdissect.anonymize.secret import Secret
from zdissect.flow.link import Decoder
from zdissect.records import Frame

SECRET = b"nobody may read this"
ENVELOPES = envelopes(ipv4(datagram(SECRET, 7447), 17), ipv6(datagram(SECRET, 7447), 17))
NAMING = ("pflog", "nflog", "teredo", "tzsp", "wifi", "802.11", "ieee")
"""What stands around them names interfaces, rules or machines."""


@pytest.mark.parametrize("name", ENVELOPES)
def test_the_payload_is_where_the_decoder_finds_it(name):
    link, data = ENVELOPES[name]
    frame = Frame("", 1, 0, link, len(data), data)
    packet = Decoder().feed(frame)
    found = layers(frame)
    places = [layer.body for layer in found if layer.kind == PAYLOAD]
    if packet is None or packet.offset < 0 or any(word in name.lower() for word in NAMING):
        return
    assert places == [packet.offset], name
    new = bytearray(len(data))
    PacketHeaders(Addresses(Secret("x")), lambda _: None).write(frame, found, new)
    assert SECRET not in new
    new[packet.offset : packet.offset + len(SECRET)] = SECRET
    again = Decoder().feed(frame._replace(data=bytes(new)))
    assert again is not None
    assert (again.src.port, again.dst.port, again.payload) == (packet.src.port, packet.dst.port, SECRET)
    loopback = packet.src.address in (b"\x7f\0\0\1", bytes(15) + b"\1")
    assert (again.src.address == packet.src.address) == loopback
