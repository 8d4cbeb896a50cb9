"""Writes the headers of a frame with other addresses, and with checksums that are right.

What isn't needed to find the way through a packet is left out: options of IP and TCP that aren't known to be harmless,
what follows the packet in the frame. A checksum that can't be right, of a packet that isn't there as a whole, is zero.
"""

from collections.abc import Callable

from zdissect.anonymize.addresses import Addresses
from zdissect.anonymize.checksums import TCP_SUM, UDP_SUM, set_ipv4, transport
from zdissect.anonymize.layers import FRAGMENT, IP4, IP6, MAC, PAYLOAD, STATION, TCP, UDP, VERBATIM, Layer
from zdissect.records import Frame

_HARMLESS = frozenset({2, 3, 4, 5})
"""Options of TCP that stay: segment size, window scale, selective acknowledgements. Timestamps tell how long a
machine is up."""
_END, _NOTHING = 0, 1
_FRAGMENTED, _AUTHENTICATION = 44, 51


class PacketHeaders:
    """Writes headers.

    Args:
        whole: Gives the new bytes of the packet of which a frame holds the first fragment: what IP carries, from UDP's
            header on; None where it isn't complete.
    """

    def __init__(self, addresses: Addresses, whole: Callable[[Frame], bytes | None]) -> None:
        self.addresses = addresses
        self.whole = whole
        self.writers: dict[str, Callable[[bytes, bytearray, Layer], None]] = {
            MAC: self.mac, VERBATIM: copy, STATION: self.station, IP4: self.ipv4, IP6: self.ipv6, TCP: tcp, UDP: copy,
        }  # fmt: skip

    def write(self, frame: Frame, found: list[Layer], new: bytearray) -> None:
        """Writes the headers of a frame into the bytes that take its place, in which the payload stands already."""
        for layer in found:
            if layer.kind not in (FRAGMENT, PAYLOAD):
                self.writers[layer.kind](frame.data, new, layer)
        for index in range(len(found) - 1, -1, -1):  # what is inside counts for what is around it
            layer = found[index]
            if layer.kind == IP4:
                set_ipv4(new, layer.start, layer.body)
            elif layer.kind in (TCP, UDP):
                self.check(frame, found[:index], layer, new)

    def mac(self, old: bytes, new: bytearray, layer: Layer) -> None:
        """Ethernet: both addresses."""
        at = layer.start
        new[at : at + 14] = (
            self.addresses.mac(old[at : at + 6]) + self.addresses.mac(old[at + 6 : at + 12]) + old[at + 12 : at + 14]
        )

    def station(self, old: bytes, new: bytearray, layer: Layer) -> None:
        """The address in a cooked header of Linux, and two unused bytes."""
        at = layer.start
        if len(old) >= at + 8:
            new[at : at + 6] = self.addresses.mac(old[at : at + 6])

    def ipv4(self, old: bytes, new: bytearray, layer: Layer) -> None:
        """Both addresses; options become the one that does nothing."""
        at = layer.start
        new[at : at + 12] = old[at : at + 12]
        for place in (at + 12, at + 16):
            new[place : place + 4] = self.addresses.ip(old[place : place + 4])
        new[at + 20 : layer.body] = bytes([_NOTHING]) * (min(layer.body, len(old)) - at - 20)

    def ipv6(self, old: bytes, new: bytearray, layer: Layer) -> None:
        """Both addresses; of extension headers only their lengths and what follows them, and fragments."""
        at = layer.start
        new[at : at + 8] = old[at : at + 8]
        for place in (at + 8, at + 24):
            new[place : place + 16] = self.addresses.ip(old[place : place + 16])
        kind, at = old[at + 6], at + 40
        while at < layer.body and at + 8 <= len(old):
            new[at : at + 8] = old[at : at + 8] if kind == _FRAGMENTED else old[at : at + 2] + bytes(6)
            size = (
                8
                if kind == _FRAGMENTED
                else (old[at + 1] + 2) * 4
                if kind == _AUTHENTICATION
                else (old[at + 1] + 1) * 8
            )
            kind, at = old[at], at + size

    def check(self, frame: Frame, around: list[Layer], layer: Layer, new: bytearray) -> None:
        """Sets the checksum of TCP or UDP."""
        place = TCP_SUM if layer.kind == TCP else UDP_SUM
        at = layer.start + place
        unused = layer.kind == UDP and not any(frame.data[at : at + 2])
        packet = next(one for one in reversed(around) if one.kind in (IP4, IP6))
        part = around[-1].kind == FRAGMENT
        content = self.whole(frame) if part else bytes(new[layer.start : layer.stop])
        new[at : at + 2] = bytes(max(0, min(2, len(new) - at)))
        if unused or content is None or (layer.stop > len(new) and not part):
            return
        size = 4 if packet.kind == IP4 else 16
        start = packet.start + (12 if packet.kind == IP4 else 8)
        addresses = bytes(new[start : start + 2 * size])
        head = bytes(new[layer.start : layer.start + 8]) if part else b""
        new[at : at + 2] = transport(addresses, head + content[len(head) :], place)


def copy(old: bytes, new: bytearray, layer: Layer) -> None:
    """Copies a header that says nothing of anybody."""
    new[layer.start : layer.body] = old[layer.start : layer.body]


def tcp(old: bytes, new: bytearray, layer: Layer) -> None:
    """TCP without the options that may say something."""
    at, stop = layer.start, min(layer.body, len(old))
    new[at : at + 20] = old[at : at + 20]
    at += 20
    while at < stop:
        kind = old[at]
        size = 1 if kind in (_END, _NOTHING) else max(2, old[at + 1]) if at + 1 < stop else 1
        size = min(size, stop - at)
        new[at : at + size] = old[at : at + size] if kind in _HARMLESS or kind == _END else bytes([_NOTHING]) * size
        at += size
        if kind == _END:
            new[at:stop] = bytes(stop - at)
            return
