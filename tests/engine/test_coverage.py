"""Design section 7, invariant 11: registry, encoder and strategies know every field of the grammar."""

from collections.abc import Iterator

import pytest

from tests.generators import SeededChoices, ValueGenerator
from tests.strategies import ENTRIES
from zdissect.engine.encoder import encode
from zdissect.engine.inference import level, names
from zdissect.engine.interpreter import interpret
from zdissect.grammar.field import UNDECODED, Field
from zdissect.grammar.registry import MESSAGES, UNITS, PlacedNode, place, wire_fields
from zdissect.grammar.types import Extensions, Group, Message, Unit

RESERVED_NAMES = {"message", "unit", "ext", "more", "enc", "mandatory", "length", "extensions"}


def paths(found: list[Field]) -> Iterator[str]:
    for field in found:
        yield field.path
        yield from (bit.path for bit in field.bits)


def test_every_field_comes_up() -> None:
    """Each field of the registry is in the tape of some made message, and no tape has another."""
    wanted = set(wire_fields()) - {UNDECODED.path}
    seen: set[str] = set()
    for seed in range(100):
        for entry, inputs in ENTRIES:
            data = encode(entry, ValueGenerator(SeededChoices(seed)).entry(entry, inputs), **inputs)
            seen |= set(paths([span[0] for span in interpret(entry, data, **inputs).spans]))
        if seen >= wanted:
            break
    assert seen == wanted


def conditioned(places: tuple[PlacedNode, ...], outer: str = "") -> Iterator[tuple[str, str]]:
    """(name, condition) of all values of one dict."""
    for one in places:
        when = f"{outer};{one.node.when}"
        if isinstance(one.node, Group) and not one.node.name:
            yield from conditioned(one.inside, when)
        else:
            yield from ((name, when) for name in names(one))


def levels(places: tuple[PlacedNode, ...]) -> Iterator[list[tuple[str, str]]]:
    """The same of each dict below these places."""
    yield list(conditioned(places))
    for one in level(places):
        if isinstance(one.node, Extensions):
            for ext in one.inside:
                yield from levels(ext.inside)
        elif one.inside and not (isinstance(one.node, Group) and not one.node.name):
            yield from levels(one.inside)


@pytest.mark.parametrize("entry", [*MESSAGES, *UNITS], ids=lambda entry: entry.name)
def test_names_of_a_level_are_unique(entry: Message | Unit) -> None:
    """Two fields may share a name only if conditions tell them apart; none has a name that the values need."""
    for number, pairs in enumerate(levels(place(entry).inside)):
        used = [name for name, _ in pairs]
        assert len(set(pairs)) == len(pairs)
        twice = {name for name in used if used.count(name) > 1}
        assert all(when.strip(";") for name, when in pairs if name in twice)
        flags = {flag.name for flag in entry.flags} if isinstance(entry, Message) and number == 0 else set()
        assert not flags & set(used)
        if number:
            assert not (RESERVED_NAMES - {"extensions"}) & set(used)
