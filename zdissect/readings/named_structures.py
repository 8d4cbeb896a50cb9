"""Parts of messages that were copied alone: any structure, extension or value of the grammar, by its name."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from zdissect.grammar.registry import MESSAGES, GrammarError, PlacedNode, place
from zdissect.grammar.types import (
    ALWAYS,
    ZBUF,
    Blob,
    Choice,
    Extension,
    Extensions,
    Fixed,
    Group,
    Node,
    Repeat,
    Rest,
    Text,
    Unit,
    Vle,
)
from zdissect.readings.attempt import Attempt, alone


@cache
def structure_names() -> dict[str, tuple[tuple[str, Unit], ...]]:
    """(title, structure) by their names; a name may stand for several, and each may be read in several ways.

    What can't be read without the message around it (a ZenohID whose length is in another byte) isn't there.
    """
    out: dict[str, list[tuple[str, Unit]]] = {}
    seen: set[object] = set()
    for message in MESSAGES:
        for placed in _walk(place(message).inside):
            node = placed.node
            if node in seen or isinstance(node, Extensions | Choice) or not node.name:
                continue
            seen.add(node)
            title = f"a structure {node.name}"
            ways = ((title + how, Unit(node.name, fields, node.doc, placed.field.spec)) for how, fields in _ways(node))
            out.setdefault(node.name.lower(), []).extend(way for way in ways if _stands_alone(way[1]))
    return {name: tuple(units) for name, units in out.items() if units}


def one_structure(data: bytes, name: str) -> list[Attempt]:
    """The bytes as each structure of this name, in each way; nothing if there is none."""
    return [alone(title, unit, data) for title, unit in structure_names().get(name, ())]


def _walk(places: tuple[PlacedNode, ...]) -> Iterator[PlacedNode]:
    for placed in places:
        yield placed
        yield from _walk(placed.inside)


def _ways(node: Node | Extension) -> Iterator[tuple[str, tuple[Node, ...]]]:
    """How a structure may have been cut out: what it holds alone, or with the length or the header in front."""
    if isinstance(node, Extension):
        fields = node.fields or ((Rest("value", node.doc, render=node.render),) if node.enc == ZBUF else ())
        if fields:
            yield "", fields
        if fields and node.enc == ZBUF:
            yield _LENGTH, (Group("", fields, node.doc, length=32),)
        yield ", an extension with its header", (Extensions(replace(node, before=""), when=ALWAYS),)
    elif isinstance(node, Group):
        yield "", node.fields
        if node.length:
            yield _LENGTH, (replace(node, when=""),)
    elif isinstance(node, Text | Blob):
        text = isinstance(node, Text)
        yield "", (Rest(node.name, node.doc, text=text, render=node.render, check=node.check),)
        yield _LENGTH, (replace(node, when=""),)
    elif isinstance(node, Vle | Fixed | Rest) or (isinstance(node, Repeat) and not isinstance(node.count, str)):
        yield "", (replace(node, when=""),)


_LENGTH = " with its length"


def _stands_alone(unit: Unit) -> bool:
    """Whether nothing in it depends on what is around it."""
    try:
        place(unit)
    except GrammarError:
        return False
    return True
