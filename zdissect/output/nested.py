"""A tape as nested nodes, each with its name, value, meaning and range in bits: what the library and tables have."""

from collections.abc import Sequence
from typing import Any

from zdissect.engine.messages import DecodedMessage, Row
from zdissect.engine.tape import Span, Tape
from zdissect.grammar.derived import DERIVED, SHOWN
from zdissect.grammar.field import Field
from zdissect.grammar.primitives import RENDERINGS
from zdissect.grammar.types import Bit

Node = dict[str, Any]


def nodes(tape: Tape, messages: Sequence[DecodedMessage] = ()) -> list[Node]:
    """The spans of a tape as a forest; with `messages`, what is known of them.

    A node has `name`, `start` and `bits` (position and size in bits in the tape), and what it has of `value`,
    `meaning`, `children`, `derived`. Bytes are hex.
    """
    known = {message.first: message for message in messages}
    roots: list[Node] = []
    path: list[tuple[int, list[Node]]] = [(-1, roots)]
    for index, span in enumerate(tape.spans):
        depth = span[1]
        while path[-1][0] >= depth:
            path.pop()
        made = node(span, tape.start)
        if index in known:
            made["derived"] = derived(known[index].shared)
        path[-1][1].append(made)
        path.append((depth, made.setdefault("children", [])))
    prune(roots)
    return roots


def prune(forest: list[Node]) -> None:
    """Drops empty lists of children."""
    waiting = list(forest)
    while waiting:
        node = waiting.pop()
        waiting += node["children"]
        bits = node.pop("bit_fields", None)
        if bits:
            node["children"] = bits + node["children"]
        if not node["children"]:
            del node["children"]


def node(span: Span, base: int) -> Node:
    """One span."""
    field, _, start, stop, value = span
    out: Node = {"name": field.path, "start": (start - base) * 8, "bits": (stop - start) * 8}
    if value is not None:
        out["value"] = value.hex() if isinstance(value, bytes) else value
    meaning = means(field, value)
    if meaning is not None:
        out["meaning"] = meaning
    if field.bits:
        out["bit_fields"] = [bit(one, value, (start - base) * 8, field.kind != "vle") for one in field.bits]
        out["bit_fields"] = [one for one in out["bit_fields"] if one is not None]
    return out


def bit(field: Field, value: int, start: int, in_place: bool) -> Node | None:
    """A bit field; one of an integer (which isn't in place on the wire) has no range of its own."""
    inside = field.node
    assert isinstance(inside, Bit)
    number = value >> inside.low & (1 << inside.width) - 1
    if inside.reserved and not in_place and not number:
        return None
    out: Node = {"name": field.path, "value": number}
    if in_place:
        out["start"], out["bits"] = start + 8 - inside.low - inside.width, inside.width
    if inside.says is not None:
        out["meaning"] = inside.says[number]
    elif inside.enum is not None:
        out["meaning"] = inside.enum.names.get(number)
    return out


def means(field: Field, value: Any) -> str | None:
    """What a value means, if that isn't the value itself."""
    if value is None:
        return None
    if field.enum is not None and isinstance(value, int):
        return field.enum.names.get(value)
    if field.render in RENDERINGS and field.render not in ("bytes", "hex"):
        return RENDERINGS[field.render](value)
    return None


def derived(row: Row) -> dict[str, Any]:
    """What the session knows of a message, by its row; what comes later where that was told (`filters/ahead.py`)."""
    known = {field.path: row[field.column] for field in SHOWN if row.get(field.column) is not None}
    if "ros2" in row:
        known["ros2"] = row["ros2"]
    if "answered" in row:
        known |= {path: row[column] for path, column in _LATER if row[column] is not None}
    return known


_LATER = tuple((one.path, one.path.rsplit(".", 1)[-1]) for one in DERIVED if one.ahead)
"""Derived fields of what comes later, and their columns in a row that was told."""
