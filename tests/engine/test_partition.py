"""Design section 7, invariants 1 and 2: any bytes at all give a tape that covers each of them once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.tapes import check, read
from tests.generators import SeededChoices, ValueGenerator, mutate
from tests.strategies import ENTRIES, Encoded, encoded, mutated, noise
from zdissect.engine.encoder import encode
from zdissect.engine.interpreter import interpret
from zdissect.engine.values import values


@given(encoded())
def test_well_formed_bytes(one: Encoded) -> None:
    read(one.entry, one.data, **one.inputs)


@given(mutated())
def test_mutated_bytes(one: Encoded) -> None:
    tape = read(one.entry, one.data, **one.inputs)
    values(tape)


@given(noise())
def test_random_bytes(one: Encoded) -> None:
    tape = read(one.entry, one.data, **one.inputs)
    values(tape)


@given(mutated(), st.data())
def test_part_of_a_buffer(one: Encoded, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(one.data)))
    stop = data.draw(st.integers(start, len(one.data)))
    tape = interpret(one.entry, one.data, start, stop, cut=data.draw(st.booleans()), **one.inputs)
    check(tape)
    whole = interpret(one.entry, one.data[start:stop], **one.inputs)
    cut = interpret(one.entry, one.data[start:stop], cut=True, **one.inputs)
    assert [(s[2] - start, s[3] - start) for s in tape.spans] in ([s[2:4] for s in one.spans] for one in (whole, cut))


@pytest.mark.parametrize(("entry", "inputs"), ENTRIES, ids=lambda one: getattr(one, "name", str(one)))
def test_every_entry(entry, inputs) -> None:
    """Every byte after every header byte, no bytes, and noise behind each id."""
    check(interpret(entry, b"", **inputs))
    check(interpret(entry, b"", cut=True, **inputs))
    source = SeededChoices(1)
    for head in range(256):
        check(interpret(entry, bytes((head,)), **inputs))
        check(interpret(entry, bytes((head,)) + source.bytes(source.number(40)), **inputs))
        check(interpret(entry, bytes((head,)) * 40, **inputs))


@pytest.mark.parametrize("seed", range(4))
def test_many_mutated_bytes(seed: int) -> None:
    """Faster than Hypothesis, so that rare faults come up: the same bytes each time."""
    source = SeededChoices(seed)
    for _ in range(20):
        for entry, inputs in ENTRIES:
            data = encode(entry, ValueGenerator(source).entry(entry, inputs), **inputs)
            for _ in range(3):
                data = mutate(source, data)
                tape = read(entry, data, **inputs)
                values(tape)
