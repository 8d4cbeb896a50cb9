"""IP and MAC addresses, ZenohIDs."""

import ipaddress

from hypothesis import example, given
from hypothesis import strategies as st

from zdissect.anonymize.addresses import Addresses
from zdissect.anonymize.secret import Secret

ADDRESSES = Addresses(Secret("seed"))


def ip(text):
    return str(ipaddress.ip_address(ADDRESSES.ip(ipaddress.ip_address(text).packed)))


@given(st.ip_addresses(v=4))
def test_ipv4_keeps_its_text_length_and_kind(address):
    new = ipaddress.ip_address(ADDRESSES.ip(address.packed))
    assert len(str(new)) == len(str(address))
    for kind in ("is_loopback", "is_multicast", "is_link_local", "is_unspecified"):
        assert getattr(new, kind) == getattr(address, kind)


@given(st.ip_addresses(v=6).filter(lambda address: address.ipv4_mapped is None))
@example(ipaddress.IPv6Address("fe20::"))
@example(ipaddress.IPv6Address("fe00::"))
@example(ipaddress.IPv6Address("fec0::1"))
def test_ipv6_keeps_its_text_length_and_kind(address):
    new = ipaddress.IPv6Address(ADDRESSES.ip(address.packed))
    assert len(str(new)) == len(str(address))
    assert (new.is_multicast, new.is_link_local) == (address.is_multicast, address.is_link_local)


@given(st.ip_addresses(), st.ip_addresses())
def test_different_ones_stay_different(left, right):
    assert (ADDRESSES.ip(left.packed) == ADDRESSES.ip(right.packed)) == (left.packed == right.packed)


def test_networks_stay_together():
    assert ip("192.168.17.4").split(".")[:3] == ip("192.168.17.99").split(".")[:3]
    assert ip("192.168.17.4") != "192.168.17.4"


def test_what_everybody_has_stays():
    for text in ("127.0.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.224", "::1", "::", "ff02::1"):
        assert ip(text) == text
    assert ip("239.7.7.7") != "239.7.7.7"
    for mac in (b"\xff" * 6, bytes(6), bytes.fromhex("01005e0000e0"), bytes.fromhex("333300000001")):
        assert ADDRESSES.mac(mac) == mac
    mac = bytes.fromhex("02ab01234567")
    assert ADDRESSES.mac(mac) != mac
    assert ADDRESSES.mac(mac)[0] & 3 == 2


@given(st.binary(min_size=1, max_size=16))
def test_zids_keep_their_digits(wire):
    value, new = (int.from_bytes(one, "little") for one in (wire, ADDRESSES.zid(wire)))
    assert len(ADDRESSES.zid(wire)) == len(wire)
    assert len(f"{value:x}") == len(f"{new:x}")
    assert (value == new) == (value == 0)
    if value:
        assert int(ADDRESSES.zid_text(f"{value:x}"), 16) == new


def test_short_zids_stay_different():
    assert len({ADDRESSES.zid(bytes([value])) for value in range(256)}) == 256
