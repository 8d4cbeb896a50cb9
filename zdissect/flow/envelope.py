"""What a packet was found in, and what it gives."""

from typing import NamedTuple

from zdissect.records import Datagram, Frame, Segment

Found = Segment | Datagram | None
"""What a packet gives: None where it holds neither, or is a fragment that waits for others."""


class Envelope(NamedTuple):
    """The bytes that hold a packet."""

    frame: Frame
    data: bytes
    inside: bool = True
    """Whether they are the frame's own: then positions in them are positions in the frame."""
    depth: int = 0
    """IP packets around it."""
    frames: tuple[int, ...] = ()
    """The frames that they were put together from."""

    @property
    def stop(self) -> int:
        """Where they end on the wire. Files exist whose records claim less than they hold."""
        return max(self.frame.wire_len, len(self.data))

    def numbers(self) -> tuple[int, ...]:
        """The numbers of the frames that they came from."""
        return self.frames or (self.frame.number,)

    def frame_offset(self, at: int) -> int:
        """Where a position is in the frame; -1 if they aren't the frame's own."""
        return at if self.inside else -1
