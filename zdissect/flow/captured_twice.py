"""Datagrams that are in a capture twice because it was made on several interfaces (`tcpdump -i any`).

One IP packet passes a bridge, or a pair of virtual interfaces, and is recorded on each. What tells it from a datagram
that was sent twice: the sender numbers its IP packets, and what was sent twice was recorded twice on each interface.
TCP needs none of this, as its bytes have their place in a stream; IP fragments are told apart when they are put
together.
"""

from typing import NamedTuple

from zdissect.records import Datagram

WINDOW_NS = 20 * 10**6
"""Most time between the copies of a packet, if it has a number..."""
UNNUMBERED_NS = 10**6
"""... if it has none: IPv6, or an identification of 0, as from senders that forbid fragments (RFC 6864)..."""
UNTOLD_NS = 100 * 10**3
"""... and if nothing in the frames tells interfaces apart."""
MOST_RECENT = 2048
MOST_BYTES = 4 << 20
"""Datagrams that are remembered (up to twice as many), and their bytes..."""
MOST_ALIKE = 16
"""... and how many of them with the same number and bytes."""
_UDP_HEADER = 8
_SLL2 = 276
_Key = tuple[int, bytes]


class _Seen(NamedTuple):
    """The first record of a datagram."""

    datagram: Datagram
    links: set[bytes]
    """The link-layer headers that it was recorded with."""


class Copies:
    """Finds copies among the most recent datagrams."""

    def __init__(self) -> None:
        self.recent: dict[_Key, Datagram] = {}
        self.before: dict[_Key, Datagram] = {}
        """Those that came before them."""
        self.alike: dict[_Key, list[_Seen]] = {}
        """The ones whose bytes came again."""
        self.size = 0
        self.since_ns = 0

    def feed(self, datagram: Datagram) -> Datagram | None:
        """The datagram that this one is a copy of; None if it isn't a copy."""
        number, link = _packet(datagram)
        if number < -1:
            return None
        key = number, datagram.payload
        first = self.recent.get(key) or self.before.get(key)
        if first is not None:
            return self.again(key, datagram, first, link)
        self.recent[key] = datagram
        self.size += len(datagram.payload)
        now_ns = datagram.frame.now_ns
        if len(self.recent) > MOST_RECENT or self.size > MOST_BYTES or abs(now_ns - self.since_ns) > WINDOW_NS:
            self.before, self.recent = self.recent, {}
            self.alike.clear()
            self.size, self.since_ns = 0, now_ns
        return None

    def again(self, key: _Key, datagram: Datagram, first: Datagram, link: bytes) -> Datagram | None:
        """The datagram that this one, whose number and bytes were seen before, is a copy of."""
        known = self.alike.setdefault(key, [_Seen(first, {_packet(first)[1]})])
        for seen in known:
            if self.same(datagram, seen, key[0], link):
                seen.links.add(link)
                return seen.datagram
        known.append(_Seen(datagram, {link}))
        del known[:-MOST_ALIKE]
        return None

    @staticmethod
    def same(datagram: Datagram, seen: _Seen, number: int, link: bytes) -> bool:
        """Whether a datagram with the same number and bytes is the same one."""
        other = seen.datagram
        if datagram.src != other.src or datagram.dst != other.dst:
            return False
        apart_ns = abs(datagram.frame.now_ns - other.frame.now_ns)
        if link not in seen.links:
            return apart_ns <= (WINDOW_NS if number > 0 else UNNUMBERED_NS)
        return number > 0 and datagram.frame.link != _SLL2 and apart_ns <= UNTOLD_NS


def _packet(datagram: Datagram) -> tuple[int, bytes]:
    """(number of the IP packet, the bytes before it in the frame); -1 without a number, -2 if the packet isn't found.

    It is looked for before the UDP header, without options or extension headers.
    """
    data, end = datagram.frame.data, datagram.offset - _UDP_HEADER
    addresses = datagram.src.address + datagram.dst.address
    size = len(addresses)
    start = end - (20 if size == 8 else 40)
    if start < 0 or data[end - size : end] != addresses:
        return -2, b""
    return data[start + 4] << 8 | data[start + 5] if size == 8 else -1, data[:start]
