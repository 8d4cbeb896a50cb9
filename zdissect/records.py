"""The records that the stages of the pipeline hand to each other.

Plain named tuples without behaviour: one is made per frame or per piece of a stream, so they must be cheap.
"""

from typing import NamedTuple, Self


class Frame(NamedTuple):
    """One record of a capture file."""

    source: str
    """Name of the file, as it was given; `-` for standard input."""
    number: int
    """Position in its file, from 1."""
    ts_ns: int
    """Capture time, nanoseconds since 1970 UTC: whatever the file says, also beyond 64 bits, or negative."""
    link: int
    """LINKTYPE_ value of the interface (1 Ethernet, 0 NULL, 101 RAW, 113 SLL, 276 SLL2...)."""
    wire_len: int
    """Length on the wire in bytes; more than len(data) where the capture cut the frame (snaplen)."""
    data: bytes
    """The captured bytes."""

    def bare(self) -> "Frame":
        """The frame without its bytes."""
        bare = Frame(*self[:5], b"")
        return bare if self.now_ns == self.ts_ns else Leapt(bare, self.now_ns)

    @property
    def now_ns(self) -> int:
        """The time by which waits and leases go: `ts_ns`, unless the clock of the capture has leapt (flow/clock.py)."""
        return self[2]


class Leapt(Frame):
    """A frame at or after a leap of its capture's clock."""

    _now_ns: int

    def __new__(cls, frame: Frame, now_ns: int) -> Self:
        out = tuple.__new__(cls, frame)
        out._now_ns = now_ns
        return out

    def __getnewargs__(self) -> tuple[Frame, int]:
        return Frame(*self), self._now_ns

    @property
    def now_ns(self) -> int:
        return self._now_ns


class Endpoint(NamedTuple):
    """One end of a conversation."""

    address: bytes
    """IPv4 (4 bytes), IPv6 (16 bytes) or MAC (6 bytes) address; empty where the capture doesn't tell it."""
    port: int
    """0 where there are no ports: on raw Ethernet."""


class Segment(NamedTuple):
    """One TCP segment."""

    frame: Frame
    src: Endpoint
    dst: Endpoint
    seq: int
    ack: int
    flags: int
    """TCP flag byte: FIN 1, SYN 2, RST 4, PSH 8, ACK 16."""
    payload: bytes
    missing: int
    """Payload bytes that were on the wire but not captured (they follow `payload`)."""
    offset: int
    """Where `payload` starts in `frame.data`; -1 if it was put together from IP fragments."""


class Datagram(NamedTuple):
    """One UDP datagram, or what zenoh-pico sends in its place on raw Ethernet."""

    frame: Frame
    src: Endpoint
    dst: Endpoint
    payload: bytes
    missing: int
    """Payload bytes that were on the wire but not captured (they follow `payload`)."""
    offset: int
    """Where `payload` starts in `frame.data`; -1 if it was put together from IP fragments."""
    frames: tuple[int, ...]
    """Numbers of the frames it came from, in stream order; one unless IP fragments were put together."""
    link: str = "udp"
    """`udp` or `raweth`."""


RAW_ETHERNET = "raweth"
DATAGRAM_LINKS = ("udp", RAW_ETHERNET)


class Chunk(NamedTuple):
    """Bytes of a TCP stream, each delivered once and in order."""

    stream: int
    """Number of the TCP connection in the capture, from 0 (tshark's tcp.stream)."""
    direction: int
    """0: sent by the side that opened (or spoke first, where the opening isn't captured); 1: by the other."""
    offset: int
    """Stream offset of the first byte; 0 is the first payload byte seen or, with a SYN, the first sent."""
    data: bytes
    frame: Frame
    """The frame that carried these bytes."""
    frame_offset: int
    """Where they start in `frame.data`; -1 if the packet was put together from IP fragments."""


class Gap(NamedTuple):
    """Bytes of a TCP stream that the capture doesn't hold."""

    stream: int
    direction: int
    offset: int
    size: int
    frame: Frame
    """The frame at which the missing bytes were given up."""
    reason: str
    """`lost` (not in the capture) or `cut` (on the wire, but cut off by the capture's snaplen)."""


class Overlap(NamedTuple):
    """A retransmission whose bytes differ from those delivered first (the first are kept)."""

    stream: int
    direction: int
    offset: int
    size: int
    frame: Frame


class StreamEnd(NamedTuple):
    """The end of one direction of a TCP stream."""

    stream: int
    direction: int
    offset: int
    frame: Frame | None
    """The frame with FIN or RST; None at the end of the capture."""
    reason: str
    """`fin`, `rst`, `reused` (a new connection on the same ports) or `capture` (the capture ended)."""


StreamItem = Chunk | Gap | Overlap | StreamEnd
