"""How batches are framed: the three things that state decides before a byte is read (notes 3 and 4.4)."""

from typing import Any, NamedTuple

from zdissect.grammar.batch import LOW_LATENCY_PREFIX, STREAM_PREFIX


class Framing(NamedTuple):
    """Framing of one direction of a conversation."""

    prefix: int = STREAM_PREFIX
    """Bytes of the length in front: 2 on streams, 4 on low-latency streams, 0 for datagrams."""
    compression: bool = False
    """Each batch starts with a header byte."""
    low_latency: bool = False
    """Network messages stand in the batch without a FRAME."""
    big: bool = False
    """The length is big endian, which it never is in Zenoh: the batch is read without it."""

    @property
    def inputs(self) -> dict[str, Any]:
        """The values that the grammar's BATCH asks for."""
        return {"prefix": self.prefix, "compression": self.compression, "low_latency": self.low_latency}


STREAM = Framing(STREAM_PREFIX)
DATAGRAM = Framing(0)

UNKNOWN = Framing(-1)
"""To be found by trying: a handshake has ended, but what it agreed on isn't in the capture."""

FRAMINGS = (STREAM, Framing(STREAM_PREFIX, compression=True), Framing(LOW_LATENCY_PREFIX, low_latency=True))
"""What a stream may be from its middle on, in the order in which it is tried."""

DATAGRAM_FRAMINGS = (DATAGRAM, Framing(0, compression=True), Framing(0, low_latency=True))
"""The same for datagrams."""
