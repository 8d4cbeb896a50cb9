"""What the stages of the vector way hand to each other: arrays, one entry for each frame, batch or message."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zdissect.engine.templates import Template
from zdissect.flow.connection import HalfStream
from zdissect.flow.conversation import StreamConversation
from zdissect.flow.datagram_conversation import DatagramConversation
from zdissect.flow.framing import DATAGRAM, STREAM, Framing
from zdissect.records import Frame

Ints = npt.NDArray[np.int64]
Stamps = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]

PADDING = 16
"""Zero bytes after an arena, so that whole words can be read at its end."""


class StreamWay(NamedTuple):
    """One direction of a TCP connection that is plain when a block begins."""

    conversation: StreamConversation
    half: HalfStream

    @property
    def direction(self) -> int:
        """The direction."""
        return self.half.direction

    @property
    def framing(self) -> Framing:
        """How its batches are framed."""
        return STREAM


class DatagramWay(NamedTuple):
    """One direction of a conversation of datagrams that is plain when a block begins."""

    conversation: DatagramConversation
    direction: int

    @property
    def framing(self) -> Framing:
        """How its batches are framed."""
        return DATAGRAM


Way = StreamWay | DatagramWay
"""One direction of a conversation."""


@dataclass(slots=True)
class BlockBatches:
    """The batches of a block, in the order in which the scalar way would dissect them."""

    arena: Bytes
    """The bytes of all streams, each direction contiguous, and `PADDING` zeros; then those of frames with datagrams."""
    start: Ints
    """Where each begins in the arena, with its length prefix of two bytes; that of a datagram has none."""
    stop: Ints
    frame: Ints
    """Index in the block of the frame that completes it."""
    way: Ints
    """Index in `ways`."""
    ways: list[Way]

    @property
    def prefix(self) -> Ints:
        """The size of the length prefix of each."""
        out: Ints = np.array([way.framing.prefix for way in self.ways], np.int64)[self.way]
        return out


@dataclass(slots=True)
class Walked:
    """The messages of the batches that were read, in the order of batches and, in a batch, of the wire."""

    data: bytes
    """The bytes that were walked; places count in them."""
    templates: list[Template]
    origin: Ints
    """For each batch, where it begins."""
    plain: Bools
    """For each batch, whether it was read; no message is of another one."""
    batch: Ints
    """The batch of each message."""
    template: Ints
    """Its template, as index in `templates`."""
    start: Ints
    stop: Ints
    """Its bytes; of a FRAME with the messages in it."""
    sn: Ints
    """Sequence number of the FRAME, of it or around it; -1 of a KEEP_ALIVE."""
    stamp: Stamps
    """`timestamp_ntp64`, where `stamped`."""
    stamped: Bools
    payload: Ints
    """Where the payload begins; -1 if there is none."""
    payload_size: Ints
    attachment: Ints
    attachment_size: Ints
    source_sn: Ints
    """-1 if there is none, as in the next."""
    request_id: Ints
    bodies: list[tuple[Ints, Ints]]
    """(starts, sizes) of the bodies of extensions with changing values: the n-th entry is about the n-th such extension
    of each message, as `Template.changing` counts them; a start is -1 if it has fewer."""


class FrameBlock(NamedTuple):
    """Frames of one file, after the clock: none of them is a leap."""

    frames: list[Frame]
    now_ns: Ints
    moments: list[tuple[int, Any]]
    """Of a group of sessions: what it is told of others, and the index of the frame before which it is told."""
