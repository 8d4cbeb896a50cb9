"""What the tree leaves out if it is asked to, and what it never does."""

import re

import pytest
from hypothesis import given

from tests.strategies import anything
from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import messages
from zdissect.engine.vle import read
from zdissect.grammar.batch import BATCH
from zdissect.output.folding import folded, message_names, messages_called
from zdissect.output.painted_dump import dump
from zdissect.output.style import COLOUR, PLAIN
from zdissect.output.text import hexdump
from zdissect.output.tree import TreeWriter

FRAME = "25 01 7d 02 04 2f 72 2f 62 01 04 74 65 78 74 fd 02 02 2f 61 21 19 01 02 68 69"
"""A FRAME with two PUSHes, of which the second has an extension."""


def tape(data: str = FRAME):
    return interpret(BATCH, bytes.fromhex(data))


def lines(*names: str, data: str = FRAME) -> list[str]:
    made = tape(data)
    opened = frozenset().union(*map(messages_called, names))
    return list(TreeWriter(PLAIN).lines(made, (), folded(made.spans, lambda _, span: span[0].path in opened)))


def test_folded_messages_have_the_line_of_their_header() -> None:
    assert lines("init") == [
        "0000  25                          FRAME  0x05",
        "0002  7d                            PUSH  0x1d",
        "0009  01                              PUT  0x01",
        "000f  fd                            PUSH  0x1d",
        "0016  01                              PUT  0x01",
    ]


def test_what_is_opened_is_as_in_the_whole_tree_wherever_it_stands() -> None:
    whole = list(TreeWriter(PLAIN).lines(tape()))
    some = lines("put")
    assert set(some) <= set(whole)
    assert some[-1].endswith('payload: 2 bytes  "hi"')
    assert lines("zenoh") == whole
    assert lines("zenoh.frame", "PUSH", "put") == whole


def test_findings_stand_below_the_message_that_they_are_about() -> None:
    data = "25 01 1d ff 00 01 00 1d 05 01 00"
    shown = lines("push", data=data)
    assert [line.split()[-1] for line in shown if "warning" in line] == ["[vle-overlong]"]
    closed = lines("init", data=data)
    assert not [line for line in closed if "warning" in line]
    assert [line.split("PUSH")[1] for line in closed if "PUSH" in line] == ["  0x1d  [1 finding]", "  0x1d"]


@given(anything())
def test_folding_hides_no_finding(encoded) -> None:
    """Those of folded messages are counted in their lines, and all others are shown."""
    made = interpret(encoded.entry, encoded.data, **encoded.inputs)
    writer = TreeWriter(PLAIN)
    whole, closed = (
        list(writer.lines(made, messages(made), folds)) for folds in (None, folded(made.spans, lambda *_: False))
    )
    counted = sum(int(match[1]) for line in closed if (match := re.search(r"  \[(\d+) findings?\]$", line)))
    if any(span[0].kind == "message" for span in made.spans):
        assert counted == len(made.remarks)
        assert not [line for line in closed if line.strip().startswith("^")]
    else:
        assert closed == whole


@pytest.mark.parametrize("name", ["PUSH", "push", "zenoh.push", " push"])
def test_names_of_messages(name: str) -> None:
    assert messages_called(name) == {"zenoh.push"}


def test_other_names_of_messages() -> None:
    assert messages_called("init_syn") == {"zenoh.init"}
    assert messages_called("zenoh") == {*message_names()}
    with pytest.raises(KeyError):
        messages_called("scope")


def test_without_lines_for_bits_flags_that_are_set_stand_behind_their_byte() -> None:
    shown = list(TreeWriter(PLAIN, with_bits=False).lines(tape()))
    assert shown[:3] == [
        "0000  25                          FRAME  0x05  R",
        "0001  01                            sn: 1  (VLE)",
        "0002  7d                            PUSH  0x1d  M, N",
    ]
    assert [line for line in shown if line[:4] in ("0013", "0014", "0015")] == [
        "0014  21                              ext 0x1 Z64: qos",
        "0015  19                                value: 25  E, D, priority 1 RealTime  (VLE)",
    ]


@given(anything())
def test_lengths_have_lines_of_their_own_that_hold_their_bytes(encoded) -> None:
    made = interpret(encoded.entry, encoded.data, **encoded.inputs)
    writer = TreeWriter(PLAIN, columns=10_000)
    shown = list(writer.lines(made))
    for field, _, start, stop, value in made.spans:
        if field.kind in ("text", "blob"):
            length, at = read(made.data, start, stop)
            assert at + length == stop
            ours = [
                line for line in shown if line.startswith(f"{start - made.start:04x}  {made.data[start:at].hex(' ')} ")
            ]
            assert any(f" {field.name} length: {length} byte" in line for line in ours), value


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 15, 16, 17, 26])
def test_a_painted_dump_is_the_dump_in_colours(size: int) -> None:
    data = bytes.fromhex(FRAME)[:size]
    painted = dump(interpret(BATCH, data), data, COLOUR)
    assert [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", painted).split("\n")] == [
        line.rstrip() for line in hexdump(data).split("\n")
    ]
    assert dump(interpret(BATCH, data), data, PLAIN) == hexdump(data)


def test_bytes_have_the_colour_in_the_dump_that_they_have_in_the_tree() -> None:
    made = tape()
    row = next(line for line in TreeWriter(COLOUR, paints=True).lines(made) if "suffix: " in line)
    colour = row.split("\x1b[0m")[1].lstrip().split("m")[0] + "m"
    assert colour in COLOUR.fields
    assert all(f"{colour}{byte:02x}\x1b[0m" in dump(made, made.data, COLOUR) for byte in b"/r/b")
