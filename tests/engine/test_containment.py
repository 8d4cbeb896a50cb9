"""An error ends the innermost region that has a length; what stands before it and behind it is read."""

from typing import Any

from tests.engine.tapes import errors, read, undecoded
from zdissect.engine.interpreter import interpret
from zdissect.engine.values import values
from zdissect.grammar.batch import BATCH
from zdissect.grammar.data import PUT
from zdissect.grammar.network import OAM, PUSH
from zdissect.grammar.transport import FRAGMENT, FRAME, INIT, OPEN

STREAM = {"prefix": 2}


def decode(entry: Any, text: str, **inputs: int) -> tuple[dict[str, Any], list[tuple[str, int, int]], list[Any]]:
    tape = read(entry, bytes.fromhex(text), **inputs)
    return values(tape), errors(tape), undecoded(tape)


def test_error_in_an_extension_leaves_the_message() -> None:
    """A timestamp of which the id runs past the extension; then the rest of the chain, and the body."""
    found, remarks, rest = decode(PUSH, "9d 07 c2 03 01 05 aa 21 0d 01 01 78")
    assert remarks == [("truncated", 5, 7)]
    assert rest == [(5, 7)]
    assert found["extensions"] == [{"ext": "timestamp", "time": 1}, {"ext": "qos", "value": 13}]
    assert found["body"] == {"message": "PUT", "Z": 0, "E": 0, "T": 0, "payload": b"x"}


def test_error_in_a_nested_extension() -> None:
    """A password without its MAC in OPEN's auth chain: the outer chain goes on."""
    found, remarks, rest = decode(OPEN, "a2 01 02 c3 04 42 02 01 61 05")
    assert remarks == [("truncated", 9, 9)]
    assert rest == []
    assert found["extensions"] == [
        {"ext": "auth", "extensions": [{"ext": "user_password", "user": "a"}]},
        {"ext": "low_latency"},
    ]


def test_inner_region_longer_than_the_outer() -> None:
    """Only the inner length is wrong: one finding, and the batch goes on behind the outer region."""
    found, remarks, rest = decode(INIT, "81 09 02 aa c3 03 c1 7f 05 27 01")
    assert remarks == [("truncated", 7, 9)]
    assert rest == [(8, 9)]
    assert found["extensions"][1] == {"ext": "patch", "value": 1}


def test_trailing_bytes_in_an_extension() -> None:
    found, remarks, rest = decode(PUSH, "9d 00 42 05 01 01 01 ee ff 02")
    assert remarks == [("trailing-bytes", 7, 9)]
    assert rest == [(7, 9)]
    assert found["body"]["message"] == "DEL"


def test_region_longer_than_the_batch() -> None:
    """The fields that are there are read; nothing can follow."""
    found, remarks, rest = decode(BATCH, "09 00 05 00 9d 00 42 63 01 02 aa", **STREAM)
    assert remarks == [("truncated", 7, 11)]
    assert rest == [(9, 11)]
    assert found["messages"][0]["messages"][0]["extensions"] == [{"ext": "timestamp", "length": 0x63, "time": 1}]


def test_rest_of_a_region_that_is_longer_than_the_batch() -> None:
    """Where a text ends that runs to the end of its region isn't known, so none is made up."""
    found, remarks, rest = decode(INIT, "81 09 02 aa 48 09 61 62")
    assert remarks == [("truncated", 5, 8)]
    assert rest == [(6, 8)]
    assert found["extensions"] == [{"ext": "region_name", "length": 9}]


def test_a_group_without_a_field_has_no_node() -> None:
    """PUT announces a timestamp, and ends."""
    tape = read(PUT, b"\x21")
    assert [field.path for field, *_ in tape.spans] == ["zenoh.put", "zenoh.put.header"]


def test_batch_longer_than_the_bytes() -> None:
    found, remarks, rest = decode(BATCH, "09 00 04 04", **STREAM)
    assert remarks == [("truncated", 2, 4)]
    assert rest == []
    assert [one["message"] for one in found["messages"]] == ["KEEP_ALIVE", "KEEP_ALIVE"]
    assert found["length"] == 9


def test_batch_that_the_capture_cut() -> None:
    tape = interpret(BATCH, bytes.fromhex("09 00 04 04 05"), cut=True, **STREAM)
    assert errors(tape) == []
    assert len(values(tape)["messages"]) == 3


def test_batch_shorter_than_the_bytes() -> None:
    found, remarks, rest = decode(BATCH, "01 00 04 aa bb", **STREAM)
    assert remarks == [("trailing-bytes", 3, 5)]
    assert rest == [(3, 5)]
    assert len(found["messages"]) == 1


def test_unknown_message_ends_the_batch_only() -> None:
    found, remarks, rest = decode(BATCH, "04 05 00 1d 00 02 1f")
    assert remarks == [("truncated", 7, 7)]
    found, remarks, rest = decode(BATCH, "04 05 00 1d 00 02 0a 04")
    assert remarks == [("unknown-message", 6, 8)]
    assert rest == [(6, 8)]
    assert [one["message"] for one in found["messages"]] == ["KEEP_ALIVE", "FRAME"]


def test_reserved_encoding_of_a_nested_chain_ends_that_chain() -> None:
    found, remarks, rest = decode(INIT, "81 09 02 aa c3 03 e9 01 02 27 01")
    assert remarks == [("unknown-extension", 6, 7), ("reserved-encoding", 7, 9)]
    assert rest == [(7, 9)]
    assert found["extensions"][1] == {"ext": "patch", "value": 1}


def test_error_in_link_state_leaves_the_frame() -> None:
    """The link state is a region of its own: the next message of the FRAME is read."""
    found, remarks, rest = decode(FRAME, "05 00 5f 01 03 02 00 01 1d 00 02")
    assert remarks == [("truncated", 8, 8)]
    assert rest == []
    assert [one["message"] for one in found["messages"]] == ["OAM", "PUSH"]


def test_link_state_by_its_structure() -> None:
    found, remarks, _ = decode(OAM, "5f 01 07 01 04 00 02 00 01 09")
    assert remarks == []
    assert found["link_state"] == {"nodes": [{"options": 4, "psid": 0, "sn": 2, "locators": [], "links": [9]}]}


def test_a_mandatory_extension_that_nobody_knows_is_skipped() -> None:
    found, remarks, rest = decode(PUSH, "9d 00 dd 02 01 02 21 05 02")
    assert remarks == [("unknown-mandatory-extension", 2, 3)]
    assert rest == []
    assert found["extensions"][0] == {"ext": 13, "enc": 2, "mandatory": 1, "value": b"\1\2"}
    assert found["body"]["message"] == "DEL"


def test_fragment_takes_what_looks_like_messages() -> None:
    found, remarks, _ = decode(BATCH, "46 00 04 04 1f")
    assert remarks == []
    assert found["messages"] == [{"message": FRAGMENT.name, "Z": 0, "M": 1, "R": 0, "sn": 0, "payload": b"\4\4\x1f"}]
