"""Hypothesis strategies made from the grammar: messages, units, bytes on the wire, and bytes gone wrong."""

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.making import Entry, Maker, mutate
from zdissect.engine.encoder import encode
from zdissect.grammar.registry import MESSAGES, UNITS
from zdissect.grammar.types import Fixed, Message, Unit

NONE: dict[str, int] = {}


class Wire(NamedTuple):
    """Bytes, what they are, and the inputs that their framing gives."""

    entry: Entry
    data: bytes
    inputs: dict[str, int]


def framings(unit: Unit) -> list[dict[str, int]]:
    """All combinations of the inputs of a unit: an input that is a size is 0, 2 or 4, any other 0 or 1."""
    sizes = {node.size for node in unit.fields if isinstance(node, Fixed)}
    choices = [(0, 2, 4) if name in sizes else (0, 1) for name in unit.inputs]
    return [dict(zip(unit.inputs, values, strict=True)) for values in product(*choices)]


ENTRIES: tuple[tuple[Entry, dict[str, int]], ...] = (
    *((message, {}) for message in MESSAGES),
    *((unit, inputs) for unit in UNITS for inputs in framings(unit)),
)
"""Everything that can be interpreted: each message, each unit with all its inputs."""


class Drawn:
    """Choices of Hypothesis."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw

    def number(self, limit: int) -> int:
        return int(self.draw(st.integers(0, limit)))

    def bytes(self, size: int) -> bytes:
        return bytes(self.draw(st.binary(min_size=size, max_size=size)))


@st.composite
def messages(draw: Any, /, entry: Entry, clean: bool = False, inputs: dict[str, int] = NONE) -> dict[str, Any]:
    """Values of a message or unit, with every flag, field and extension that it may have.

    `clean` ones have nothing that a finding is about.
    """
    return Maker(Drawn(draw), clean).entry(entry, inputs)


@st.composite
def made(draw: Any, /, clean: bool = False) -> tuple[Entry, dict[str, Any], dict[str, int]]:
    """Any entry with values of it, and its inputs."""
    entry, inputs = draw(st.sampled_from(ENTRIES))
    return entry, draw(messages(entry, clean, inputs)), inputs


def units() -> st.SearchStrategy[tuple[Entry, dict[str, Any], dict[str, int]]]:
    """Batches of several messages in every framing, and scouting datagrams, with their values and inputs."""
    framed = [one for one in ENTRIES if isinstance(one[0], Unit)]
    return st.sampled_from(framed).flatmap(
        lambda one: st.tuples(st.just(one[0]), messages(one[0], False, one[1]), st.just(one[1]))
    )


@st.composite
def wire(draw: Any, /, clean: bool = False) -> Wire:
    """Bytes of any entry, well formed."""
    entry, values, inputs = draw(made(clean))
    return Wire(entry, encode(entry, values, **inputs), inputs)


@st.composite
def mutated(draw: Any, /) -> Wire:
    """Bytes of any entry after some edits."""
    entry, data, inputs = draw(wire())
    return Wire(entry, mutate(Drawn(draw), data), inputs)


@st.composite
def noise(draw: Any, /) -> Wire:
    """Random bytes for any entry; behind the right id, so that something is made of them."""
    entry, inputs = draw(st.sampled_from(ENTRIES))
    data = draw(st.binary(max_size=120))
    if isinstance(entry, Message) and data:
        data = bytes((data[0] & 0xE0 | entry.id,)) + data[1:]
    return Wire(entry, data, inputs)


def anything() -> st.SearchStrategy[Wire]:
    """Bytes of any kind: well formed, mutated, random."""
    return st.one_of(wire(), mutated(), noise())
