"""One line per message."""

import pytest

from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import add_findings, messages
from zdissect.grammar.batch import BATCH
from zdissect.output.line import key, summary
from zdissect.output.style import PLAIN


def lines(data: str) -> list[str]:
    tape = interpret(BATCH, bytes.fromhex(data))
    found = messages(tape)
    add_findings(tape, found)
    return [summary(message.row, PLAIN, 16) for message in found]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("04", ["KEEP_ALIVE"]),
        ("03 05", ["CLOSE  close_reason EXPIRED"]),
        ("25 07 5d 1d 01 02 68 69", ["FRAME  sn 7 reliable Data", '  PUSH  PUT  ?29  2 bytes  "hi"']),
        ("05 07 3d 00 01 61 02", ["FRAME  sn 7 best_effort Data", "  PUSH  DEL  a"]),
        (
            "25 07 3d 00 01 61 41 08 02 68 69",
            ["FRAME  sn 7 reliable Data", '  PUSH  PUT  a  2 bytes  "hi"  text/plain'],
        ),
        (
            "25 07 3c 05 00 01 61 63 01 03 78 3d 30",
            ["FRAME  sn 7 reliable Data", "  REQUEST  QUERY  a  ?x=0  request_id 5  consolidation None"],
        ),
        ("25 07 1a 05", ["FRAME  sn 7 reliable Data", "  RESPONSE_FINAL  request_id 5"]),
        (
            "25 07 3d 00 01 1b 02",
            ["FRAME  sn 7 reliable Data", "  PUSH  DEL  \\x1b"],
        ),
        ("44", ["KEEP_ALIVE  [warning: reserved flags of KEEP_ALIVE are set]"]),
    ],
)
def test_lines(data: str, expected: list[str]) -> None:
    assert lines(data) == expected


def test_a_resolved_key_comes_first() -> None:
    assert key({"key_expr": "a/b", "key_scope": 3, "key_suffix": "/b"}) == "a/b"
    assert key({"key_scope": 3, "key_suffix": "/b"}) == "?3/b"
    assert key({}) == ""
