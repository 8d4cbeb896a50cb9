"""Datagrams that are in a capture twice because it was made on several interfaces (`tcpdump -i any`).

One IP packet passes a bridge, or a pair of virtual interfaces, and is recorded on each. What tells it from a datagram
that was sent twice: the sender numbers its IP packets, and what was sent twice was recorded twice on each interface.
TCP needs none of this, as its bytes have their place in a stream; IP fragments are told apart when they are put
together.
"""

from typing import NamedTuple

from zdissect.records import Datagram, Endpoint

WINDOW_NS = 20 * 10**6
"""The copies of a packet are no further apart, if it has a number."""
UNNUMBERED_NS = 10**6
"""... if it has none: IPv6, or an identification of 0, as of senders that forbid fragments (RFC 6864)."""
UNTOLD_NS = 100 * 10**3
"""... if nothing in the frames tells their interfaces."""
MOST_RECENT = 4096
"""Datagrams that are remembered."""

_MOST_ALIKE = 16
"""... of them with the same bytes."""
_UDP_HEADER = 8
_SLL2 = 276
_Key = tuple[Endpoint, Endpoint, int, bytes]


class _Seen(NamedTuple):
    """A datagram, as it was recorded first."""

    datagram: Datagram
    links: set[bytes]
    """The headers of the link layer with which it was recorded."""


class Copies:
    """The datagrams that came last."""

    def __init__(self) -> None:
        self.recent: dict[_Key, list[_Seen]] = {}

    def feed(self, datagram: Datagram) -> Datagram | None:
        """The datagram that this one is a copy of; None if it is none."""
        number, link = _packet(datagram)
        if number < -1:
            return None
        key = datagram.src, datagram.dst, number, datagram.payload
        known = self.recent.get(key)
        for seen in known or ():
            if self.same(datagram, seen, number, link):
                seen.links.add(link)
                return seen.datagram
        self.remember(key, _Seen(datagram, {link}))
        return None

    @staticmethod
    def same(datagram: Datagram, seen: _Seen, number: int, link: bytes) -> bool:
        """Whether a datagram with the same bytes is the same one."""
        apart_ns = abs(datagram.frame.ts_ns - seen.datagram.frame.ts_ns)
        if link not in seen.links:
            return apart_ns <= (WINDOW_NS if number > 0 else UNNUMBERED_NS)
        return number > 0 and datagram.frame.link != _SLL2 and apart_ns <= UNTOLD_NS

    def remember(self, key: _Key, seen: _Seen) -> None:
        """Remembers a datagram, and forgets those that no copy can come of any more."""
        recent, now_ns = self.recent, seen.datagram.frame.ts_ns
        known = recent.setdefault(key, [])
        known.append(seen)
        del known[:-_MOST_ALIKE]
        while recent:
            first = next(iter(recent))
            age_ns = abs(now_ns - recent[first][-1].datagram.frame.ts_ns)
            if age_ns <= WINDOW_NS and len(recent) <= MOST_RECENT:
                break
            del recent[first]


def _packet(datagram: Datagram) -> tuple[int, bytes]:
    """(number of the IP packet, what stands before it in the frame): -1 if it has no number, -2 if it isn't found.

    It is looked for before the UDP header, without options or extension headers.
    """
    data, end = datagram.frame.data, datagram.offset - _UDP_HEADER
    addresses = datagram.src.address + datagram.dst.address
    size = 20 if len(addresses) == 8 else 40
    start = end - size
    if start < 0 or data[end - len(addresses) : end] != addresses:
        return -2, b""
    return int.from_bytes(data[start + 4 : start + 6]) if size == 20 else -1, data[:start]
