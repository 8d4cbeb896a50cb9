"""Datagrams that are in a capture twice because it was made on several interfaces (`tcpdump -i any`).

One IP packet passes a bridge, or a pair of virtual interfaces, and is recorded on each. What tells it from a datagram
that was sent twice: the sender numbers its IP packets, and what was sent twice was recorded twice on each interface.
TCP needs none of this, as its bytes have their place in a stream; IP fragments are told apart when they are put
together.
"""

from collections import OrderedDict
from typing import NamedTuple

from zdissect.records import Datagram, Endpoint

WINDOW_NS = 20 * 10**6
"""Most time between the copies of a packet, if it has a number..."""
UNNUMBERED_NS = 10**6
"""... if it has none: IPv6, or an identification of 0, as from senders that forbid fragments (RFC 6864)..."""
UNTOLD_NS = 100 * 10**3
"""... and if nothing in the frames tells interfaces apart."""
MOST_RECENT = 4096
"""Datagrams that are remembered, from the latest on..."""
_SEEN_BYTES = 1000
"""Memory that one takes, besides the bytes of its frame."""
MOST_ALIKE = 16
"""... and how many of them with the same ends, number and bytes."""
_UDP_HEADER = 8
_SLL2 = 276
Key = tuple[Endpoint, Endpoint, int, bytes]
"""(source, target, number of the IP packet, payload) of datagrams that may be copies of each other."""


class _Seen(NamedTuple):
    """The first record of a datagram."""

    datagram: Datagram
    links: set[bytes]
    """The link-layer headers that it was recorded with."""


class Copies:
    """Finds copies among the most recent datagrams.

    What is a copy depends on the datagrams of the same conversation alone, as long as no more than `MOST_RECENT` come
    in the time between copies: conversations may be fed apart from each other.
    """

    def __init__(self, most: int) -> None:
        """`most`: so many bytes of memory they take at most."""
        self.most = most
        self.recent: OrderedDict[Key, list[_Seen]] = OrderedDict()
        """By what they have in common, in the order in which the last ones came."""
        self.size = 0
        """The memory that they take."""
        self.latest_ns = -(1 << 63)
        """When the latest of all was sent."""

    def feed(self, datagram: Datagram) -> Datagram | None:
        """The datagram that this one is a copy of; None if it isn't a copy."""
        number, link = _packet(datagram)
        if number < -1:
            return None
        key = datagram.src, datagram.dst, number, datagram.payload
        for seen in self.recent.get(key, ()):
            if self.same(datagram, seen, number, link):
                seen.links.add(link)
                return seen.datagram
        self.remember(key, datagram, link)
        return None

    def remember(self, key: Key, datagram: Datagram, link: bytes) -> None:
        """Remembers a datagram that isn't a copy, instead of the oldest ones."""
        known = self.recent.setdefault(key, [])
        known.append(_Seen(datagram, {link}))
        self.recent.move_to_end(key)
        self.latest_ns = max(self.latest_ns, datagram.frame.now_ns)
        self.size += _SEEN_BYTES + len(datagram.frame.data)
        if len(known) > MOST_ALIKE:
            self.size -= _SEEN_BYTES + len(known.pop(0).datagram.frame.data)
        while len(self.recent) > MOST_RECENT or (self.size > self.most and self.recent):
            _, oldest = self.recent.popitem(last=False)
            self.size -= sum(_SEEN_BYTES + len(seen.datagram.frame.data) for seen in oldest)

    def may_know(self, key: Key, now_ns: int) -> bool:
        """Whether a datagram of this time may be a copy of one that is remembered."""
        known = self.recent.get(key, ())
        return any(abs(now_ns - seen.datagram.frame.now_ns) <= WINDOW_NS for seen in known)

    @staticmethod
    def same(datagram: Datagram, seen: _Seen, number: int, link: bytes) -> bool:
        """Whether a datagram with the same ends, number and bytes is the same one."""
        apart_ns = abs(datagram.frame.now_ns - seen.datagram.frame.now_ns)
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
