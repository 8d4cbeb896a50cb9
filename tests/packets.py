"""Packets of conversations, and the capture that holds them: written with struct, so that nothing is shared with what
is tested."""

from dataclasses import dataclass, field
from socket import inet_aton
from struct import pack
from typing import NamedTuple

from zdissect.records import Frame

MS, SECOND = 10**6, 10**9
START_NS = 1_700_000_000 * SECOND
FIRST_SEQ = (1000, 5000)
"""Sequence numbers of both SYNs."""


class Parties(NamedTuple):
    """Both ends of a conversation; side 0 first."""

    hosts: tuple[str, str] = ("10.0.0.1", "10.0.0.2")
    ports: tuple[int, int] = (40000, 7447)


@dataclass
class CaptureBuilder:
    """A capture in the making."""

    frames: list[Frame] = field(default_factory=list)
    now_ns: int = START_NS

    def record(self, packet: bytes) -> None:
        """Adds a frame, a millisecond after the one before."""
        self.now_ns += MS
        self.frames.append(Frame("test", len(self.frames) + 1, self.now_ns, 1, len(packet), packet))


def tcp_packet(parties: Parties, side: int, payload: bytes, flags: int, offset: int, acked: int) -> bytes:
    """An Ethernet frame with the segment that `side` sends; `offset` is its place in the stream (-1 for a SYN)."""
    src, dst = parties.ports[side], parties.ports[1 - side]
    seq = FIRST_SEQ[side] + 1 + offset & 0xFFFFFFFF
    ack = FIRST_SEQ[1 - side] + 1 + acked & 0xFFFFFFFF if flags & 16 else 0
    header = pack(">HHIIBBHHH", src, dst, seq, ack, 0x50, flags, 512, 0, 0)
    return _ethernet(parties, side, 6, header + payload)


def udp_packet(parties: Parties, side: int, payload: bytes) -> bytes:
    """An Ethernet frame with the datagram that `side` sends."""
    header = pack(">HHHH", parties.ports[side], parties.ports[1 - side], 8 + len(payload), 0)
    return _ethernet(parties, side, 17, header + payload)


def _ethernet(parties: Parties, side: int, protocol: int, body: bytes) -> bytes:
    src, dst = (inet_aton(parties.hosts[one]) for one in (side, 1 - side))
    ip = pack(">BBHHHBBH", 0x45, 0, 20 + len(body), 1, 0x4000, 64, protocol, 0) + src + dst
    return bytes(12) + b"\x08\x00" + ip + body
