"""TCP connections as a real capture has them, written to a file as they come."""

from socket import inet_aton
from struct import pack
from typing import BinaryIO, Self

from tests.conversation import FIN, SYN, Conversation, Node
from tests.packets import FIRST_SEQ, CaptureBuilder, Parties

MSS = 1448
PUSH_FLAG, ACK = 8, 16
STEP_NS = 100_000
"""From one packet to the next."""
_FILE_HEADER = pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)


class CaptureFile(CaptureBuilder):
    """A pcap file in the making, of which nothing stays in memory."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self.write = file.write
        self.size = self.write(_FILE_HEADER)
        self.packets = self.parcels = 0
        """A parcel is what one side sends at once, in as many packets as it takes."""

    def record(self, packet: bytes) -> None:
        self.now_ns += STEP_NS
        seconds, ns = divmod(self.now_ns, 10**9)
        head = pack("<IIII", seconds, ns // 1000, len(packet), len(packet))
        self.size += self.write(head + packet)
        self.packets += 1


class Link(Conversation):
    """A TCP connection with segments of usual size, timestamps, and a receiver that acknowledges every second one.

    Without acknowledgements tshark would be several times slower: it keeps a list of the segments that lack one. With
    a window smaller than what is under way it would report that in each line.
    """

    def __init__(self, capture: CaptureFile, nodes: tuple[Node, Node], number: int, port: int) -> None:
        self.unacknowledged = [0, 0]
        self.file = capture
        super().__init__(capture, nodes, Parties((f"10.0.1.{number + 1}", "10.0.0.1"), (40_000 + 13 * number, port)))

    def raw(self, side: int, data: bytes, pieces: int = 1) -> Self:
        self.file.parcels += 1
        for at in range(0, len(data), MSS):
            self.segment(side, data[at : at + MSS], ACK | (PUSH_FLAG if at + MSS >= len(data) else 0))
        return self

    def segment(self, side: int, payload: bytes, flags: int = ACK, offset: int | None = None) -> None:
        self.capture.record(self._packet(side, payload, flags))
        self.sent[side] += len(payload)
        if payload:
            self.unacknowledged[side] += 1
            if self.unacknowledged[side] == 2:
                self.unacknowledged[side] = 0
                self.capture.record(self._packet(1 - side, b"", ACK))

    def _packet(self, side: int, payload: bytes, flags: int) -> bytes:
        """Ethernet, IPv4 and TCP with its timestamps; checksums are zero, and no tool looks at them."""
        ports, hosts = self.parties.ports, self.parties.hosts
        seq = FIRST_SEQ[side] + (not flags & SYN) + self.sent[side] & 0xFFFFFFFF
        ack = FIRST_SEQ[1 - side] + 1 + self.sent[1 - side] & 0xFFFFFFFF if flags & ACK else 0
        clock = self.capture.now_ns // 10**6 & 0xFFFFFFFF
        tcp = pack(">HHIIBBHHH", ports[side], ports[1 - side], seq, ack, 0x80, flags, 65_535, 0, 0)
        tcp += b"\1\1\x08\x0a" + pack(">II", clock, clock - 1 & 0xFFFFFFFF if flags & ACK else 0)
        ends = inet_aton(hosts[side]) + inet_aton(hosts[1 - side])
        ip = pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp) + len(payload), 1, 0x4000, 64, 6, 0) + ends
        return b"\2\0" + ends[4:] + b"\2\0" + ends[:4] + b"\x08\0" + ip + tcp + payload

    def hang_up(self) -> Self:
        for side in (0, 1):
            self.segment(side, b"", FIN | ACK)
            self.sent[side] += 1
        self.segment(0, b"")
        return self
