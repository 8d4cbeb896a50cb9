"""A large capture in groups of whole sessions, decoded separately, with the same rows as in the whole.

A group has its own frames. Of the others it is told only what matters to it: the numbers of its connections, the ticks
of the capture, and the moments at which segments of others showed that a wait was over. Group 0 has everything that
isn't plain TCP.
"""

import heapq
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from zdissect.flow.link import Decoder
from zdissect.records import Endpoint, Frame, Leapt, Segment

SPLIT_BYTES = 32 << 20
"""Captures of fewer bytes aren't worth a first look."""

ALL = -1
"""Stands for all groups."""

Ends = tuple[Endpoint, Endpoint]


class Moment(NamedTuple):
    """What a frame does to connections that it doesn't belong to."""

    file: str
    number: int
    ts_ns: int
    """The time of the frame, and..."""
    now_ns: int
    """... as deadlines count it."""
    latest_ns: int
    """The latest such time of the capture until then."""
    look: bool = False
    """Whether waiting connections are to be checked."""
    tick: bool = False
    """Whether it is a tick of the capture."""
    drop: tuple[int, ...] = ()
    """Numbers of the connections that are forgotten."""
    leap: tuple[int, str] | None = None
    """(shift, text) of a leap: how far the clock is ahead of the time passed from then on, and the finding's text."""
    place: int = 0
    """Position of the frame among all of the capture, from 1."""

    @classmethod
    def of(cls, values: list[Any]) -> "Moment":
        """From JSON."""
        out = cls(*values)
        return out._replace(drop=tuple(out.drop), leap=out.leap and (out.leap[0], out.leap[1]))

    @property
    def frame(self) -> Frame:
        """The frame, as far as it matters to other groups."""
        return Leapt(Frame(self.file, self.number, self.ts_ns, 0, 0, b""), self.now_ns)


TOGETHER = 1000
"""Frames whose groups are looked up at once."""


class Split(NamedTuple):
    """A capture in groups."""

    groups: dict[Ends, int]
    """Groups of pairs of ends, in both orders; all others are in group 0."""
    sizes: list[int]
    """Bytes of the groups."""
    numbers: list[list[int]]
    """Numbers of the connections of each group, ascending."""
    last: Moment
    """The last frame of the capture."""
    moments: list[tuple[int, Moment]]
    """(group, moment), in order; -1 stands for all groups."""
    plain: list[int]
    """UDP ports that carry no tunnel."""
    pairs: list[list[list[str]]]
    """For each group, the pairs of ZenohIDs between which sessions were seen; no other group has one of them."""

    def share(self, capture: str, group: int) -> "Share":
        """What the decoder of a group must know."""
        return Share(capture, group, self.numbers[group], self.last)

    def of(self, group: int, frames: Iterable[Frame]) -> Iterator[Frame | Moment]:
        """The frames of a group, from all frames of the capture, and the moments that it is told of, in order."""
        lookup = self.lookup()
        moments: dict[tuple[str, int], list[Moment]] = {}
        for other, moment in self.moments:
            if other in (group, ALL):
                moments.setdefault((moment.file, moment.number), []).append(moment)
        for owner, frame in lookup.grouped(frames):
            if moments:
                yield from moments.pop((frame.source, frame.number), ())
            if owner == group:
                yield frame

    def told(self) -> dict[tuple[str, int], list[tuple[int, Moment]]]:
        """(group, moment) by the file and number of the frame before which the group is told."""
        out: dict[tuple[str, int], list[tuple[int, Moment]]] = {}
        for other, moment in self.moments:
            groups = range(len(self.sizes)) if other == ALL else (other,)
            out.setdefault((moment.file, moment.number), []).extend((group, moment) for group in groups)
        return out

    def lookup(self) -> "Lookup":
        """The lookup of the groups of frames."""
        return Lookup(self.groups, frozenset(self.plain))

    def json(self) -> str:
        """As text."""
        ends = [(src.address.hex(), src.port, dst.address.hex(), dst.port, group)
                for (src, dst), group in self.groups.items() if src <= dst]  # fmt: skip
        return json.dumps((ends, *self[1:]))

    @classmethod
    def load(cls, text: str) -> "Split":
        """From text."""
        ends, sizes, numbers, last, moments, plain, pairs = json.loads(text)
        groups: dict[Ends, int] = {}
        for source, source_port, target, target_port, group in ends:
            src, dst = Endpoint(bytes.fromhex(source), source_port), Endpoint(bytes.fromhex(target), target_port)
            groups[src, dst] = groups[dst, src] = group
        told = [(group, Moment.of(moment)) for group, moment in moments]
        return cls(groups, sizes, numbers, Moment.of(last), told, plain, pairs)


def shared_out(roots: list[int], sizes: list[int], most: int) -> tuple[list[int], list[int]]:
    """(group of each number, bytes of each group): at most `most` groups of similar size; equal roots stay together.

    The first number is in group 0.
    """
    together: dict[int, int] = {}
    for root, size in zip(roots, sizes, strict=True):
        together[root] = together.get(root, 0) + size
    chosen = {0: 0}
    loads = [(together.pop(0), 0), *((0, group) for group in range(1, most))]
    heapq.heapify(loads)
    for root in sorted(together, key=lambda root: -together[root]):
        load, group = loads[0]
        chosen[root] = group
        heapq.heapreplace(loads, (load + together[root], group))
    used = sorted({*chosen.values()})  # if there are fewer roots than groups, some groups are empty
    index_of = {group: index for index, group in enumerate(used)}
    sizes_of = {group: load for load, group in loads}
    return [index_of[chosen[root]] for root in roots], [sizes_of[group] for group in used]


class Lookup:
    """Tells the group of a frame from the frame alone."""

    def __init__(self, groups: dict[Ends, int], plain: frozenset[int]) -> None:
        self.groups = groups
        self.decoder = Decoder(plain)

    def group(self, frame: Frame) -> int:
        """The group of a frame. IP fragments, and the segments reassembled from them, are in group 0."""
        packet = self.decoder.feed(frame)
        if not isinstance(packet, Segment) or packet.offset < 0:
            return 0
        return self.groups.get((packet.src, packet.dst), 0)

    def grouped(self, frames: Iterable[Frame]) -> Iterator[tuple[int, Frame]]:
        """(group, frame) of each frame; they are read ahead."""
        from zdissect.vector.block_headers import Headers, endpoints  # slow to load, and most captures aren't split

        rest, known = iter(frames), dict[bytes, int]()
        while some := list(islice(rest, TOGETHER)):
            headers, groups = Headers(some), [0] * len(some)
            for index, ends in zip(headers.segments.frame.tolist(), headers.segments.ends, strict=True):
                if ends not in known:
                    known[ends] = self.groups.get(endpoints(ends), 0)
                groups[index] = known[ends]
            for index in headers.odd.nonzero()[0].tolist():
                groups[index] = self.group(some[index])
            yield from zip(groups, some, strict=True)


class Share(NamedTuple):
    """A group of a capture, as its decoder knows it."""

    capture: str
    """The first file of the capture."""
    group: int
    numbers: list[int]
    last: Moment
    """The last frame of the capture."""


def worth(sizes: list[int], tasks: int, split_bytes: int) -> list[int]:
    """Indices of the captures that are larger than the share of a task, and than `split_bytes`; all if that is 0.

    `sizes` are the bytes of each capture.
    """
    least = max(split_bytes, sum(sizes) // tasks + 1) if split_bytes else 0
    return [index for index, size in enumerate(sizes) if size >= least]
