"""JSON of messages that were read without a tape: the same as that of their tapes."""

from collections.abc import Sequence

import pytest

from tests.in_blocks import dissections, in_blocks
from tests.output.without_tape import SAMPLES, batches, both_ways, without_tape
from tests.random_traffic import random_conversation
from zdissect.engine.interpreter import interpret
from zdissect.engine.lazy_messages import LazyTape
from zdissect.engine.messages import DecodedMessage, messages
from zdissect.engine.tape import Tape
from zdissect.grammar.batch import BATCH
from zdissect.output import member_stencils
from zdissect.output.member_stencils import MemberStencils
from zdissect.output.named_members import unit_text
from zdissect.pipeline import dissect
from zdissect.vector.walk import Walker


class Counted(MemberStencils):
    """Counts the messages that stencils give."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def filled(self, message: DecodedMessage, after: int) -> str:
        self.count += 1
        return super().filled(message, after)

    def text(self, tape: Tape, found: Sequence[DecodedMessage]) -> str:
        return self.unit_text(tape, found) if isinstance(tape, LazyTape) else unit_text(tape, found)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_a_capture_without_tapes(path) -> None:
    stencils = Counted()
    for one, other in both_ways(path):
        assert not isinstance(other.tape, LazyTape)
        assert stencils.text(one.tape, one.messages) == unit_text(other.tape, other.messages)


@pytest.mark.parametrize("seed", range(6))
def test_a_conversation_without_tapes(seed: int) -> None:
    """What the session knows of a message is said, and a FRAME may have any number of any kind in it."""
    frames = random_conversation(seed).capture.frames
    lazy, whole = dissections(in_blocks(frames)), dissections(dissect(frames))
    stencils = Counted()
    for one, other in zip(lazy, whole, strict=True):
        assert stencils.text(one.tape, one.messages) == unit_text(other.tape, other.messages)
    assert stencils.count > 50


@pytest.mark.parametrize("most", [3, member_stencils.MOST_TEMPLATES])
@pytest.mark.parametrize("seed", range(3))
def test_families_of_messages(seed: int, most: int, monkeypatch) -> None:
    monkeypatch.setattr(member_stencils, "MOST_TEMPLATES", most)
    walker, stencils = Walker(), Counted()
    for data in batches(seed):
        tape = interpret(BATCH, data, prefix=2)
        if (read := without_tape(walker, data)) is not None:
            assert stencils.text(*read) == unit_text(tape, messages(tape))
    assert stencils.count > 200
    assert len(stencils.known) <= most
