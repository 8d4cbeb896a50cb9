"""Design section 7, invariant 3: decoding gives back what was encoded, and encoding what was decoded."""

from typing import Any

from hypothesis import given

from tests.engine.tapes import read
from tests.strategies import Encoded, Entry, encoded, made, units
from zdissect.engine.encoder import encode
from zdissect.engine.values import values
from zdissect.grammar.types import Unit

Made = tuple[Entry, dict[str, Any], dict[str, int]]


def round_trip(entry: Entry, wanted: dict[str, Any], inputs: dict[str, int]) -> None:
    data = encode(entry, wanted, **inputs)
    found = values(read(entry, data, **inputs))
    assert encode(entry, found, **inputs) == data
    if isinstance(entry, Unit):
        found = {name: value for name, value in found.items() if name in wanted or name != "length"}  # left out
    assert found == wanted


@given(made())
def test_values_come_back(one: Made) -> None:
    round_trip(*one)


@given(units())
def test_units_come_back(one: Made) -> None:
    round_trip(*one)


@given(encoded())
def test_bytes_come_back(one: Encoded) -> None:
    tape = read(one.entry, one.data, **one.inputs)
    assert encode(one.entry, values(tape), **one.inputs) == one.data


@given(encoded(clean=True))
def test_sound_messages_have_no_remarks(one: Encoded) -> None:
    assert read(one.entry, one.data, **one.inputs).remarks == []
