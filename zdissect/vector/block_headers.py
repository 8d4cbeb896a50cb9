"""Link, IP and TCP headers of a block's frames, on arrays: what `flow.link` and `flow.ip` do for the common frame.

A frame that isn't plain (IP options, fragments, tunnels, cut off by the capture...) is left to them.
"""

from typing import NamedTuple

import numpy as np

from zdissect.flow.headers import ANY_IP, IPV4, IPV6
from zdissect.flow.link import FAMILIES, LINKS, LOOPBACK, SLL, SLL2
from zdissect.flow.tunnels import PORTS
from zdissect.records import Endpoint, Frame
from zdissect.vector.arrays import Bools, Bytes, Ints

_ETHERNET, _VLAN = 1, 0x8100
_TYPES = {_ETHERNET: (12, 14), SLL: (14, 16), SLL2: (0, 20)}
"""Link types whose headers hold an EtherType: where it is, and the size of the header."""
_ROW = 56
"""Bytes from the beginning of an IP packet that are looked at: an IPv6 header, and the TCP header up to its flags."""
_MARGIN = 24 + _ROW
"""Bytes after the last frame, so that looking for headers in a short one stays inside."""
_TCP, _UDP = 6, 17
_FAMILIES = {version: [family for family, kind in FAMILIES.items() if kind == version] for version in (IPV4, IPV6)}
_TUNNELS = np.array(sorted(PORTS))


class Segments(NamedTuple):
    """TCP segments with plain headers, an entry each."""

    frame: Ints
    """Index in the block."""
    ends: list[bytes]
    """Addresses and ports, as they follow each other in the headers."""
    seq: Ints
    ack: Ints
    flags: Ints
    start: Ints
    """Where the payload is in the joined bytes of all frames."""
    stop: Ints


def endpoints(ends: bytes) -> tuple[Endpoint, Endpoint]:
    """From where to where, by an entry of `Segments.ends`."""
    middle = (len(ends) - 4) // 2
    src, dst = int.from_bytes(ends[-4:-2]), int.from_bytes(ends[-2:])
    return Endpoint(ends[:middle], src), Endpoint(ends[middle:-4], dst)


class Headers:
    """The headers of a block of frames."""

    def __init__(self, frames: list[Frame]) -> None:
        datas = [frame[5] for frame in frames]
        self.data = b"".join([*datas, bytes(_MARGIN)])
        """The frames, one after the other."""
        self.bytes: Bytes = np.frombuffer(self.data, np.uint8)
        self.rows = np.ndarray((len(self.data) - _ROW + 1,), f"V{_ROW}", self.data, strides=(1,))
        sizes = np.fromiter(map(len, datas), np.int64, len(datas))
        self.stop: Ints = np.cumsum(sizes)
        self.start: Ints = self.stop - sizes
        """Where each begins."""
        self.odd: Bools = np.ones(len(frames), np.bool_)
        """Frames whose headers are left to the scalar way, and which may hold a segment of any connection."""
        links = np.fromiter((frame[3] for frame in frames), np.int64, len(frames))
        found = [self._linked(link, np.flatnonzero(links == link)) for link in np.unique(links).tolist()]
        self.segments = _joined([segments for each in found for segments in each])

    def _linked(self, link: int, frame: Ints) -> list[Segments]:
        """The segments in frames of a link type."""
        start, version = self._packets(link, self.start[frame])
        found: list[Segments] = []
        for number in (4, 6):
            own = version == number
            if own.all():
                return [*found, self._read(number, frame, start)]
            if own.any():
                found.append(self._read(number, frame[own], start[own]))
        return found

    def _packets(self, link: int, at: Ints) -> tuple[Ints, Ints]:
        """Where the IP packets in frames of a link type begin, and their versions; 0 for other packets."""
        if link in _TYPES:
            type_at, size = _TYPES[link]
            kind, start = self._word(at + type_at), at + size
            if link == _ETHERNET and (tagged := kind == _VLAN).any():
                kind, start = np.where(tagged, self._word(at + 16), kind), start + 4 * tagged
            return start, 4 * (kind == IPV4) + 6 * (kind == IPV6)
        if LINKS.get(link) == (ANY_IP, 0):
            return at, self.bytes[at].astype(np.int64) >> 4
        if link in LOOPBACK:
            network = self._word(at) << 16 | self._word(at + 2)
            host = network.astype(np.uint32).byteswap().astype(np.int64)
            family = np.where(host > 0xFFFF, network, host)
            return at + 4, 4 * np.isin(family, _FAMILIES[IPV4]) + 6 * np.isin(family, _FAMILIES[IPV6])
        return at, np.zeros(len(at), np.int64)

    def _word(self, at: Ints) -> Ints:
        """The numbers of two bytes at some places."""
        return self.bytes[at].astype(np.int64) << 8 | self.bytes[at + 1]

    def _read(self, version: int, frame: Ints, start: Ints) -> Segments:
        """The segments in frames that seem to hold an IP packet, at `start`."""
        rows = self.rows[start]
        octets, words = rows.view(np.uint8).reshape(-1, _ROW), rows.view(">u4").reshape(-1, _ROW // 4)
        if version == 4:
            size, ends = 20, octets[:, 12:24]
            usual = (octets[:, 0] == 0x45) & (words[:, 1] & 0x3FFF == 0)
            protocol, stop = octets[:, 9], start + (words[:, 0] & 0xFFFF)
        else:
            size, ends = 40, octets[:, 8:44]
            usual = octets[:, 0] >> 4 == 6
            protocol, stop = octets[:, 6], start + 40 + (words[:, 1] >> 16)
        # a datagram that can't be a tunnel holds no segment
        self.odd[frame[usual & (protocol == _UDP) & ~np.isin(words[:, size // 4] & 0xFFFF, _TUNNELS)]] = False
        tcp = octets[:, size + 12]
        body = start + size + (tcp >> 2 & 0x3C)
        plain = usual & (protocol == _TCP) & (tcp >= 0x50) & (body <= stop) & (stop <= self.stop[frame])
        self.odd[frame[plain]] = False
        seq, ack = (words[plain, size // 4 + n].astype(np.int64) for n in (1, 2))
        keys = np.ascontiguousarray(ends[plain]).view(f"V{ends.shape[1]}").ravel().tolist()
        return Segments(frame[plain], keys, seq, ack, octets[plain, size + 13], body[plain], stop[plain])


def _joined(found: list[Segments]) -> Segments:
    """The segments of several kinds of frames, kind by kind."""
    if len(found) == 1:
        return found[0]
    none = np.zeros(0, np.int64)
    frame, seq, ack, flags, start, stop = (
        np.concatenate([none, *(segments[column] for segments in found)]) for column in (0, 2, 3, 4, 5, 6)
    )
    return Segments(frame, [ends for segments in found for ends in segments.ends], seq, ack, flags, start, stop)
