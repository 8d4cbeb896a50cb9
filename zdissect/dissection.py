"""What the pipeline yields: batches and datagrams dissected, and the bytes that couldn't be."""

from dataclasses import dataclass, field

from zdissect.engine.messages import Message
from zdissect.engine.tape import Buffer, Tape
from zdissect.flow.conversation import Flow
from zdissect.flow.framing import Framing
from zdissect.records import Frame


@dataclass(slots=True)
class Dissection:
    """One batch, datagram or reassembled message, dissected."""

    frame: Frame
    """The frame that completes it."""
    frames: tuple[int, ...]
    """Numbers of all frames that it came from."""
    flow: Flow
    direction: int
    """0: sent by the side that opened the conversation."""
    buffer: Buffer
    tape: Tape
    framing: Framing
    missing: str = ""
    """Why its end isn't there: `cut` or `lost` (see Gap), `end` (of the stream); empty if it is whole."""
    messages: list[Message] = field(default_factory=list)
    """Its messages, with what the session knows of them."""
    origin: str = ""
    """Where the bytes came from, for people: empty, or `decompressed from 40 bytes`."""


@dataclass(slots=True)
class Skip:
    """Bytes of a Zenoh stream that aren't dissected."""

    frame: Frame
    flow: Flow
    direction: int
    offset: int
    """Stream offset of the first byte."""
    size: int
    data: bytes
    """The bytes; empty if the capture doesn't hold them."""
    reason: str


Item = Dissection | Skip
