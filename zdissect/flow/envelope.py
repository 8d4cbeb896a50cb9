"""The bytes that a packet was found in, and what decoding it yields."""

from typing import NamedTuple

from zdissect.records import Datagram, Frame, Segment

Found = Segment | Datagram | None
"""What a packet holds: a segment or a datagram; None for neither, or for a fragment that waits for others."""


class Envelope(NamedTuple):
    """The bytes that hold a packet."""

    frame: Frame
    data: bytes
    inside: bool = True
    """Whether these are the frame's own bytes; then positions in them are positions in the frame."""
    depth: int = 0
    """Number of IP packets around it."""
    frames: tuple[int, ...] = ()
    """The frames that the bytes were put together from."""

    @property
    def stop(self) -> int:
        """Where the bytes end on the wire. Files exist whose records claim less than they hold."""
        return max(self.frame.wire_len, len(self.data))

    def numbers(self) -> tuple[int, ...]:
        """The numbers of the frames that the bytes came from."""
        return self.frames or (self.frame.number,)

    def frame_offset(self, at: int) -> int:
        """A position as an offset in the frame; -1 if the bytes aren't the frame's own."""
        return at if self.inside else -1
