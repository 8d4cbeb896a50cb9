"""Other addresses of the same form: IP, as bytes and as text of the same length, MAC, ZenohIDs, locators.

Addresses of one network stay in one network: how a part of an address is replaced depends on the parts before it. What
everybody has, or the standards have given a meaning, stays: loopback, broadcast, link-local prefixes, known groups.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address

from zdissect.anonymize.secret import Secret

_DIGITS = ((0, 10), (10, 100), (100, 256))
"""Parts of IPv4 addresses with one, two and three digits: a part stays in its range, and so a text keeps its length."""
_FIRSTS = {
    (1, 10): range(1, 10), (10, 100): range(10, 100), (100, 224): [n for n in range(100, 224) if n != 127],
}  # fmt: skip
_KEPT = frozenset(map(IPv4Address, ("0.0.0.0", "127.0.0.1", "255.255.255.255")))
_LOCAL_GROUPS = IPv4Address("224.0.1.0")
_MAPPED = bytes(10) + b"\xff\xff"
_BROADCAST = b"\xff" * 6
_GROUPS = (b"\x01\x00\x5e\x00\x00", b"\x33\x33\x00\x00\x00")
"""How the MAC addresses of well-known groups of IP begin."""

_PLACE = re.compile(r"(\[?)((?<!\[)[\d.]+|[0-9A-Fa-f:.]+)((?:%[^\]]*)?)(\]?)((?::\d+)?)")
"""Bracket, address, interface, bracket, port."""
_SCOPED = 0xFE
"""First byte of addresses whose next two bits tell whether they are local to a link (fe80::/10) or a site."""


class Addresses:
    """Replaces addresses and ids."""

    def __init__(self, secret: Secret) -> None:
        self.secret = secret
        self.ip = lru_cache(1 << 16)(self._ip)
        """`ip(packed)`: another address, of 4 bytes or 16."""
        self.mac = lru_cache(1 << 16)(self._mac)
        """`mac(packed)`: another MAC address."""
        self.zid = lru_cache(1 << 16)(self._zid)
        """`zid(wire)`: another ZenohID, with as many digits; zero stays."""

    def _ip(self, packed: bytes) -> bytes:
        if len(packed) == 4:
            return self._ipv4(packed)
        return _MAPPED + self._ipv4(packed[12:]) if packed.startswith(_MAPPED) else self._ipv6(packed)

    def _ipv4(self, packed: bytes) -> bytes:
        address = IPv4Address(packed)
        if address in _KEPT or (address.is_multicast and address < _LOCAL_GROUPS):
            return packed
        kept = address.is_loopback or address.is_multicast or not packed[0] or address.is_link_local
        out = bytearray(packed[: 2 if address.is_link_local else 1] if kept else ())
        for index in range(len(out), 4):
            out.append(self._part(packed[: index + 1]))
        return bytes(out)

    def _part(self, upto: bytes) -> int:
        """What stands for the last of these bytes, after the others."""
        value = upto[-1]
        low, high = next(limits for limits in _DIGITS if value < limits[1])
        values: Sequence[int] = range(low, high)
        if len(upto) == 1:
            values = next(known for limits, known in _FIRSTS.items() if value < limits[1] or limits[1] == 224)
            if value not in values:  # reserved
                return value
        return ord(self.secret.other("".join(map(chr, values)), upto[:-1].hex(), chr(value)))

    def _ipv6(self, packed: bytes) -> bytes:
        address = IPv6Address(packed)
        if address.is_unspecified or address.is_loopback or (address.is_multicast and not any(packed[2:14])):
            return packed
        out = bytearray()
        for index in range(0, 16, 2):
            group = packed[index : index + 2]
            if not index and (address.is_link_local or address.is_multicast):
                out += group
            else:
                out += self._group(packed[:index], group, bool(index))
        return bytes(out)

    def _group(self, before: bytes, group: bytes, free: bool) -> bytes:
        """What stands for two bytes: as many hexadecimal digits; the first digits of an address stay."""
        value = int.from_bytes(group)
        kept = 0 if free else 3 if group[0] == _SCOPED else 2
        return int(self._hex(f"{value:x}", before.hex(), kept), 16).to_bytes(2) if value else group

    def _mac(self, packed: bytes) -> bytes:
        if not any(packed) or packed == _BROADCAST or packed[:5] in _GROUPS or packed.startswith(b"\x01\x80\xc2"):
            return packed
        if packed[0] & 1:
            return packed[:3] + self.secret.random("group", packed, len(packed))[3:]
        new = bytearray(self.secret.random("mac", packed, len(packed)))
        new[0] = new[0] & 0xFC | packed[0] & 3
        return bytes(new)

    def _zid(self, wire: bytes) -> bytes:
        value = int.from_bytes(wire, "little")
        return int(self._hex(f"{value:x}", "zid"), 16).to_bytes(len(wire), "little") if value else wire

    def _hex(self, digits: str, place: str, kept: int = 0) -> str:
        """As many other hexadecimal digits, the first of which isn't 0 either; so many of them stay."""
        out = digits[:kept]
        for index in range(kept, len(digits)):
            alphabet = "0123456789abcdef" if index else "123456789abcdef"
            out += self.secret.other(alphabet, f"{place}:{digits[:index]}", digits[index])
        return out

    def zid_text(self, text: str) -> str:
        """The same for an id as Zenoh writes it."""
        wire = int(text, 16).to_bytes((len(text) + 1) // 2, "little")
        return f"{int.from_bytes(self.zid(wire), 'little'):x}".rjust(len(text), "0")

    def place(self, text: str) -> str | None:
        """The same for `192.0.2.1:7447` or `[2001:db8::1]:7447`; None for what is no address. An interface is lost."""
        match = _PLACE.fullmatch(text)
        if match is None:
            return None
        opened, address, zone, closed, port = match.groups()
        try:
            known = IPv6Address(address) if ":" in address else IPv4Address(address)
        except ValueError:
            return None
        new = str(IPv6Address(self.ip(known.packed)) if known.version == 6 else IPv4Address(self.ip(known.packed)))
        if len(new) != len(address):  # it isn't written as usual
            return None
        return opened + new + "%" * bool(zone) + "x" * (len(zone) - 1) + closed + port
