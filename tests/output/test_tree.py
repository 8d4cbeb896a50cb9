"""The annotated tree, line by line."""

import re

import pytest
from hypothesis import given

from tests.strategies import anything
from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import messages
from zdissect.grammar.batch import BATCH
from zdissect.grammar.network import PUSH
from zdissect.output.style import COLOUR, PLAIN
from zdissect.output.tree import TreeWriter

PUT = "7d 02 04 2f 72 2f 62 01 04 74 65 78 74"


def tree(data: str, entry=PUSH, **inputs: int) -> list[str]:
    return list(TreeWriter(PLAIN).lines(interpret(entry, bytes.fromhex(data), **inputs)))


def test_a_message() -> None:
    assert tree(PUT) == [
        "0000  7d                        PUSH  0x1d",
        "                                  0... ....  Z  no extensions",
        "                                  .1.. ....  M  scope is in the sender's mapping",
        "                                  ..1. ....  N  suffix present",
        "                                  ...1 1101  id PUSH",
        "0001  02                          scope: 2  (VLE)",
        "0002  04                          suffix length: 4 bytes  (VLE)",
        '0003  2f 72 2f 62                 suffix: "/r/b"',
        "0007  01                          PUT  0x01",
        "                                    0... ....  Z  no extensions",
        "                                    .0.. ....  E  no encoding: zenoh/bytes",
        "                                    ..0. ....  T  no timestamp",
        "                                    ...0 0001  id PUT",
        "0008  04                            payload length: 4 bytes  (VLE)",
        '0009  74 65 78 74                   payload: 4 bytes  "text"',
    ]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ("fd 00 01 61 21 19 01 00", "0005  19                            value: 25  (VLE)"),
        ("fd 00 01 61 21 19 01 00", "                                      [.... .001  priority  1 RealTime]"),
        ("fd 00 01 61 21 19 01 00", "                                      [...1 ....  E  express]"),
        ("fd 00 01 61 33 80 01 01 00", "0005  80 01                         value: 128  (VLE, 2 bytes)"),
        ("fd 00 01 61 5e 01 ff 01 00", "                                    ...1 ....  M  mandatory"),
        ("fd 00 01 61 5e 01 ff 01 00", "                                  ^ error: unknown mandatory extension 0xe"),
        ("3d 00 05 61", "0002  05 61                     undecoded: 2 bytes  05 61"),
    ],
)
def test_lines(data: str, line: str) -> None:
    assert any(one.startswith(line) for one in tree(data)), "\n".join(tree(data))


def test_a_finding_stands_below_its_field() -> None:
    lines = tree("1d ff 00 01 00")
    at = next(number for number, line in enumerate(lines) if "scope: 127" in line)
    assert lines[at + 1].strip() == "^ warning: scope takes 2 bytes for 127 (2 bytes) [vle-overlong]"


def test_what_a_session_knows_stands_in_brackets() -> None:
    tape = interpret(PUSH, bytes.fromhex(PUT))
    found = messages(tape)
    found[0].row["key_expr"] = "demo/r/\x1bb"
    found[0].row["key_frame"] = 9
    lines = list(TreeWriter(PLAIN).lines(tape, found))
    assert "                                  [Key expression: demo/r/\\x1bb]" in lines
    assert "                                  [Declared in: frame 9]" in lines


def test_a_key_that_is_not_known_is_not_invented() -> None:
    tape = interpret(PUSH, bytes.fromhex(PUT))
    lines = list(TreeWriter(PLAIN).lines(tape, messages(tape)))
    assert "                                  [Key expression: ?2/r/b, not declared in the capture]" in lines


def test_fewer_bytes_on_a_narrow_terminal() -> None:
    lines = TreeWriter(PLAIN, columns=3).lines(interpret(PUSH, bytes.fromhex(PUT)))
    assert '0003  2f 72 2f ..  suffix: "/r/b"' in list(lines)


def test_colour_is_all_that_colour_changes() -> None:
    tape = interpret(BATCH, bytes.fromhex("25 01" + PUT + "1d ff 00"))
    plain, coloured = (list(TreeWriter(style).lines(tape)) for style in (PLAIN, COLOUR))
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in coloured] == plain
    assert all(line.count("\x1b[0m") for line in coloured)


@given(anything())
def test_any_bytes_give_printable_lines_that_own_them(encoded) -> None:
    tape = interpret(encoded.entry, encoded.data, **encoded.inputs)
    lines = list(TreeWriter(PLAIN, columns=10_000).lines(tape, messages(tape)))
    assert all(line.isprintable() for line in lines)
    shown = [re.match(r"[0-9a-f]{4,}  ((?:[0-9a-f]{2} )*[0-9a-f]{2}) ", line) for line in lines]
    assert b"".join(bytes.fromhex(match[1]) for match in shown if match) == encoded.data
