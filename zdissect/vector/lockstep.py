"""Reads the messages of many batches side by side: the first of all batches, then the second ones, and so on."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from zdissect.engine.program import ProgramTable
from zdissect.grammar.batch import STREAM_PREFIX
from zdissect.grammar.network import PUSH, REQUEST, RESPONSE, RESPONSE_FINAL
from zdissect.grammar.transport import FRAME, KEEP_ALIVE
from zdissect.grammar.types import Message
from zdissect.vector.arrays import Bytes, Ints
from zdissect.vector.lanes import Lanes, Reader
from zdissect.vector.words import words_of

READ = (FRAME, KEEP_ALIVE, PUSH, REQUEST, RESPONSE, RESPONSE_FINAL)
"""Messages that are read on arrays; any other declines its batch."""

_TABLE = ProgramTable(READ)
_RELIABLE = FRAME.flag("R").mask

Path = tuple[int, ...]


class Part(NamedTuple):
    """Messages with the same path, see `Lanes`. Arrays have an entry for each."""

    batch: Ints
    start: Ints
    stop: Ints
    """The end of its own bytes: of a FRAME, without the messages in it."""
    sn: Ints
    flag: Ints
    """1 if the FRAME around it is reliable."""
    chunks: list[tuple[str, Ints, Ints]]
    found: dict[str, Any]
    bodies: list[tuple[Ints, Ints]]

    def pick(self, index: Ints) -> "Part":
        """Some of the messages."""
        return self.changed(lambda values: values[index])

    def changed(self, how: Callable[[Any], Any]) -> "Part":
        """The same with something done to each array."""
        return Part(
            how(self.batch), how(self.start), how(self.stop), how(self.sn), how(self.flag),
            [(name, how(start), how(stop)) for name, start, stop in self.chunks],
            {name: how(values) for name, values in self.found.items()},
            [(how(start), how(size)) for start, size in self.bodies],
        )  # fmt: skip

    def arrays(self) -> list[Any]:
        """All arrays, in the order of `changed`."""
        out: list[Any] = []
        self.changed(out.append)
        return out


def merged(parts: list[Part]) -> Part:
    """All messages of some parts with the same path."""
    if len(parts) == 1:
        return parts[0]
    arrays = iter(zip(*(part.arrays() for part in parts), strict=True))
    return parts[0].changed(lambda _: np.concatenate(next(arrays)))


def message_of(path: Path) -> Message:
    """The message that a path is about."""
    return _TABLE.messages[path[0] & 31]


class Lockstep:
    """One block of batches, and how far they have been read."""

    def __init__(self, arena: Bytes, start: Ints, stop: Ints) -> None:
        self.arena = arena
        self.words = words_of(arena)
        self.reader = Reader(arena, self.words)
        self.stop = stop
        self.at = start + STREAM_PREFIX
        self.good = (self.words[start] & np.uint64(0xFFFF)).astype(np.int64) == stop - self.at
        """Whether a batch has been read without any doubt so far."""
        self.sn = np.full(len(start), -1)
        """Sequence number of the FRAME that is being read; -1 outside of any."""
        self.flag = np.zeros(len(start), dtype=np.int64)
        self.parts: dict[Path, list[Part]] = {}

    def read(self) -> None:
        """Reads all messages."""
        while True:
            active = np.flatnonzero(self.good & (self.at < self.stop))
            if not len(active):
                return
            self.turn(active)

    def turn(self, active: Ints) -> None:
        """Reads the next message of some batches."""
        start = self.at[active]
        parts = self.reader.read(_TABLE, Lanes(np.arange(len(active)), start, self.stop[active]))
        self.good[active] = False
        for part in sorted(parts, key=_layer):
            batch = active[part.lane]
            self.good[batch] = True
            self.at[batch] = part.at
            self.take(batch, start[part.lane], part)

    def take(self, batch: Ints, start: Ints, lanes: Lanes) -> None:
        """Takes messages that were read."""
        message = message_of(lanes.path)
        if message is FRAME:
            self.sn[batch] = lanes.found.pop("sn").astype(np.int64)
            self.flag[batch] = (self.arena[start] & _RELIABLE) != 0
        elif message is KEEP_ALIVE:
            self.sn[batch] = -1
        else:
            self.good[batch] = self.sn[batch] >= 0
        flag = self.flag[batch] if message.layer == "network" else np.zeros(len(batch), dtype=np.int64)
        part = Part(batch, start, lanes.at, self.sn[batch], flag, lanes.chunks, lanes.found, lanes.bodies)
        self.parts.setdefault(lanes.path, []).append(part)


def _layer(lanes: Lanes) -> bool:
    return message_of(lanes.path).layer == "network"
