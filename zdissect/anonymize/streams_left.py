"""What of streams is no unit: bytes that were skipped, HTTP heads, frame headers of WebSockets."""

from collections import defaultdict
from collections.abc import Mapping

from zdissect.anonymize import websockets
from zdissect.anonymize.fills import MARKS, ONES
from zdissect.anonymize.places import InFrames, Store
from zdissect.anonymize.recorder import NotingStreams
from zdissect.anonymize.texts import Texts
from zdissect.dissection import Dissection, Skip
from zdissect.flow.verdict import Verdict

_Direction = tuple[int, int]
"""Number of a TCP connection, direction."""


class StreamsLeft:
    """Writes what is left of streams."""

    def __init__(self, store: Store, streams: NotingStreams, texts: Texts) -> None:
        self.store = store
        self.streams = streams
        self.texts = texts
        self.overwritten = 0
        """Bytes that were skipped and aren't understood."""
        self.websockets: set[_Direction] = set()
        self.skips: defaultdict[_Direction, list[tuple[int, int]]] = defaultdict(list)
        """Where bytes of a direction were skipped."""

    def message(self, item: Dissection) -> None:
        """Takes note of a unit: whether it came over a WebSocket."""
        if item.flow.link == "ws":
            self.websockets.add(direction_of(item))

    def skip(self, item: Skip) -> None:
        """Writes what takes the place of skipped bytes."""
        where = direction_of(item)
        self.skips[where].append((item.offset, item.offset + item.size))
        if not item.data:
            return
        if item.reason.startswith("HTTP upgrade"):
            new = websockets.head(item.data, self.texts)
        elif item.reason.startswith("WebSocket ") and item.flow.link == "ws":
            new = websockets.other_frame(item.data)
        else:
            new = ONES * len(item.data)
            self.overwritten += len(item.data)
        places = self.streams.places(*where, item.offset, len(item.data))
        InFrames(self.store, item.data, places).write(0, new)

    def close(self, verdicts: Mapping[int, Verdict]) -> None:
        """Writes the frame headers of WebSockets: what stands between skipped bytes are frames; and how connections
        of other protocols begin.

        Args:
            verdicts: What TCP connections are.
        """
        for stream, verdict in verdicts.items():
            for direction in (0, 1) if verdict in MARKS else ():
                self.write((stream, direction), 0, MARKS[verdict])
        for where in self.websockets:
            skips = sorted(self.skips[where])
            ends = [start for start, _ in skips[1:]] + [self.streams.known[where].end]
            for (_, start), stop in zip(skips, ends, strict=True):
                websockets.headers(
                    lambda offset, size, where=where: self.read(where, offset, size),  # type: ignore[misc]
                    lambda offset, data, where=where: self.write(where, offset, data),  # type: ignore[misc]
                    start,
                    stop,
                )

    def read(self, where: _Direction, offset: int, size: int) -> bytes:
        """Bytes of a stream as they were."""
        out = b""
        for place in self.streams.places(*where, offset, size):
            if place.start != len(out):
                break
            out += self.store.old(place.frame, place.offset, place.size)
        return out

    def write(self, where: _Direction, offset: int, data: bytes) -> None:
        """Writes bytes of a stream."""
        for place in self.streams.places(*where, offset, len(data)):
            self.store.write(place.frame, place.offset, data[place.start : place.start + place.size])


def direction_of(item: Dissection | Skip) -> _Direction:
    """The stream that something came from."""
    return int(item.flow.id.rpartition(".")[2]), item.direction
