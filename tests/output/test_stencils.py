"""Trees of messages that were read without a tape: the same as those of their tapes."""

import pytest

from tests.output.without_tape import SAMPLES, batches, both_ways, without_tape
from zdissect.engine.encoder import encode
from zdissect.engine.interpreter import interpret
from zdissect.engine.lazy_messages import LazyTape
from zdissect.engine.messages import DecodedMessage, messages
from zdissect.grammar.batch import BATCH
from zdissect.grammar.transport import FRAME
from zdissect.output import stencils
from zdissect.output.style import COLOUR, PLAIN
from zdissect.output.tree import TreeWriter
from zdissect.vector.walk import Walker


def filled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that stencils give from now on."""
    out: list[str] = []
    fill = stencils.Stencils.filled

    def noted(self, message):
        out.append(fill(self, message))
        return out[-1]

    monkeypatch.setattr(stencils.Stencils, "filled", noted)
    return out


@pytest.mark.parametrize("style", [PLAIN, COLOUR], ids=["plain", "colour"])
@pytest.mark.parametrize("with_bits", [True, False])
def test_a_capture_without_tapes(style, with_bits, monkeypatch) -> None:
    made = filled(monkeypatch)
    for path in SAMPLES:
        lazy, whole = (TreeWriter(style, with_bits=with_bits) for _ in range(2))
        for one, other in both_ways(path):
            assert not isinstance(other.tape, LazyTape)
            assert lazy.lines(one.tape, one.messages) == whole.lines(other.tape, other.messages)
    assert len(made) > 200


@pytest.mark.parametrize("seed", range(3))
def test_families_of_messages(seed, monkeypatch) -> None:
    made = filled(monkeypatch)
    walker, lazy, whole = Walker(), TreeWriter(PLAIN), TreeWriter(PLAIN)
    for data in batches(seed):
        tape = interpret(BATCH, data, prefix=2)
        if (read := without_tape(walker, data)) is not None:
            assert lazy.lines(*read) == whole.lines(tape, messages(tape))
    assert len(made) > 200


def test_few_stencils_are_kept(monkeypatch) -> None:
    monkeypatch.setattr(stencils, "MOST_TEMPLATES", 3)
    walker, lazy, whole = Walker(), TreeWriter(PLAIN), TreeWriter(PLAIN)
    for data in batches(1):
        tape = interpret(BATCH, data, prefix=2)
        if (read := without_tape(walker, data)) is not None:
            assert lazy.lines(*read) == whole.lines(tape, messages(tape))
    assert 0 < len(lazy.stencils.known) <= 3 >= len(lazy.stencils.prefixes)


@pytest.mark.parametrize("place", range(14))
def test_a_finding_stands_below_its_field_there_too(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the message with the finding is written from a tape."""
    made = filled(monkeypatch)
    push = {"message": "PUSH", "scope": 2, "body": {"message": "PUT", "payload": b"text"}}
    content = encode(FRAME, {"message": "FRAME", "R": 1, "sn": 5, "messages": [push, push]})
    data = len(content).to_bytes(2, "little") + content
    walker = Walker()
    for _ in range(3):
        tape, found = without_tape(walker, data) or (None, [])
    assert tape is not None
    whole = interpret(BATCH, data, prefix=2)
    remark = ("sn-gap", place, place + 1, "what it says")
    for one in (tape, whole):
        one.remarks.append(remark)
    assert TreeWriter(PLAIN).lines(tape, found) == TreeWriter(PLAIN).lines(whole, messages(whole))
    assert len(made) == (3 if place < 2 else 2)


def test_a_finding_about_a_batch_of_nothing() -> None:
    tape = LazyTape(bytes(2), 2)
    tape.remarks.append(("batch-size", 0, 2, "what it says"))
    lines = TreeWriter(PLAIN).lines(tape, [DecodedMessage(tape, 0, {"layer": "transport", "offset": 0, "length": 2})])
    assert len(lines) == 2
    assert "what it says" in lines[1]
