"""Messages without a tape: what is asked of them is what a tape would say."""

from collections.abc import Iterator

import pytest

from tests.families import family_member
from tests.generators import SeededChoices
from tests.output.without_tape import batches, without_tape
from tests.vector.walking import prefixed
from zdissect.engine.encoder import encode
from zdissect.engine.interpreter import interpret
from zdissect.engine.lazy_messages import LazyMessage
from zdissect.engine.messages import DecodedMessage, messages
from zdissect.grammar.batch import BATCH
from zdissect.grammar.network import PUSH, REQUEST, RESPONSE, RESPONSE_FINAL
from zdissect.grammar.registry import wire_fields
from zdissect.grammar.transport import FRAME
from zdissect.vector.walk import Walker

KINDS = (PUSH, REQUEST, RESPONSE, RESPONSE_FINAL)
PATHS = [path.removeprefix("zenoh.") for path in wire_fields()]


def pairs(seed: int) -> Iterator[tuple[list[LazyMessage], list[DecodedMessage]]]:
    """Messages of batches without a tape, and those of their tapes."""
    walker, source = Walker(), SeededChoices(seed)
    mixed = [
        prefixed(encode(FRAME, {"message": "FRAME", "sn": turn, "R": turn & 1, "messages": [
            family_member(KINDS[(turn + place) % 4], turn + place, source) for place in range(turn % 4)]}))
        for turn in range(80)
    ]  # fmt: skip
    for data in (*batches(seed), *mixed):
        if (read := without_tape(walker, data)) is not None:
            yield read[1], messages(interpret(BATCH, data, prefix=2))


@pytest.mark.parametrize("seed", range(2))
def test_they_have_the_rows_spans_and_bytes_of_their_tapes(seed: int) -> None:
    count = 0
    for lazy, whole in pairs(seed):
        assert [(one.offset, one.length) for one in lazy] == [(one.offset, one.length) for one in whole]
        assert lazy[0].tape.made is None, "a tape was made for a place or length"
        for one, other in zip(lazy, whole, strict=True):
            assert one.columns() == one.row == other.row
            assert (one.first, one.stop, one.header, one.data) == (other.first, other.stop, other.header, other.data)
            count += 1
    assert count > 300


@pytest.mark.parametrize("seed", range(2))
def test_a_finding_has_the_place_of_its_field(seed: int) -> None:
    """Any field that may be there, without a tape for it."""
    found = set()
    for lazy, whole in pairs(seed):
        for one, other in zip(lazy[1:], whole[1:], strict=True):
            if other.row["layer"] != "network":
                continue
            own = {span[0].path.removeprefix("zenoh.") for span in other.spans()}
            for path in ("", *own.intersection(PATHS), "scout.version"):
                assert one.place(path) == other.place(path)
            found |= own
        made = {id(one.tape) for one in lazy if one.tape.made is not None}
        assert not made, "a tape was made for the place of a field"
    assert len(found) > 60


def test_a_finding_about_a_number_is_at_the_number() -> None:
    data = prefixed(bytes.fromhex("25b1b1a70f 5d 01 01 02 6d69 5d 03 01 01 7a"))
    read = without_tape(Walker(), data)
    assert read is not None
    tape, (frame, first, second) = read
    assert first.value("put.payload") == b"mi"
    assert second.value("put.payload") == b"z"
    assert frame.value("frame.sn") == 32102577
    assert frame.place("frame.sn") == (3, 7)
    second.remark("unknown-scope", "not declared", "push.scope")
    assert tape.remarks == [("unknown-scope", 14, 15, "not declared")]
