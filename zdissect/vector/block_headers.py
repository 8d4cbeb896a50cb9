"""Link, IP, TCP and UDP headers of a block's frames, on arrays: what `flow.link` and `flow.ip` do for the common frame.

A frame that isn't plain (IP options, fragments, tunnels, cut off by the capture...) is left to them.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

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
_UDP_HEADER = 8
_ENDS = 1
"""The place of `ends` among the columns of packets."""
_FAMILIES = {version: [family for family, kind in FAMILIES.items() if kind == version] for version in (IPV4, IPV6)}
_TUNNELS = np.array(sorted(PORTS))


class Segments(NamedTuple):
    """TCP segments with plain headers, an entry each."""

    frame: Ints
    """Index in the block."""
    ends: list[bytes]
    """Addresses and ports, as they follow each other in the headers."""
    start: Ints
    """Where the payload is in the joined bytes of all frames."""
    stop: Ints
    seq: Ints
    ack: Ints
    flags: Ints


class UdpDatagrams(NamedTuple):
    """UDP datagrams with plain headers, an entry each."""

    frame: Ints
    ends: list[bytes]
    start: Ints
    stop: Ints
    packet: Ints
    """Where the IP packet is."""
    number: Ints
    """The number of the IP packet; -1 for IPv6, which has none."""


def endpoints(ends: bytes) -> tuple[Endpoint, Endpoint]:
    """From where to where, by an entry of `ends`."""
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
        """Frames whose headers are left to the scalar way, and which may hold something of any conversation."""
        links = np.fromiter((frame[3] for frame in frames), np.int64, len(frames))
        found: list[Segments] = []
        datagrams: list[UdpDatagrams] = []
        for version, frame, start in self._all_packets(links):
            packets = _Packets(self, version, frame, start)
            found.append(packets.segments())
            datagrams.append(packets.datagrams())
        self.segments = Segments(*_joined(found, len(Segments._fields)))
        self.datagrams = UdpDatagrams(*_joined(datagrams, len(UdpDatagrams._fields)))

    def _all_packets(self, links: Ints) -> Iterator[tuple[int, Ints, Ints]]:
        """(version, indices of frames, where their IP packets begin), by link type and version."""
        for link in np.unique(links).tolist():
            frame = np.flatnonzero(links == link)
            start, version = self._packets(link, self.start[frame])
            for number in (4, 6):
                own = version == number
                if own.any():
                    yield number, frame[own], start[own]

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


class _Packets:
    """What seem to be IP packets, of one version.

    Args:
        headers: Those of the block.
        frame: Their frames.
        start: Where they begin in the joined bytes.
    """

    def __init__(self, headers: Headers, version: int, frame: Ints, start: Ints) -> None:
        self.headers, self.version, self.frame, self.start = headers, version, frame, start
        rows = headers.rows[start]
        self.octets, self.words = rows.view(np.uint8).reshape(-1, _ROW), rows.view(">u4").reshape(-1, _ROW // 4)
        octets, words = self.octets, self.words
        if version == 4:
            self.size, self.ends = 20, octets[:, 12:24]
            usual = (octets[:, 0] == 0x45) & (words[:, 1] & 0x3FFF == 0)
            self.protocol, stop = octets[:, 9], start + (words[:, 0] & 0xFFFF)
        else:
            self.size, self.ends = 40, octets[:, 8:44]
            usual = octets[:, 0] >> 4 == 6
            self.protocol, stop = octets[:, 6], start + 40 + (words[:, 1] >> 16)
        self.usual, self.stop = usual & (stop <= headers.stop[frame]), stop

    def segments(self) -> Segments:
        """The TCP segments."""
        tcp = self.octets[:, self.size + 12]
        body = self.start + self.size + (tcp >> 2 & 0x3C)
        plain = self.usual & (self.protocol == _TCP) & (tcp >= 0x50) & (body <= self.stop)
        seq, ack = (self.words[plain, self.size // 4 + n].astype(np.int64) for n in (1, 2))
        flags = self.octets[plain, self.size + 13]
        return Segments(*self._plain(plain), body[plain], self.stop[plain], seq, ack, flags)

    def datagrams(self) -> UdpDatagrams:
        """The UDP datagrams that can't be tunnels."""
        size = self.words[:, self.size // 4 + 1] >> 16
        udp = self.start + self.size
        stop = udp + size
        tunnel = np.isin(self.words[:, self.size // 4] & 0xFFFF, _TUNNELS)
        plain = self.usual & (self.protocol == _UDP) & ~tunnel & (size >= _UDP_HEADER) & (stop <= self.stop)
        number = self.words[plain, 1].astype(np.int64) >> 16 if self.version == 4 else np.full(plain.sum(), -1)
        return UdpDatagrams(*self._plain(plain), udp[plain] + _UDP_HEADER, stop[plain], self.start[plain], number)

    def _plain(self, plain: Bools) -> tuple[Ints, list[bytes]]:
        """The frames and ends of packets that are plain, whose frames aren't odd."""
        self.headers.odd[self.frame[plain]] = False
        ends = self.ends[plain]
        return self.frame[plain], np.ascontiguousarray(ends).view(f"V{ends.shape[1]}").ravel().tolist()


def _joined(found: Sequence[tuple[Any, ...]], columns: int) -> list[Any]:
    """The columns of packets of several kinds, kind by kind."""
    if len(found) == 1:
        return [*found[0]]
    none = np.zeros(0, np.int64)
    return [
        [ends for one in found for ends in one[column]]
        if column == _ENDS
        else np.concatenate([none, *(one[column] for one in found)])
        for column in range(columns)
    ]
