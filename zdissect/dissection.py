"""What the pipeline yields: batches and datagrams dissected, the bytes that couldn't be, and what no bytes show."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Generic, NamedTuple, TypeVar

from zdissect.engine.messages import DecodedMessage
from zdissect.engine.tape import Buffer, Tape
from zdissect.flow.conversation import Flow
from zdissect.flow.framing import Framing
from zdissect.grammar.rule import Rule
from zdissect.grammar.rules import RULES
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
    messages: list[DecodedMessage] = field(default_factory=list)
    """Its messages, with what the session knows of them."""
    first: tuple[int, int] = (0, 0)
    """The numbers of the first one: among all in its frame of this conversation, and among those of its sender."""
    next_framing: Framing | None = None
    """How its direction is framed from the next batch on, if a handshake says so here; without a length prefix."""
    origin: str = ""
    """Where the bytes came from, for people: empty, or `decompressed from 40 bytes`."""
    scouting: bool = False
    """It is a scouting datagram, and no batch of a session."""
    keys: int = 0
    """Memory of long key expressions in its messages."""
    around: int = 0
    """Bytes of a stream that carry it: the headers of WebSocket frames."""
    speaker: tuple[object, int, bool] | None = field(default=None, compare=False, repr=False)
    """Who declares something in it, or asks for what is declared, as was known then (`session.model.Speaker`)."""


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
    code: str = ""
    """The rule that it is a finding of; empty if it is none."""


class Notice(NamedTuple):
    """What no bytes show: an answer that doesn't come, a side that has fallen silent."""

    frame: Frame
    """The frame by which it is known: the first one after it happened, whatever that carries."""
    flow: Flow
    """The conversation that it is about."""
    direction: int
    """The side that it is about."""
    text: str
    code: str = ""
    """The rule that it is a finding of; empty if it is none."""
    due_ns: int = 0
    """Where something didn't come in time: when its session was to be looked at, by `Frame.now_ns`."""


class Finding(NamedTuple):
    """A finding: what breaks a rule, and where."""

    rule: Rule
    message: str
    item: "Dissection | Skip | Notice"
    start: int
    """Where in the item's buffer (or stream, for skipped bytes) it begins."""
    stop: int


def findings(item: "Item") -> Iterator[Finding]:
    """The findings of an item, in the order in which they were made."""
    if isinstance(item, Dissection):
        for rule, start, stop, text in item.tape.findings():
            yield Finding(rule, text, item, start, stop)
    elif not item.code:
        return
    elif isinstance(item, Notice):
        yield Finding(RULES[item.code], item.text, item, 0, 0)
    else:
        text = f"{item.size} bytes: {item.reason}"
        yield Finding(RULES[item.code], text, item, item.offset, item.offset + item.size)


def findings_of(item: "Item", chosen: Sequence[bool] | None) -> Iterator[Finding]:
    """The findings of an item; of a choice of its messages only theirs, with places that count from the first byte.

    Args:
        item: Where they were made.
        chosen: Whether each message of it is wanted, or the item where it has none; None: all are.
    """
    if chosen is None or not isinstance(item, Dissection) or not item.messages:
        if chosen is None or all(chosen):
            yield from findings(item)
        return
    for message in compress(item.messages, chosen):
        for one in message.shared.get("findings", ()):
            yield Finding(RULES[one["code"]], one["message"], item, one["offset"], one["offset"])


Item = Dissection | Skip | Notice

Of = TypeVar("Of")


class InTurn(Generic[Of]):
    """Stands for a batch that was read together with others, of which something is made from columns.

    Args:
        made: What is made of each of these batches.
    """

    __slots__ = ("_made",)

    def __init__(self, made: Iterator[Of]) -> None:
        self._made = made

    def take(self) -> Of:
        """Makes it. All are to be taken in the order in which they stand, and what stands between them in its turn."""
        return next(self._made)


Rank = tuple[int, int]
"""Sorts what one frame brings, also where connections are dissected apart (zdissect/parallel)."""
RankedPart = tuple[Rank, list[Item]]
Ranked = list[RankedPart]
"""What a frame brings, in order."""
RankedAs = Sequence[tuple[Rank, Sequence[Item | InTurn[Of]]]]
"""The same, where something else stands for some items."""
LEAP, LOOK, OWN, TICK = range(4)
"""First numbers of ranks, in the order of the pipeline: a leap of the clock, connections that waited until then, what
the frame itself completes, what is overdue. The second number is that of a connection or, at a tick, a time."""
ITSELF = OWN, 0
"""What the frame itself brings, and the end of connections that it makes room by: if both have something to show, it
isn't known in which order."""


def due_ns(item: Item) -> int:
    """When what a notice is about was due; 0 for all else."""
    return item.due_ns if isinstance(item, Notice) else 0


PART_BYTES = 4 << 20
"""Memory of items that are passed on together, about; a single batch may take more."""
_MESSAGE_BYTES = 1000
"""Memory of an item, or of a message in it, with its tape and its row, besides its bytes."""


def memory_of(item: Item) -> int:
    """The memory that an item takes, about."""
    if isinstance(item, Dissection):
        return _MESSAGE_BYTES * (1 + len(item.messages)) + len(item.buffer.data) + item.keys
    return _MESSAGE_BYTES + (len(item.data) if isinstance(item, Skip) else 0)


def ticked(items: list[Item]) -> Ranked:
    """What a tick brings, with its ranks."""
    return [((TICK, due_ns(item)), [item]) for item in items]


def parts_of(rank: Rank, items: Iterable[Item]) -> Iterator[RankedPart]:
    """Items in parts that take about `PART_BYTES` of memory."""
    part, size = list[Item](), 0
    for item in items:
        part.append(item)
        size += memory_of(item)
        if size >= PART_BYTES:
            yield rank, part
            part, size = [], 0
    if part:
        yield rank, part
