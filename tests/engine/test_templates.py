"""Templates: what the skimming forms say of messages that are alike, and of those that are nearly so.

A reader that declines everything is never wrong, so each test counts what was really read by a template.
"""

from typing import NamedTuple

import pytest

from tests.families import family_member
from tests.generators import SeededChoices
from zdissect.engine.compiler import _DECLINES, CompiledReader, function
from zdissect.engine.encoder import encode
from zdissect.engine.interpreter import interpret
from zdissect.engine.lazy_messages import lazy_messages
from zdissect.engine.messages import Row, messages
from zdissect.engine.templates import Cell
from zdissect.grammar.batch import BATCH
from zdissect.grammar.network import PUSH, REQUEST, RESPONSE, RESPONSE_FINAL
from zdissect.grammar.transport import FRAME
from zdissect.grammar.types import Message

FRAMES = range(40)
"""Families of FRAMEs."""


class Told(NamedTuple):
    """What a reader made of a batch."""

    found: list[Cell | Row]
    wanted: list[Row]
    """The interpreter's rows."""


def told(reader: CompiledReader, data: bytes) -> Told | None:
    """Both ways to read a batch, which must agree; None if the fast one declines."""
    found = reader.batch(data)
    if found is None:
        return None
    tape = interpret(BATCH, data)
    wanted = [message.row for message in messages(tape)]
    assert [one[0].complete(one) if isinstance(one, tuple) else one for one in found] == wanted
    assert not tape.remarks, "what is a finding isn't plain"
    return Told(found, wanted)


def by_template(one: Told | None) -> int:
    """How many PUSHes were read by a template. FRAMEs always are."""
    if one is None:
        return 0
    return sum(isinstance(cell, tuple) and row["message"] == "PUSH"
               for cell, row in zip(one.found, one.wanted, strict=True))  # fmt: skip


def is_plain(data: bytes, message: Message) -> bool:
    """Whether the compiled form of a message reads it."""
    try:
        function(message)(data, 0, len(data))
    except _DECLINES:
        return False
    return True


def families(message: Message, seeds: range) -> list[int]:
    """Those families whose messages are plain."""
    return [
        seed for seed in seeds if is_plain(encode(message, family_member(message, seed, SeededChoices(0))), message)
    ]


def batch(source: SeededChoices, *some: int) -> bytes:
    """A FRAME of any family with a PUSH of each of these."""
    frame = family_member(FRAME, FRAMES[source.number(len(FRAMES) - 1)], source)
    return encode(FRAME, frame | {"messages": [family_member(PUSH, family, source) for family in some]})


@pytest.mark.parametrize("block", range(4))
def test_a_family_has_a_template_once_it_was_met_twice(block: int) -> None:
    """In any order and mixed with others; on each channel, behind the first that comes there when it is known."""
    plain = families(PUSH, range(block * 100, block * 100 + 100))
    assert len(plain) > 50
    reader, source = CompiledReader(), SeededChoices(block)
    met: set[int] = set()
    known: set[tuple[int, str]] = set()
    count = 0
    for _ in range(350):
        some = [plain[source.number(len(plain) - 1)] for _ in range(source.number(4))]
        one = told(reader, batch(source, *some))
        assert one is not None
        channel = one.wanted[0]["reliability"]
        assert isinstance(one.found[0], tuple)
        for family, cell in zip(some, one.found[1:], strict=True):
            assert isinstance(cell, tuple) == ((family, channel) in known)
            if family in met:
                known.add((family, channel))
            met.add(family)
        count += by_template(one)
    assert count > 350


def learned(block: int) -> tuple[CompiledReader, list[int], SeededChoices]:
    """A reader that knows many families."""
    plain = families(PUSH, range(block * 60, block * 60 + 60))
    reader, source = CompiledReader(), SeededChoices(block)
    for family in plain:
        for channel in range(2):
            frame = {"message": "FRAME", "R": channel, "sn": 1}
            reader.batch(encode(FRAME, frame | {"messages": [family_member(PUSH, family, source) for _ in range(2)]}))
    return reader, plain, source


@pytest.mark.parametrize("block", range(4))
def test_what_is_nearly_alike(block: int) -> None:
    """Batches of families that are known, with a few bytes of one message changed, put in, taken out or repeated."""
    reader, plain, source = learned(block)
    whole = taken = 0
    for family in plain * 15:
        one = told(reader, edited(source, batch(source, family, plain[source.number(len(plain) - 1)])))
        whole += one is not None
        taken += by_template(one)
    assert taken > whole > 4 * len(plain)


def edited(source: SeededChoices, data: bytes) -> bytes:
    """Bytes after one edit. Half of them are of the same length, for else hardly anything has a meaning."""
    at, to, size = (source.number(limit) for limit in (len(data) - 1, len(data) - 1, 3))
    match source.number(3):
        case 0:
            return data[:at] + source.bytes(1) + data[at + 1 :]
        case 1:
            return data[:at] + data[to : to + size] + data[at + size :]
        case 2:
            return data[:at] + data[at + size :]
        case _:
            return data[: at + size] + data[at:]


def test_a_bit_that_is_another() -> None:
    """Each bit of a few messages, one after the other."""
    reader, plain, source = learned(5)
    taken = count = 0
    for family in plain[:25]:
        data = batch(source, family)[:120]
        for bit in range(8 * len(data)):
            changed = bytearray(data)
            changed[bit >> 3] ^= 1 << (bit & 7)
            taken += by_template(told(reader, bytes(changed)))
            count += 1
    assert taken > count / 5


def test_a_batch_cut_at_any_byte() -> None:
    """Behind a message it is whole, and everywhere else it is cut."""
    reader, plain, source = learned(6)
    for family in plain:
        data = batch(source, family, family)
        tape = interpret(BATCH, data)
        ends = {tape.spans[message.first][3] for message in messages(tape)} | {4 + len(data)}
        starts = {message.row["offset"] for message in messages(tape)}
        for size in range(1, len(data)):
            one = told(reader, data[:size])
            assert (one is not None) == (size in (starts | ends) and size > 0), size


@pytest.mark.parametrize("block", range(2))
def test_tapes_that_are_asked_for_are_those_of_the_interpreter(block: int) -> None:
    reader, plain, source = learned(block)
    for family in plain:
        data = batch(source, family, family, plain[0])
        cells = reader.batch(data)
        assert cells is not None
        tape, found = lazy_messages(data, 0, cells)
        wanted = messages(interpret(BATCH, data))
        for one, other in zip(found, wanted, strict=True):
            assert one.template is not None
            assert (one.first, one.stop, one.header) == (other.first, other.stop, other.header)
            assert one.row == other.row
        assert tape.spans == interpret(BATCH, data).spans


@pytest.mark.parametrize("message", [REQUEST, RESPONSE, RESPONSE_FINAL], ids=lambda one: one.name)
def test_other_messages_of_a_frame(message: Message) -> None:
    """They have no templates; half of those that are right at least is read by the compiled form."""
    reader, source = CompiledReader(), SeededChoices(1)
    plain = families(message, range(240))
    assert len(plain) > 120
    for family in plain:
        frame = family_member(FRAME, family, source)
        some = [family_member(message, family, source) for _ in range(3)]
        assert told(reader, encode(FRAME, frame | {"messages": some})) is not None
