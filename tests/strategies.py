"""Hypothesis strategies made from the grammar: messages, units, bytes on the wire, and bytes gone wrong."""

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.generators import Entry, ValueGenerator, mutate
from zdissect.engine.encoder import encode
from zdissect.grammar.registry import MESSAGES, UNITS
from zdissect.grammar.types import Fixed, Message, Unit

NONE: dict[str, int] = {}


class Encoded(NamedTuple):
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


class DrawnChoices:
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
    return ValueGenerator(DrawnChoices(draw), clean).entry(entry, inputs)


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
def encoded(draw: Any, /, clean: bool = False) -> Encoded:
    """Bytes of any entry, well formed."""
    entry, values, inputs = draw(made(clean))
    return Encoded(entry, encode(entry, values, **inputs), inputs)


@st.composite
def mutated(draw: Any, /) -> Encoded:
    """Bytes of any entry after some edits."""
    entry, data, inputs = draw(encoded())
    return Encoded(entry, mutate(DrawnChoices(draw), data), inputs)


@st.composite
def noise(draw: Any, /) -> Encoded:
    """Random bytes for any entry; behind the right id, so that something is made of them."""
    entry, inputs = draw(st.sampled_from(ENTRIES))
    data = draw(st.binary(max_size=120))
    if isinstance(entry, Message) and data:
        data = bytes((data[0] & 0xE0 | entry.id,)) + data[1:]
    return Encoded(entry, data, inputs)


def anything() -> st.SearchStrategy[Encoded]:
    """Bytes of any kind: well formed, mutated, random."""
    return st.one_of(encoded(), mutated(), noise())
