"""Where the bytes of packets are that were put together from IP fragments."""

from zdissect.anonymize.layers import FRAGMENT, Layer
from zdissect.anonymize.places import FramePlace
from zdissect.records import Frame

MOST_OPEN = 4096
"""Packets whose fragments are remembered."""


class FragmentPlaces:
    """The fragments of a capture."""

    def __init__(self) -> None:
        self.open: dict[bytes, list[FramePlace]] = {}
        self.whole: dict[int, list[FramePlace]] = {}
        """By the frame that completed a packet."""
        self.first: dict[int, int] = {}
        """By the frame with its first fragment: the frame that completed it."""

    def note(self, frame: Frame, found: list[Layer], complete: bool) -> None:
        """Notes the fragment that a frame holds.

        Args:
            complete: A packet was put together when it came.
        """
        layer = next((one for one in found if one.kind == FRAGMENT), None)
        if layer is None:
            return
        size = max(0, min(layer.stop, len(frame.data)) - layer.body)
        places = self.open.setdefault(layer.key, [])
        places.append(FramePlace(layer.place, frame.number - 1, layer.body, size))
        if complete:
            del self.open[layer.key]
            self.whole[frame.number - 1] = places
            self.first |= {place.frame: frame.number - 1 for place in places if not place.start}
        elif len(self.open) > MOST_OPEN:
            del self.open[next(iter(self.open))]

    def places(self, frame: int, start: int) -> list[FramePlace]:
        """Where what begins at `start` of the packet is that was put together at a frame."""
        return [place._replace(start=place.start - start) for place in self.whole.get(frame, ())]
