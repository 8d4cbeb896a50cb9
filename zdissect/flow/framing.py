"""How batches are framed: three things that the session's state decides before a byte is read (notes 3 and 4.4)."""

from typing import Any, NamedTuple

from zdissect.grammar.batch import LOW_LATENCY_PREFIX, STREAM_PREFIX


class Framing(NamedTuple):
    """Framing of one direction of a conversation."""

    prefix: int = STREAM_PREFIX
    """Bytes of the length prefix: 2 on streams, 4 on low-latency streams, 0 for datagrams."""
    compression: bool = False
    """Whether each batch starts with a compression header."""
    low_latency: bool = False
    """Whether network messages stand in the batch without a FRAME."""
    big: bool = False
    """Whether the length is big endian, which it never is in Zenoh; the batch is then read without it."""

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs of the grammar's BATCH."""
        return {"prefix": self.prefix, "compression": self.compression, "low_latency": self.low_latency}


STREAM = Framing(STREAM_PREFIX)
DATAGRAM = Framing(0)

UNKNOWN = Framing(-1)
"""Framings to try where a handshake has ended, but what it agreed on isn't in the capture."""

FRAMINGS = (STREAM, Framing(STREAM_PREFIX, compression=True), Framing(LOW_LATENCY_PREFIX, low_latency=True))
"""Framings to try from the middle of a stream on, in this order."""

DATAGRAM_FRAMINGS = (DATAGRAM, Framing(0, compression=True), Framing(0, low_latency=True))
"""The same for datagrams."""
