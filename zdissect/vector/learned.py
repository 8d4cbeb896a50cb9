"""Templates by the bytes of messages: what the interpreter says of one stands for all with the same key."""

from typing import Any

import numpy as np

from zdissect.engine.compiler import MOST_TEMPLATES
from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import Row, inherit, messages
from zdissect.engine.skim import changing_extensions
from zdissect.engine.templates import CELL, Cell, Template
from zdissect.engine.vle import read
from zdissect.grammar.columns import BIT_WORDS
from zdissect.grammar.types import Message
from zdissect.vector.arrays import Ints
from zdissect.vector.keys import DECLINED, Key, Shape
from zdissect.vector.lockstep import Part, Path, message_of
from zdissect.vector.words import Words

BYTES = frozenset({"payload", "attachment"})
"""Columns of a cell that hold bytes."""
_TEXTS = frozenset({"key_suffix", "parameters"})
"""Columns among those substituted that hold text; the others hold integers."""


One = tuple[bytes, Part, int]
"""(bytes, messages, index of the message that is meant)."""


class Learned:
    """Templates, and the keys that they are found by."""

    def __init__(self) -> None:
        self.templates: list[Template] = []
        self.shapes: dict[Path, Shape] = {}
        self.read: dict[Key, Template | None] = {}
        """What the interpreter has read, by the key without what is substituted."""

    @property
    def full(self) -> bool:
        """Whether it is time to forget."""
        return max(len(self.templates), len(self.read)) > MOST_TEMPLATES

    def forget(self) -> None:
        """Forgets all templates, and what they came from if that has become much."""
        self.templates.clear()
        self.shapes.clear()
        if len(self.read) > MOST_TEMPLATES:
            self.read.clear()

    def find(self, data: bytes, words: Words, path: Path, part: Part) -> Ints:
        """Indices of the templates of messages, or `DECLINED`."""
        starts = np.array([start for _, start, _ in part.chunks])
        stops = np.array([stop for _, _, stop in part.chunks])
        gaps = (starts[1:, 0] != stops[:-1, 0]).nonzero()[0]
        first, last = starts[[0, *(gaps + 1)]], stops[[*gaps, -1]]
        shape = self.shapes.get(path)
        if shape is None:
            shape = self.shapes[path] = Shape(len(first))

        def find(index: Ints) -> list[int]:
            places = zip(starts[:, index].T.tolist(), stops[:, index].T.tolist(), strict=True)
            pieces = [[data[start:stop] for start, stop in zip(*place, strict=True)] for place in places]
            return [
                self.index(shape, path, chunks, (data, part, number))
                for number, chunks in zip(index.tolist(), pieces, strict=True)
            ]

        return shape.find(words, first, last - first, part.flag, find)

    def index(self, shape: Shape, path: Path, chunks: list[bytes], one: One) -> int:
        """The index of the template of a message, or `DECLINED`, from the bytes of its chunks."""
        _, part, number = one
        key = (flag := int(part.flag[number]), *chunks)
        known = shape.templates.get(key)
        if known is not None:
            return known
        columns = substituted(part, chunks)
        if columns is None:
            return DECLINED
        proper = path, flag, *(data for (name, _, _), data in zip(part.chunks, chunks, strict=True) if not name)
        if proper not in self.read:
            self.read[proper] = learn(message_of(path), one)
        template = self.read[proper]
        if template is None:
            return DECLINED
        self.templates.append(template.having(columns))
        index = shape.templates[key] = len(self.templates) - 1
        return index


def substituted(part: Part, chunks: list[bytes]) -> Row | None:
    """The columns of a message that aren't in the key proper, from the bytes of its chunks; None if any isn't UTF-8."""
    out: Row = {}
    for (name, _, _), data in zip(part.chunks, chunks, strict=True):
        if name:
            number, end = (data[0], 1) if data[0] < 128 else read(data, 0, len(data))
            if name in _TEXTS:
                try:
                    out[name] = data[end:].decode()
                except UnicodeDecodeError:
                    return None
            else:
                out[name] = number
    return out


def learn(message: Message, which: One) -> Template | None:
    """The template of a message; None if the interpreter remarks anything, or reads anything else than was found."""
    data, part, number = which
    one = data[part.start[number] : part.stop[number]]
    tape = interpret(message, one)
    made = [] if tape.remarks else messages(tape)
    if len(made) != 1:
        return None
    row = made[0].row
    if message.layer == "network":
        inherit(row, {"sn": int(part.sn[number]), "reliability": BIT_WORDS["reliability"][part.flag[number]]})
    template = Template(row, changing_extensions(message))
    bodies = tuple(data[start[number] : start[number] + size[number]] for start, size in part.bodies)
    if len(template.changing) != len(bodies):
        return None
    found = {name: taken(data, part.found, name, number) for name in part.found}
    found |= {"offset": 0, "length": len(one), "sn": int(part.sn[number]) if "sn" in row else None}
    cell: Cell = (template, *(found.get(name) for name in CELL[:-1]), template.extensions(bodies) if bodies else None)
    return template if template.complete(cell) == row else None


def taken(data: bytes, found: dict[str, Any], name: str, number: int) -> Any:
    """The value that was found for a column of a message."""
    value = int(found[name][number])
    return data[value : value + int(found[f"{name} size"][number])] if name in BYTES else value
