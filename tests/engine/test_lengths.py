"""Extensions whose declared length isn't that of their structure (notes 2.1): nothing that is good is lost.

The vectors of tests/vectors/lengths.txt have the cases one by one; here they are made, for every such extension.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.engine.tapes import errors, read, undecoded
from tests.generators import SeededChoices, ValueGenerator
from tests.vector.walking import prefixed, seen
from zdissect.engine.encoder import encode
from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import messages
from zdissect.engine.values import values
from zdissect.grammar.batch import BATCH
from zdissect.grammar.registry import MESSAGES, PlacedNode, place
from zdissect.grammar.types import ALWAYS, ZBUF, Extension, Message
from zdissect.vector.walk import Walker

Values = dict[str, Any]
BEHIND = {"message": "FRAME", "sn": 1, "messages": [{"message": "RESPONSE_FINAL", "request_id": 77}]}
"""What stands behind: a FRAME, so that its message must be found too."""


def structured(places: tuple[PlacedNode, ...]) -> Iterator[Extension]:
    """Extensions that have a structure of their own, below these places, but for chains in chains."""
    for one in places:
        for inside in one.inside:
            node = inside.node
            if isinstance(node, Extension) and node.enc == ZBUF and node.fields:
                yield node


LOOSE = [
    (message, ext.name)
    for message in MESSAGES
    for ext in structured(place(message).inside)
    if ext.loose == ALWAYS
]  # fmt: skip


def test_what_receivers_pass_over() -> None:
    """Timestamp, SourceInfo, ResponderId, TimestampStack, QoS of JOIN: all of them, wherever they stand."""
    assert {name for _, name in LOOSE} == {"timestamp", "source_info", "responder_id", "timestamp_stack", "qos"}
    assert len(LOOSE) == 16


def made(message: Message, name: str, seed: int) -> Values | None:
    """A message with that extension, and nothing in it that a finding is about."""
    for more in range(60):
        found = ValueGenerator(SeededChoices(1000 * seed + more), clean=True).entry(message, {})
        if any(ext["ext"] == name for ext in found.get("extensions", ())):
            return found
    return None


def batch(message: Message, found: Values) -> Values:
    """A batch with the message, whatever its layer, and another behind it."""
    if message.name in ("PUT", "DEL"):
        found = {"message": "PUSH", "scope": 1, "body": found}
    elif message.name == "QUERY":
        found = {"message": "REQUEST", "request_id": 1, "scope": 1, "body": found}
    elif message.name == "ERR":
        found = {"message": "RESPONSE", "request_id": 1, "scope": 1, "body": found}
    if message.layer != "transport":
        after = {"message": "PUSH", "scope": 9, "body": {"message": "DEL"}}
        found = {"message": "FRAME", "sn": 0, "messages": [found, after]}
    return {"messages": [found, BEHIND]}


@pytest.mark.parametrize(("message", "name"), LOOSE, ids=[f"{message.name} {name}" for message, name in LOOSE])
def test_a_declared_length_that_is_wrong(message: Message, name: str) -> None:
    """Too small, too large, larger than all that is there: one finding, and all values as they were."""
    tried = 0
    for seed in range(12):
        found = made(message, name, seed)
        if found is None:
            continue
        right = encode(BATCH, batch(message, found))
        tape = read(BATCH, right)
        assert tape.remarks == []
        wanted = values(tape)
        ext = next(one for one in found["extensions"] if one["ext"] == name)
        true = length_of(right, message, name)
        for length in {0, 1, true - 1, true + 1, true + 2, true + 60, 5000} - {true, -1}:
            ext["length"] = length
            wrong = read(BATCH, encode(BATCH, batch(message, found)))
            assert [code for code, _, _ in errors(wrong)] == ["extension-length"], f"{length}, not {true}"
            assert without_length(values(wrong)) == wanted
            assert undecoded(wrong) == []
            tried += 1
        del ext["length"]
    assert tried > 20


def length_of(data: bytes, message: Message, name: str) -> int:
    """The declared length of an extension, as the interpreter finds it: the third span of it."""
    spans = interpret(BATCH, data).spans
    path = f"zenoh.{message.name.lower()}.ext_{name}"
    return next(spans[index + 2][4] for index, span in enumerate(spans) if span[0].path == path)


def without_length(found: Any) -> Any:
    """Values without those lengths that aren't true."""
    if isinstance(found, dict):
        return {name: without_length(value) for name, value in found.items() if name != "length" or "ext" not in found}
    return [without_length(one) for one in found] if isinstance(found, list) else found


def test_a_forged_structure_swallows_nothing() -> None:
    """The declared length fits: the id of a timestamp claims up to 16 bytes of what follows, a stamp claims more."""
    after = bytes.fromhex("01 04 7469636b 3d 00 01 62 01 04 746f636b")
    for claims in {*range(2, 17)} - {11}:  # which ends where the body of the second PUSH begins: it may be so
        data = bytes.fromhex("25 00 9d 00 42 03 01") + bytes((claims, 0xBB)) + after
        tape = read(BATCH, data)
        assert errors(tape) == [("truncated", 7, 9)]
        assert [row["body"] for row in (one.row for one in messages(tape)[1:])] == ["PUT", "PUT"]
    for claims in range(2, 128):
        data = bytes.fromhex("25 00 9d 00 47 05 07 01 01") + bytes((claims, 1)) + after
        tape = read(BATCH, data)
        assert [code for code, _, _ in errors(tape)][-1] == "truncated"
        assert [row["payload"] for row in (one.row for one in messages(tape)[1:])] == [b"tick", b"tock"]


def test_what_follows_must_be_a_message() -> None:
    """The id of the timestamp claims the header byte of the next message, whose scope is the id of none."""
    tape = read(BATCH, bytes.fromhex("25 00 9a 01 42 03 01 02 bb 1d 08 02"))
    assert errors(tape) == [("truncated", 7, 9)]
    assert [one.row["message"] for one in messages(tape)] == ["FRAME", "RESPONSE_FINAL", "PUSH"]


def test_where_nothing_leads_on_the_declared_length_counts() -> None:
    """Behind the structure, and behind the declared length, stands the id of no body."""
    tape = read(BATCH, bytes.fromhex("25 00 9d 00 42 02 01 01 bb 08"))
    assert errors(tape) == [("truncated", 7, 8), ("unknown-message", 8, 10)]


@pytest.mark.parametrize("seed", range(3))
def test_any_lengths(seed: int) -> None:
    """Whatever is declared, and wherever the bytes end: they are covered, and arrays decline or agree."""
    source, walker = SeededChoices(seed), Walker()
    for message, name in LOOSE * 4:
        found = made(message, name, source.number(99))
        if found is None:
            continue
        for ext in found["extensions"]:
            if isinstance(ext["ext"], str) and source.number(2):
                ext["length"] = source.number(40)
        try:
            data = encode(BATCH, batch(message, found))
        except ValueError:  # an extension without a structure has no length of its own
            continue
        cut = data[: source.number(len(data))]
        for some in (data, cut):
            read(BATCH, some)
            seen(walker, [prefixed(some)])


@pytest.mark.parametrize("declared", ["00", "05", "63"])
def test_the_row_is_that_of_the_structure(declared: str) -> None:
    data = bytes.fromhex(f"25 00 1d 01 81 41 {declared} 00 aa 07 4d 01 78 1d 02 02")
    _, push, other = messages(interpret(BATCH, data))
    assert push.row["source_zid"] == "aa"
    assert (push.row["source_eid"], push.row["source_sn"], push.row["payload"]) == (7, 77, b"x")
    assert push.row["extensions"][0]["length"] == 4
    assert other.row["body"] == "DEL"


def test_what_the_capture_cut_is_no_fault() -> None:
    """A timestamp with a wrong length, of which the capture holds any part."""
    data = bytes.fromhex("25 00 9d 00 42 0a 8080808088a0fca965 10") + bytes(range(1, 17)) + bytes.fromhex("01 01 78")
    for size in range(len(data)):
        assert interpret(BATCH, data[:size], cut=True).remarks in ([], interpret(BATCH, data).remarks)
