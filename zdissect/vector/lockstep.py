"""Reads the messages of many batches side by side: first the headers of FRAMEs, then what they hold."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from zdissect.engine.program import ProgramTable
from zdissect.grammar.network import PUSH, REQUEST, RESPONSE, RESPONSE_FINAL
from zdissect.grammar.transport import FRAME, KEEP_ALIVE
from zdissect.grammar.types import Message
from zdissect.vector.arrays import Bools, Ints
from zdissect.vector.guesses import Beginnings, chained
from zdissect.vector.lane_reader import LaneReader
from zdissect.vector.lanes import Lanes
from zdissect.vector.words import words_of

READ = (FRAME, KEEP_ALIVE, PUSH, REQUEST, RESPONSE, RESPONSE_FINAL)
"""Messages that are read on arrays; any other declines its batch."""

_TABLE = ProgramTable(READ)
_NETWORK: Bools = np.zeros(256, dtype=bool)
"""Whether a header byte is that of a network message."""
for _message in READ:
    _NETWORK[_message.id :: 32] = _message.layer == "network"
_RELIABLE = FRAME.flag("R").mask

_PLAIN_TURNS = 2
"""Turns without guesses: for the header of a FRAME, and for the first message in it."""
_TURNS = 64
"""Turns after which what is left is declined: it is made so that guesses fail."""

Path = tuple[int, ...]


class ShapePart(NamedTuple):
    """Messages with the same path, see `Lanes`. Arrays have an entry for each."""

    batch: Ints
    start: Ints
    stop: Ints
    """The end of its own bytes: of a FRAME, without the messages in it."""
    sn: Ints
    flag: Ints
    """1 if the FRAME around it is reliable."""
    gaps: tuple[int, ...]
    chunks: list[tuple[str, Ints, Ints]]
    found: dict[str, Any]
    bodies: list[tuple[Ints, Ints]]

    def pick(self, index: Ints) -> "ShapePart":
        """Some of the messages."""
        return self.changed(lambda values: values[index])

    def changed(self, how: Callable[[Any], Any]) -> "ShapePart":
        """The same with something done to each array."""
        return ShapePart(
            how(self.batch), how(self.start), how(self.stop), how(self.sn), how(self.flag), self.gaps,
            [(name, how(start), how(stop)) for name, start, stop in self.chunks],
            {name: how(values) for name, values in self.found.items()},
            [(how(start), how(size)) for start, size in self.bodies],
        )  # fmt: skip

    def arrays(self) -> list[Any]:
        """All arrays, in the order of `changed`."""
        out: list[Any] = []
        self.changed(out.append)
        return out


def merged(parts: list[ShapePart]) -> ShapePart:
    """All messages of some parts with the same path."""
    if len(parts) == 1:
        return parts[0]
    arrays = iter(zip(*(part.arrays() for part in parts), strict=True))
    return parts[0].changed(lambda _: np.concatenate(next(arrays)))


def message_of(path: Path) -> Message:
    """The message that a path is about."""
    return _TABLE.messages[path[0] & 31]


class Lockstep:
    """One block of batches, and how far they have been read; arguments as of `Walker.walk`."""

    def __init__(self, data: bytes, prefix: Ints, bounds: tuple[Ints, Ints], beginnings: Beginnings) -> None:
        start, stop = bounds
        self.data = data
        self.arena = np.frombuffer(data, dtype=np.uint8)
        self.words = words_of(self.arena)
        self.reader = LaneReader(self.arena, self.words)
        self.beginnings = beginnings
        self.stop = stop
        self.at = start + prefix
        size = (self.words[start] & np.uint64(0xFFFF)).astype(np.int64)
        self.good = (prefix == 0) | (size == stop - self.at)
        """Whether a batch has been read without any doubt so far."""
        self.sn = np.full(len(start), -1)
        """Sequence number of the FRAME that is being read; -1 outside of any."""
        self.flag = np.zeros(len(start), dtype=np.int64)
        self.parts: dict[Path, list[ShapePart]] = {}

    def read(self, guess: bool) -> None:
        """Reads all messages.

        Args:
            guess: Whether to guess from the start where messages begin, because FRAMEs hold several. If not, it
                begins behind the first message of a FRAME.
        """
        for turn in range(_TURNS):
            active = (self.good & (self.at < self.stop)).nonzero()[0]
            if not len(active):
                return
            self.turn(active, guess or turn >= _PLAIN_TURNS)
        self.good &= self.at == self.stop

    def turn(self, active: Ints, guess: bool) -> None:
        """Reads the next messages of some batches."""
        start = first = self.at[active]
        region = np.arange(len(active))
        if guess:
            region, start = self.beginnings.places(self.data, self.arena, start, self.stop[active])
        batch = active[region]
        parts = self.reader.read(_TABLE, Lanes(np.arange(len(batch)), start, self.stop[batch]))
        stop = np.full(len(batch), -1)
        for part in parts:
            stop[part.lane] = part.at
        if guess:
            chain = chained(region, start, stop)
            parts = [part.only(chain[part.lane]) for part in parts]
            batch, stop = batch[chain], stop[chain]
        self.at[batch] = stop  # of several messages the last one counts
        self.good[batch[stop < 0]] = False
        for part in sorted(parts, key=_layer):
            if len(part.lane):
                self.take(active[region[part.lane]], start[part.lane], part)
        self.beginnings.learn(self.arena, first[_NETWORK[self.arena[first]] & self.good[active]])

    def take(self, batch: Ints, start: Ints, lanes: Lanes) -> None:
        """Takes messages that were read."""
        message = message_of(lanes.path)
        network = message.layer == "network"
        if network:
            self.good[batch[self.sn[batch] < 0]] = False
        elif message is FRAME:
            self.sn[batch] = lanes.found.pop("sn").astype(np.int64)
            self.flag[batch] = (self.arena[start] & _RELIABLE) != 0
        else:
            self.sn[batch] = -1
        flag = self.flag[batch] if network else np.zeros(len(batch), dtype=np.int64)
        part = ShapePart(
            batch, start, lanes.at, self.sn[batch], flag, lanes.gaps, lanes.chunks, lanes.found, lanes.bodies
        )
        self.parts.setdefault(lanes.path, []).append(part)


def _layer(lanes: Lanes) -> bool:
    return message_of(lanes.path).layer == "network"
