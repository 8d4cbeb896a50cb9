"""Templates: the columns shared by messages that differ only in what they carry.

A cell stands for a row: the template, and a value, or None, for each column of `CELL`. That row is exactly the one that
the interpreter gives for the same bytes.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from zdissect.engine import program as ops
from zdissect.engine.messages import Row
from zdissect.engine.program import ExtensionProgram, Step, message_program
from zdissect.grammar.columns import CARRIED, FOLLOWING, changes, follow
from zdissect.grammar.types import Message

CELL = ("offset", "length", "sn", *CARRIED, "extensions")
"""The columns of a cell, after its template. `extensions` is None if the template's are right."""

OFFSET, LENGTH, SN, STAMP, PAYLOAD = (
    1 + CELL.index(name) for name in ("offset", "length", "sn", "timestamp_ntp64", "payload")
)
"""Their indices in a cell."""

MOST_TEMPLATES = 4096
"""Templates that are known at once."""

Cell = tuple[Any, ...]
Of = TypeVar("Of")
OPEN = frozenset({*CELL, *FOLLOWING})
"""Columns that a template leaves open: their values are in cells, or follow from these."""
_OWN = OPEN - {"extensions"}


class Template:
    """The columns that are the same for all messages with one key.

    `changing` are the indices of the entries of `extensions` whose value differs from message to message.
    """

    __slots__ = ("changing", "row")

    def __init__(self, row: Row, changing: frozenset[str] = frozenset()) -> None:
        self.row = {name: value for name, value in row.items() if name not in _OWN}
        self.changing = [place for place, one in enumerate(row.get("extensions", ())) if one["name"] in changing]

    def having(self, columns: Row) -> "Template":
        """The same with other values in some columns."""
        out = Template.__new__(Template)
        out.row, out.changing = self.row | columns, self.changing
        return out

    def extensions(self, bodies: tuple[bytes, ...]) -> list[Row]:
        """The column `extensions` of a message whose changing extensions have these bodies."""
        out = list(self.row["extensions"])
        for place, body in zip(self.changing, bodies, strict=True):
            out[place] = out[place] | {"length": len(body), "value": body}
        return out

    def complete(self, cell: Cell) -> Row:
        """The row that a cell stands for."""
        _, offset, length, sn, stamp, payload, attachment, source_sn, request_id, extensions = cell
        row = self.row.copy()
        row["offset"], row["length"] = offset, length
        if sn is not None:
            row["sn"] = sn
        if stamp is not None:
            row["timestamp_ntp64"] = stamp
        if payload is not None:
            row["payload"] = payload
        if attachment is not None:
            row["attachment"] = attachment
        if source_sn is not None:
            row["source_sn"] = source_sn
        if request_id is not None:
            row["request_id"] = request_id
        if extensions is not None:
            row["extensions"] = extensions
        follow(row)
        return row


def changing_extension(program: ExtensionProgram) -> bool:
    """Whether an extension has a leaf whose value changes from message to message."""
    return any(changes(step[4]) for step in program.steps)


def changing_extensions(message: Message) -> frozenset[str]:
    """Names of such extensions of a message and its bodies."""
    return frozenset(_names(message_program(message).steps))


def _names(steps: tuple[Step, ...]) -> Iterator[str]:
    for op, _, _, _, _, first, *_ in steps:
        if op == ops.EXTENSIONS:
            for program in first.values():
                if changing_extension(program):
                    yield program.field.name.removeprefix("ext_")
        elif op == ops.CHOICE:
            for message in first.messages.values():
                if message.layer == "data":
                    yield from _names(message_program(message).steps)


class PerTemplate(dict[Template, Of]):
    """What is made of the columns of each template, once.

    Args:
        make: Makes it of the row of a template.
    """

    def __init__(self, make: Callable[[Row], Of]) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, template: Template) -> Of:
        if len(self) >= MOST_TEMPLATES:
            self.clear()
        made = self[template] = self.make(template.row)
        return made
