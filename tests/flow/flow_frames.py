"""Builders of frames and segments, written with struct so that they share nothing with what they test."""

import struct
from collections.abc import Iterable

from zdissect.flow.link import Decoder
from zdissect.flow.tcp import Streams
from zdissect.records import Chunk, Endpoint, Frame, Gap, Segment, StreamEnd, StreamItem

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
A4, B4 = b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02"
A6, B6 = bytes(15) + b"\x01", bytes(15) + b"\x02"
CLIENT, SERVER = Endpoint(A4, 40000), Endpoint(B4, 7447)
MS = 10**6


def frame(data: bytes, link: int = 1, number: int = 1, ts_ns: int = 0, wire_len: int | None = None) -> Frame:
    return Frame("test", number, ts_ns, link, len(data) if wire_len is None else wire_len, data)


def tcp(payload: bytes = b"", seq: int = 1000, ack: int = 0, flags: int = ACK, options: bytes = b"") -> bytes:
    offset = (20 + len(options)) // 4 << 4
    return struct.pack(">HHIIBBHHH", 40000, 7447, seq, ack, offset, flags, 512, 0, 0) + options + payload


def udp(payload: bytes, length: int | None = None) -> bytes:
    return struct.pack(">HHHH", 40000, 7447, 8 + len(payload) if length is None else length, 0) + payload


def ipv4(
    body: bytes, protocol: int = 6, options: bytes = b"", total: int | None = None, ident: int = 1, place: int = 0x4000
) -> bytes:
    size = 20 + len(options)
    total = size + len(body) if total is None else total
    return (
        struct.pack(">BBHHHBBH", 0x40 | size // 4, 0, total, ident, place, 64, protocol, 0) + A4 + B4 + options + body
    )


def ipv6(body: bytes, header: int = 6, length: int | None = None) -> bytes:
    return struct.pack(">IHBB", 0x60000000, len(body) if length is None else length, header, 64) + A6 + B6 + body


def ethernet(body: bytes, ethertype: int = 0x0800, tags: Iterable[int] = ()) -> bytes:
    tagged = b"".join(struct.pack(">HH", tag, 42) for tag in tags)
    return bytes(12) + tagged + struct.pack(">H", ethertype) + body


class TcpConnection:
    """Segments between a client and a server, numbered in the order in which they are made, a millisecond apart."""

    def __init__(self, client_isn: int = 1000, server_isn: int = 5000, step_ns: int = MS) -> None:
        self.isn = (client_isn, server_isn)
        self.step_ns = step_ns
        self.number = 0
        self.now_ns = 0

    def segment(
        self, side: int, offset: int, payload: bytes = b"", flags: int = ACK, acked: int = 0, missing: int = 0
    ) -> Segment:
        """A segment of side 0 or 1 whose first payload byte has stream offset `offset` (with SYN: the ISN itself)."""
        self.number += 1
        self.now_ns += self.step_ns
        src, dst = ((CLIENT, SERVER), (SERVER, CLIENT))[side]
        seq = self.isn[side] if flags & SYN else self.isn[side] + 1 + offset
        ack = self.isn[1 - side] + 1 + acked if flags & ACK else 0
        carrier = frame(bytes(54) + payload, number=self.number, ts_ns=self.now_ns)
        return Segment(carrier, src, dst, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, flags, payload, missing, 54)

    def handshake(self) -> list[Segment]:
        return [self.segment(0, 0, flags=SYN), self.segment(1, 0, flags=SYN | ACK), self.segment(0, 0)]


def run(segments: Iterable[Segment]) -> list[StreamItem]:
    """Everything that these segments give, with `close`."""
    streams = Streams()
    return [item for segment in segments for item in streams.feed(segment)] + streams.close()


def streams_of(items: Iterable[StreamItem]) -> dict[tuple[int, int], bytes]:
    """The bytes of each stream and direction; checks that chunks and gaps leave nothing out."""
    streams: dict[tuple[int, int], bytearray] = {}
    places: dict[tuple[int, int], int] = {}
    for item in items:
        key = item.stream, item.direction
        if hasattr(item, "data"):
            assert isinstance(item, Chunk)
            assert places.get(key, 0) == item.offset
            assert item.frame_offset < 0 or item.frame.data[item.frame_offset :].startswith(item.data)
            streams.setdefault(key, bytearray()).extend(item.data)
            places[key] = item.offset + len(item.data)
        elif hasattr(item, "size") and hasattr(item, "reason"):
            assert places.get(key, 0) == item.offset
            places[key] = item.offset + item.size
    return {key: bytes(value) for key, value in streams.items()}


def segments_of(frames: Iterable[Frame]) -> list[Segment]:
    decoder = Decoder()
    found = [decoder.feed(frame) for frame in frames]
    return [segment for segment in found if isinstance(segment, Segment)]


def by_flow(segments: list[Segment]) -> dict[tuple[Endpoint, Endpoint], bytes]:
    """The bytes of each direction by its ends; for captures in which no ports are used twice."""
    streams = Streams()
    flows: dict[tuple[Endpoint, Endpoint], bytes] = {}
    ends = {segment.frame.number: (segment.src, segment.dst) for segment in segments}
    for items in [*(streams.feed(segment) for segment in segments), streams.close()]:
        for item in items:
            if isinstance(item, Chunk):
                key = ends[item.frame.number]
                flows[key] = flows.get(key, b"") + item.data
    return flows


def kinds(items: list[StreamItem]) -> list[str]:
    """What they are."""
    return [type(item).__name__ for item in items]


def gaps(items: list[StreamItem]) -> list[tuple[int, int, int, str]]:
    """Direction, offset, size and reason of each gap."""
    return [(item.direction, item.offset, item.size, item.reason) for item in items if isinstance(item, Gap)]


def ends(items: list[StreamItem]) -> list[tuple[int, int, int, str]]:
    """Stream, direction, offset and reason of each end."""
    return [(item.stream, item.direction, item.offset, item.reason) for item in items if isinstance(item, StreamEnd)]
