"""Batches to messages: where each begins and ends, the values that change, and the template with everything else."""

from typing import Any

import numpy as np

from zdissect.engine.templates import Template
from zdissect.grammar.transport import FRAME, KEEP_ALIVE
from zdissect.vector.arrays import Bytes, Ints, Walked
from zdissect.vector.guesses import Beginnings
from zdissect.vector.learned import KnownTemplates
from zdissect.vector.lockstep import Lockstep, ShapePart, merged, message_of
from zdissect.vector.shapes import DECLINED

_SLACK = 256
"""Zero bytes behind the arena: more than any message can have between two places where its end is checked."""
_SEVERAL = 2.5
"""Messages for each transport message from which on it is better to guess where they begin than to go on one by one."""


class Walker:
    """Reads blocks of batches, and remembers the templates of their messages."""

    def __init__(self) -> None:
        self.learned = KnownTemplates()
        self.beginnings = Beginnings()
        self.several = False
        """Whether the FRAMEs of the last block held several messages each."""

    @property
    def templates(self) -> list[Template]:
        """By index; what is read after `forget` has others."""
        return self.learned.templates

    @property
    def full(self) -> bool:
        """Whether there are so many templates that it is time to forget them, between blocks."""
        return self.learned.full

    def forget(self) -> None:
        """Forgets all templates."""
        self.learned.forget()

    def walk(self, arena: Bytes, prefix: Ints, start: Ints, stop: Ints) -> Walked:
        """Reads the batches `start` to `stop` of an arena.

        Args:
            prefix: The size of the length prefix of each: two bytes, or none.
        """
        data = b"".join((arena.data, bytes(_SLACK)))
        lockstep = Lockstep(data, prefix, (start, stop), self.beginnings)
        lockstep.read(self.several)
        found = []
        for path, parts in lockstep.parts.items():
            part = merged(parts)
            good = lockstep.good[part.batch]
            if not good.all():
                part = part.pick(np.flatnonzero(good))
            if len(part.batch):
                template = self.learned.find(data, lockstep.words, path, part)
                lockstep.good[part.batch[template == DECLINED]] = False
                found.append((message_of(path) in (FRAME, KEEP_ALIVE), part, template))
        sizes = [(transport, len(template)) for transport, _, template in found]
        frames = sum(size for transport, size in sizes if transport)
        self.several = sum(size for _, size in sizes) > _SEVERAL * frames
        return _Collected(lockstep, found).walked(data, self.templates, start)


Found = tuple[bool, ShapePart, Ints]
"""(whether they are transport messages, messages, indices of their templates), of a shape."""


class _Collected:
    """The messages of all shapes, brought into order."""

    def __init__(self, lockstep: Lockstep, found: list[Found]) -> None:
        self.lockstep = lockstep
        self.parts = [part for _, part, _ in found]
        self.sizes = [len(part.batch) for part in self.parts]
        batch, start = (
            self.joined([part.batch for part in self.parts]),
            self.joined([part.start for part in self.parts]),
        )
        order = np.argsort((batch << 32) + start)
        good = lockstep.good[batch[order]]
        self.order = order if good.all() else order[good]
        self.batch, self.start = batch[self.order], start[self.order]
        self.template = self.joined([template for _, _, template in found])[self.order]
        outer = self.joined([np.full(len(part.batch), transport) for transport, part, _ in found], bool)
        self.transport = np.flatnonzero(outer[self.order])

    def walked(self, data: bytes, templates: list[Template], origin: Ints) -> Walked:
        """All columns."""
        stamps = [part.found.get("timestamp_ntp64") for part in self.parts]
        pairs = list(zip(stamps, self.sizes, strict=True))
        stamped = self.joined([np.full(size, values is not None) for values, size in pairs], bool)
        zero = np.uint64(0)
        stamp = self.joined([np.full(size, zero) if values is None else values for values, size in pairs], np.uint64)
        sn = self.joined([part.sn for part in self.parts])
        column = self.column
        return Walked(
            data, templates, origin, self.lockstep.good, self.batch, self.template, self.start, self.stop(),
            sn[self.order], stamp[self.order], stamped[self.order], column("payload"), column("payload size"),
            column("attachment"), column("attachment size"), column("source_sn"), column("request_id"), self.bodies(),
        )  # fmt: skip

    @staticmethod
    def joined(values: list[Any], kind: Any = np.int64) -> Any:
        """An array of all messages, shape by shape."""
        return np.concatenate([np.zeros(0, dtype=kind), *values], dtype=kind, casting="unsafe")

    def column(self, name: str) -> Ints:
        """A column, -1 where there is no value."""
        values = [part.found[name] if name in part.found else np.full(len(part.batch), -1) for part in self.parts]
        out: Ints = self.joined(values)[self.order]
        return out

    def stop(self) -> Ints:
        """Where each message ends; a transport message where the next one begins, or with the batch."""
        stop: Ints = self.joined([part.stop for part in self.parts])[self.order]
        places, following = self.transport, self.transport[1:]
        ends = self.lockstep.stop[self.batch[places]]
        ends[:-1] = np.where(self.batch[following] == self.batch[places[:-1]], self.start[following], ends[:-1])
        stop[places] = ends
        return stop

    def bodies(self) -> list[tuple[Ints, Ints]]:
        """The bodies of extensions, see `Walked`."""
        none = [(np.full(size, -1),) * 2 for size in self.sizes]
        out = []
        for number in range(max((len(part.bodies) for part in self.parts), default=0)):
            found = [
                part.bodies[number] if len(part.bodies) > number else absent
                for part, absent in zip(self.parts, none, strict=True)
            ]
            start, size = (self.joined(list(values))[self.order] for values in zip(*found, strict=True))
            out.append((start, size))
        return out
