"""Places of fields in messages that were read without a tape: those of the interpreter, for each field."""

import pytest

from tests.families import family_member
from tests.generators import SeededChoices
from zdissect.engine.compiler import CompiledReader
from zdissect.engine.encoder import encode
from zdissect.engine.interpreter import interpret
from zdissect.engine.lazy_messages import lazy_messages
from zdissect.engine.messages import messages
from zdissect.grammar.batch import BATCH
from zdissect.grammar.network import PUSH, REQUEST, RESPONSE, RESPONSE_FINAL
from zdissect.grammar.registry import wire_fields
from zdissect.grammar.transport import FRAME
from zdissect.grammar.types import Message

NAMED = {
    field.path
    for field in wire_fields().values()
    if field.kind != "message" and not f"{field.path}.".startswith("zenoh.ext.")
}
"""The fields that a finding may name: not whole messages, nor what all extensions have in common."""


def compared(reader: CompiledReader, data: bytes) -> int:
    """How many places of a batch are the interpreter's; a batch that the reader declines has none."""
    found = reader.batch(data)
    if found is None:
        return 0
    tape, lazy = lazy_messages(data, 0, found)
    places = 0
    for one, other in zip(lazy, messages(interpret(BATCH, data)), strict=True):
        there = {span[0].path for span in other.spans()} & NAMED
        for path in (*there, "zenoh.push.ext_node_id", "zenoh.request.ext_budget", "zenoh.put.timestamp.time"):
            assert one.place(path.removeprefix("zenoh.")) == other.place(path.removeprefix("zenoh.")), path
            places += 1
        assert one.place("") == other.place("")
    assert tape.made is None, "a tape was made for that"
    return places


@pytest.mark.parametrize("message", [PUSH, REQUEST, RESPONSE, RESPONSE_FINAL], ids=lambda one: one.name)
def test_each_field(message: Message) -> None:
    """Of messages that are read as rows, and, behind the second of a kind of PUSH, by templates."""
    reader, source = CompiledReader(), SeededChoices(1)
    places = 0
    for family in range(120):
        frame = family_member(FRAME, family, source)
        some = [family_member(message, family, source) for _ in range(4)]
        places += compared(reader, encode(FRAME, frame | {"messages": some}))
    assert places > 1500
