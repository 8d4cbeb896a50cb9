"""Templates by the bytes of messages: what the interpreter says of one stands for all with the same key."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import Row, inherit, messages
from zdissect.engine.templates import CELL, MOST_TEMPLATES, Cell, Template, changing_extensions
from zdissect.engine.vle import read
from zdissect.grammar.columns import BIT_WORDS
from zdissect.grammar.types import Message
from zdissect.vector.arrays import Ints
from zdissect.vector.lockstep import Path, ShapePart, message_of
from zdissect.vector.shapes import DECLINED, Key, Shape
from zdissect.vector.words import Words

BYTES = frozenset({"payload", "attachment"})
"""Columns of a cell that hold bytes."""
_TEXTS = frozenset({"key_suffix", "parameters"})
"""Columns among those substituted that hold text; the others hold integers."""
_LONGEST = 1024
"""Bytes that tell messages apart, at most: templates with long ones would take the memory of many."""


Places = Iterable[tuple[list[int], list[int], int, int]]
"""(starts of chunks, their ends, flag, index among the messages) of each message."""


class KnownTemplates:
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
        self.templates = []  # blocks that were read keep theirs
        self.shapes.clear()
        if len(self.read) > MOST_TEMPLATES:
            self.read.clear()

    def find(self, data: bytes, words: Words, path: Path, part: ShapePart) -> Ints:
        """Indices of the templates of messages, or `DECLINED`."""
        starts = np.array([start for _, start, _ in part.chunks])
        stops = np.array([stop for _, _, stop in part.chunks])
        first, last = starts[[0, *part.gaps]], stops[[*(gap - 1 for gap in part.gaps), -1]]
        shape = self.shapes.get(path)
        if shape is None:
            shape = self.shapes[path] = Shape(len(first))

        def find(index: Ints) -> list[int]:
            places = starts[:, index].T.tolist(), stops[:, index].T.tolist(), part.flag[index].tolist(), index.tolist()
            return self.indices(shape, path, (data, part), zip(*places, strict=True))

        return shape.find(words, first, last - first, part.flag, find)

    def indices(self, shape: Shape, path: Path, all_: tuple[bytes, ShapePart], places: Places) -> list[int]:
        """The indices of the templates of messages, or `DECLINED`, by the places of their chunks."""
        data, part = all_
        columns = [name for name, _, _ in part.chunks]
        own = [(place, name, name in _TEXTS) for place, name in enumerate(columns) if name]
        fixed = [place for place, name in enumerate(columns) if not name]
        out = []
        for starts, stops, flag, number in places:
            if stops[-1] - starts[0] > _LONGEST and sum(stops) - sum(starts) > _LONGEST:
                out.append(DECLINED)
                continue
            chunks = [data[start:stop] for start, stop in zip(starts, stops, strict=True)]
            key = (flag, *chunks)
            index = shape.templates.get(key)
            if index is None:
                row = substituted(own, chunks)
                proper = (path, flag, *[chunks[place] for place in fixed])
                if row is not None and proper not in self.read:
                    self.read[proper] = learn(message_of(path), data, part, number)
                template = None if row is None else self.read[proper]
                if row is None or template is None:
                    index = DECLINED
                else:
                    index = shape.templates[key] = len(self.templates)
                    self.templates.append(template.having(row))
            out.append(index)
        return out


def substituted(own: list[tuple[int, str, bool]], chunks: list[bytes]) -> Row | None:
    """The columns of a message that aren't in the key proper; None if text isn't UTF-8.

    Args:
        own: For each of them the index of its chunk, its name, and whether it is text.
        chunks: Bytes of the message.
    """
    out: Row = {}
    value: Any
    for place, name, is_text in own:
        data = chunks[place]
        value, end = (data[0], 1) if data[0] < 128 else read(data, 0, len(data))
        if is_text:
            try:
                value = data[end:].decode()
            except UnicodeDecodeError:
                return None
        out[name] = value
    return out


def learn(message: Message, data: bytes, part: ShapePart, number: int) -> Template | None:
    """The template of a message; None if the interpreter remarks anything, or reads anything else than was found."""
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
