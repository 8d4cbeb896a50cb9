"""Which frames an excerpt has, and why: those of the selected messages, and those that these need."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from zdissect.dissection import Dissection, Item
from zdissect.excerpt.index import ConversationPart, Index, Select, fingerprint, whole
from zdissect.flow.connection import is_syn
from zdissect.flow.link import Decoder
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Datagram, Frame, Segment
from zdissect.session.keyexprs import intersects


@dataclass(slots=True)
class FrameChoice:
    """The frames of an excerpt, numbered through all files from 1."""

    selected: set[int] = field(default_factory=set)
    needed: set[int] = field(default_factory=set)
    """Others: handshakes, declarations, requests."""
    context: set[int] = field(default_factory=set)
    """Others again: all of a conversation whose messages weren't understood without."""
    lost: int = 0
    """Selected messages that differ in the excerpt, or can't be found in it."""
    total: int = 0
    comments: dict[int, list[str]] = field(default_factory=dict)
    """Findings, by frame."""

    @property
    def frames(self) -> set[int]:
        """All of them."""
        return self.selected | self.needed | self.context

    def lines(self) -> list[str]:
        """What is in the excerpt and what isn't, for people."""
        frames = self.frames
        needed = len(self.needed - self.selected)
        out = [
            f"{len(frames)} of {self.total} frames: {len(self.selected)} that were selected, {needed} that these need "
            f"(handshakes, declarations, requests); {self.total - len(frames)} are left out"
        ]
        if more := len(self.context - self.needed - self.selected):
            out.append(f"among them {more} more of conversations that can't be read without what comes before")
        if self.lost:
            out.append(f"{self.lost} of the selected messages aren't resolved in the excerpt as in the whole capture")
        return out


class _LastPacket(Decoder):
    """A decoder that keeps the last packet."""

    packet: Segment | Datagram | None = None

    def feed(self, frame: Frame) -> Segment | Datagram | None:
        self.packet = super().feed(frame)
        return self.packet


def choose(frames: Callable[[], Iterable[Frame]], options: Options, select: Select, exact: bool = False) -> FrameChoice:
    """Chooses the frames of an excerpt.

    Args:
        frames: Gives all frames, each time from the first one.
        select: Tells which messages are wanted.
        exact: Only the frames of the selected messages, not those that these need.
    """
    index = _indexed(numbered(frames()), options, select)
    out = FrameChoice(total=len(index.of_frame), comments=index.comments)
    parts = [part for part in index.parts.values() if part.selected]
    for part in parts:
        out.selected |= part.selected
    if exact:
        return out
    out.needed = _needed(index, parts)
    chosen = out.frames
    few = (frame for frame in numbered(frames()) if frame.number in chosen)
    missing = _missing(parts, few, options)
    if any(missing.values()):
        out.context = whole(index, (flow for flow, number in missing.items() if number))
        chosen = out.frames
        out.lost = sum(_missing(parts, (one for one in numbered(frames()) if one.number in chosen), options).values())
    return out


def numbered(frames: Iterable[Frame]) -> Iterator[Frame]:
    """Frames of several files, numbered through."""
    return (frame._replace(number=number) for number, frame in enumerate(frames, 1))


def _indexed(frames: Iterable[Frame], options: Options, select: Select) -> Index:
    """The first pass."""
    index, pipeline = Index(select), Pipeline(options)
    decoder = pipeline.decoder = _LastPacket(options.udp_ports)
    for frame in frames:
        items = pipeline.begun(frame)
        packet = decoder.packet
        flow = pipeline.flow(packet) if packet is not None else None
        index.frame(flow, isinstance(packet, Segment) and is_syn(packet))
        for item in items:
            index.item(item)
    for item in pipeline.close():
        index.item(item)
    return index


def _needed(index: Index, parts: list[ConversationPart]) -> set[int]:
    """The frames that the selected messages need."""
    out: set[int] = set()
    waiting: set[int] = set()
    for part in parts:
        waiting |= part.needs
        for key, frames in part.declarations.items():
            if any(intersects(key, wanted) for wanted in part.keys):
                waiting |= frames
    while waiting:
        number = waiting.pop()
        if number not in out:
            out.add(number)
            out.update(index.units.get(number, ()))
            waiting |= index.references.get(number, set())
    flows = {part.flow.id for part in parts}
    flows |= {index.flows[index.of_frame[number - 1]] for number in out if index.of_frame[number - 1] >= 0}
    for flow in flows:
        out |= index.parts[flow].openings
    return out


def _missing(parts: list[ConversationPart], frames: Iterable[Frame], options: Options) -> dict[str, int]:
    """How many selected messages of each conversation aren't read from some frames as from all."""
    left = {part.flow.id: set(part.messages) for part in parts}
    owners = {message: part.flow.id for part in parts for message in part.messages}
    pipeline = Pipeline(options)
    for frame in frames:
        _find(pipeline.begun(frame), owners, left)
    _find(pipeline.close(), owners, left)
    return {flow: len(messages) for flow, messages in left.items()}


def _find(items: Iterable[Item], owners: dict[int, str], left: dict[str, set[int]]) -> None:
    """Takes messages that are found from those that are left, by their fingerprints."""
    for item in items:
        if isinstance(item, Dissection):
            for known in (fingerprint(item, message.row) for message in item.messages):
                if known in owners:
                    left[owners[known]].discard(known)
