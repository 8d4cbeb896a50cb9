"""Values written by hand: what may be left out, what is refused and how, and messages that are wrong on purpose."""

from typing import Any

import pytest

from tests.engine.tapes import errors, read
from tests.generators import Entry
from zdissect.engine.encoder import encode
from zdissect.engine.encoder_input import EncodeError
from zdissect.engine.values import values
from zdissect.grammar.batch import BATCH, SCOUTING_DATAGRAM
from zdissect.grammar.data import DEL, PUT, QUERY
from zdissect.grammar.declarations import D_KEYEXPR
from zdissect.grammar.network import DECLARE, INTEREST, OAM, PUSH, RESPONSE
from zdissect.grammar.scouting import HELLO, SCOUT
from zdissect.grammar.transport import CLOSE, FRAME, INIT, OPEN

A1 = b"\xaa\x01"[::-1]
STAMP = {"time": 1, "id": b"\xbb"}

HAND_WRITTEN: list[tuple[Entry, dict[str, Any], str]] = [
    # flags from the fields that are there
    (PUSH, {"scope": 1, "body": {"message": "DEL"}}, "1d 01 02"),
    (
        PUSH,
        {"scope": 1, "suffix": "/a", "M": 1, "body": {"message": "PUT", "payload": b"x"}},
        "7d 01 02 2f 61 01 01 78",
    ),
    (DEL, {"timestamp": STAMP}, "22 01 01 bb"),
    (PUT, {"encoding": {"id": 4}, "payload": b""}, "41 08 00"),
    (PUT, {"encoding": {"id": 4, "schema": "u"}, "payload": b""}, "41 09 01 75 00"),
    (PUT, {"encoding": {"value": 9, "schema": "u"}, "payload": "text"}, "41 09 01 75 04 74 65 78 74"),
    (QUERY, {"consolidation": 1, "parameters": "a"}, "63 01 01 61"),
    # lengths and counts from what they count
    (SCOUT, {"version": 9, "what": 3}, "01 09 03"),
    (SCOUT, {"version": 9, "what": 3, "zid": A1}, "01 09 1b 01 aa"),
    (HELLO, {"version": 9, "whatami": 0, "zid": A1, "locators": ["a", "b"]}, "22 09 10 01 aa 02 01 61 01 62"),
    (HELLO, {"version": 9, "whatami": 0, "zid": A1}, "02 09 10 01 aa"),
    # variants by name, or by their fields
    (INIT, {"message": "INIT_ACK", "version": 9, "whatami": 1, "zid": A1, "cookie": b"c"}, "21 09 11 01 aa 01 63"),
    (INIT, {"version": 9, "whatami": 1, "zid": A1, "cookie": b"c"}, "21 09 11 01 aa 01 63"),
    (INIT, {"version": 9, "whatami": 1, "zid": A1, "rid": 2, "fsn": 2, "batch_size": 9}, "41 09 11 01 aa 0a 09 00"),
    (OPEN, {"lease": 10, "T": 1, "initial_sn": 0, "cookie": b""}, "42 0a 00 00"),
    (OPEN, {"lease": 10, "initial_sn": 0}, "22 0a 00"),
    # extensions by name, by id, nested
    (CLOSE, {"reason": 0, "extensions": [{"ext": 1}, {"ext": 2, "value": 300}]}, "83 00 81 22 ac 02"),
    (CLOSE, {"reason": 0, "extensions": [{"ext": 3, "value": b"ab", "mandatory": 1}]}, "83 00 53 02 61 62"),
    (FRAME, {"sn": 0, "extensions": [{"ext": "qos", "priority": 1}]}, "85 00 31 01"),
    (FRAME, {"sn": 0, "extensions": []}, "05 00"),
    (
        OPEN,
        {"lease": 1, "initial_sn": 0, "extensions": [{"ext": "auth", "extensions": [{"ext": "user_password_ack"}]}]},
        "a2 01 00 43 01 02",
    ),
    # conditions of several terms
    (INTEREST, {"mode": 0, "id": 3}, "19 03"),
    (INTEREST, {"mode": 3, "id": 3, "S": 1, "scope": 3, "suffix": "a"}, "79 03 32 03 01 61"),
    (INTEREST, {"mode": 1, "id": 3, "K": 1}, "39 03 01"),
    (OAM, {"id": 9, "value": 5}, "3f 09 05"),
    (OAM, {"id": 9, "body": b"ab"}, "5f 09 02 61 62"),
    (OAM, {"enc": 0, "id": 9}, "1f 09"),
    (
        OAM,
        {"link_state": {"nodes": [{"psid": 0, "sn": 1, "zid": A1, "links": [2], "weights": [7]}]}},
        "5f 01 0a 01 09 00 01 02 01 aa 01 02 07",
    ),
    # an extension changes what follows
    (
        PUT,
        {
            "extensions": [{"ext": "shm"}],
            "slices": [
                {"kind": 0, "raw": b"x"},
                {"pointer": {"data_length": 64, "segment": 1, "index": 0, "generation": 0}},
            ],
        },
        "81 12 02 00 01 78 01 04 40 01 00 00",
    ),
    # units
    (SCOUTING_DATAGRAM, {"messages": [{"message": "SCOUT", "version": 9, "what": 1}]}, "01 09 01"),
    (BATCH, {"messages": [{"message": "KEEP_ALIVE"}, {"message": "CLOSE", "reason": 0}]}, "04 03 00"),
]


@pytest.mark.parametrize(("entry", "given", "wanted"), HAND_WRITTEN, ids=[wanted for _, _, wanted in HAND_WRITTEN])
def test_hand_written(entry: Entry, given: dict[str, Any], wanted: str) -> None:
    data = encode(entry, given)
    assert data.hex(" ") == wanted
    tape = read(entry, data)
    assert encode(entry, values(tape)) == data


def test_units_by_their_framing() -> None:
    given = {"messages": [{"message": "KEEP_ALIVE"}]}
    assert encode(BATCH, given, prefix=2) == b"\1\0\4"
    assert encode(BATCH, given, prefix=4, low_latency=1) == b"\1\0\0\0\4"
    assert encode(BATCH, given, prefix=2, compression=1) == b"\2\0\0\4"
    assert encode(BATCH, {"compressed_data": b"zz"}, compression=1) == b"\1zz"


def test_declaration() -> None:
    given = {"declaration": {"message": "D_KEYEXPR", "expr_id": 1, "scope": 0, "suffix": "demo/c"},
             "extensions": [{"ext": "qos", "priority": 0, "D": 1}]}  # fmt: skip
    assert encode(DECLARE, given).hex() == "9e21082001000664656d6f2f63"


WRONG: list[tuple[Entry, dict[str, Any], str, list[str]]] = [
    (BATCH, {"length": 9, "messages": [{"message": "KEEP_ALIVE"}]}, "09 00 04", ["truncated"]),
    (SCOUT, {"version": 9, "what": 0}, "01 09 00", ["scout-nothing"]),
    (CLOSE, {"X6": 1, "reason": 0}, "43 00", ["reserved-bits"]),
    (CLOSE, {"reason": 0, "extensions": [{"ext": 1, "more": 1}]}, "83 00 81", ["unknown-extension", "truncated"]),
    (
        CLOSE,
        {"reason": 0, "extensions": [{"ext": 1, "enc": 3}]},
        "83 00 61",
        ["unknown-extension", "reserved-encoding"],
    ),
    (PUSH, {"scope": 1 << 20, "body": {"message": "DEL"}}, "1d 80 80 40 02", ["vle-overflow"]),
    (PUSH, {"scope": 1, "suffix": b"\xff", "body": {"message": "DEL"}}, "3d 01 01 ff 02", ["invalid-utf8"]),
    (SCOUT, {"version": 9, "what": 1, "zid_len": 4, "zid": b"ab"}, "01 09 49 61 62", ["truncated"]),
    (HELLO, {"version": 9, "whatami": 0, "zid": b"a", "count": 9, "locators": []}, "22 09 00 61 09", ["truncated"]),
    (
        PUSH,
        {"scope": 0, "extensions": [{"ext": "timestamp", "length": 2, **STAMP}], "body": {"message": "DEL"}},
        "9d 00 42 02 01 01 bb 02",
        ["extension-length"],
    ),
]


@pytest.mark.parametrize(("entry", "given", "wanted", "codes"), WRONG, ids=[wanted for _, _, wanted, _ in WRONG])
def test_wrong_on_purpose(entry: Entry, given: dict[str, Any], wanted: str, codes: list[str]) -> None:
    inputs = {"prefix": 2} if entry is BATCH else {}
    data = encode(entry, given, **inputs)
    assert data.hex(" ") == wanted
    assert [code for code, _, _ in errors(read(entry, data, **inputs))] == codes


REFUSED: list[tuple[Entry, Any, str, str]] = [
    (PUSH, {"body": {"message": "DEL"}}, "PUSH.scope", "is missing"),
    (PUSH, {"scope": 0}, "PUSH.body", "is missing"),
    (PUSH, {"scop": 0, "scope": 0, "body": {"message": "DEL"}}, "PUSH.scop", "did you mean scope"),
    (PUSH, {"scope": 0, "N": 1, "body": {"message": "DEL"}}, "PUSH.suffix", "is missing"),
    (PUSH, {"scope": 0, "N": 0, "suffix": "", "body": {"message": "DEL"}}, "PUSH.suffix", "it isn't present"),
    (PUSH, {"scope": 0, "N": 2, "body": {"message": "DEL"}}, "PUSH.N", "1 bit"),
    (PUSH, {"scope": 0, "body": {"message": "DLE"}}, "PUSH.body.message", "'DLE' isn't a message here"),
    (PUSH, {"scope": 0, "body": {}}, "PUSH.body.message", "is missing"),
    (PUSH, {"scope": 0, "body": b"x"}, "PUSH.body", "takes a dict"),
    (PUSH, {"scope": "0", "body": {"message": "DEL"}}, "PUSH.scope", "takes a number"),
    (PUSH, {"scope": 1 << 64, "body": {"message": "DEL"}}, "PUSH.scope", "64 bits"),
    (PUSH, {"scope": 0, "body": {"message": "PUT", "payload": 5}}, "PUSH.body.payload", "takes bytes or text"),
    (PUSH, {"scope": 0, "suffix": "\ud800", "body": {"message": "DEL"}}, "PUSH.suffix", "isn't text"),
    (CLOSE, {"reason": 256}, "CLOSE.reason", "8 bits"),
    (CLOSE, {"message": "PUSH", "reason": 0}, "CLOSE.message", "'PUSH' isn't a message here"),
    (CLOSE, {"reason": 0, "extensions": 5}, "CLOSE.extensions", "takes a list"),
    (CLOSE, {"reason": 0, "extensions": [{}]}, "CLOSE.extensions[0].ext", "is missing"),
    (CLOSE, {"reason": 0, "extensions": [{"ext": 16}]}, "CLOSE.extensions[0].ext", "4 bits"),
    (CLOSE, {"reason": 0, "extensions": [{"ext": 1, "enc": 0, "value": 1}]}, "CLOSE.extensions[0].value", "no value"),
    (CLOSE, {"reason": 0, "extensions": [{"ext": 1, "valeu": 1}]}, "CLOSE.extensions[0].valeu", "did you mean value"),
    (FRAME, {"sn": 0, "extensions": [{"ext": "qso"}]}, "FRAME.extensions[0].ext", "did you mean qos"),
    (FRAME, {"sn": 0, "extensions": [{"ext": "qos"}]}, "FRAME.extensions[0].priority", "is missing"),
    (FRAME, {"sn": 0, "messages": [{"message": "DECLARE"}]}, "FRAME.messages[0].declaration", "is missing"),
    (INTEREST, {"id": 1}, "INTEREST.mode", "is missing"),
    (SCOUT, {"version": 9, "what": 1, "zid": b"a" * 17}, "SCOUT.zid_len", "4 bits"),
    (RESPONSE, {"request_id": 0, "scope": 0, "body": {"message": "REPLY"}}, "RESPONSE.body.body", "is missing"),
    (D_KEYEXPR, {"expr_id": 1, "scope": 0, "M": 1}, "D_KEYEXPR.M", "no such field"),
    (BATCH, {"unit": "scouting"}, "batch", "is a scouting"),
    (PUSH, None, "PUSH", "takes a dict"),
    (OAM, {"link_state": {"nodes": [{"psid": 0, "sn": 0, "links": [1], "weights": []}]}},
     "OAM.link_state.nodes[0].weights", "has 0 items, not 1"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "given", "path", "why"), REFUSED, ids=[f"{path} {why}" for *_, path, why in REFUSED])
def test_refused(entry: Entry, given: Any, path: str, why: str) -> None:
    with pytest.raises(EncodeError) as caught:
        encode(entry, given)
    assert caught.value.path == path
    assert why in caught.value.why
    assert str(caught.value).startswith(path)
