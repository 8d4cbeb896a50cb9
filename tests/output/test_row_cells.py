"""Lines made from what conversations, frames, templates and messages hold: the same as asking each message."""

from pathlib import Path

import pytest

from tests.conversation import Conversation
from tests.messages import push
from tests.observed import observed
from zdissect.capture import open_capture
from zdissect.dissection import Dissection
from zdissect.grammar.columns import COLUMNS
from zdissect.output.row_cells import MOST_KEPT, Cell, RowCells
from zdissect.output.separated import CSV, SeparatedWriter, Separators
from zdissect.pipeline import Options, dissect

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("*.pcap*"))
NAMES = [column.name for column in COLUMNS]
OTHERS = [
    "sn", "sn", "zenoh.put.payload", "timestamp", "ext.name", "findings", "frame.number",
    "flow_id", "ip.src", "tcp.srcport", "encoding", "key_expr", "message_number", "payload_len", "initiator",
]  # fmt: skip
"""Twice the same, what only some messages have, what is in a list, what no message decides."""


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
@pytest.mark.parametrize("names", [NAMES, OTHERS, NAMES[10:12]], ids=["all", "others", "few"])
@pytest.mark.parametrize("separators", [CSV, Separators(occurrence="l", quote="'")])
def test_both_ways_write_the_same(path: Path, names: list[str], separators: Separators) -> None:
    with open_capture(str(path)) as capture:
        items = [item for item in dissect(capture, Options()) if isinstance(item, Dissection)]
    fast, slow = (SeparatedWriter(names, separators, "text", csv=separators is CSV) for _ in range(2))
    assert fast._row_cells is not None
    slow._row_cells = None
    assert [line for item in items for line in fast.lines(item)] == [
        line for item in items for line in slow.lines(item)
    ]


def keep_alive() -> Dissection:
    """A batch with one message that has a row of its own."""
    item = observed(Conversation().open().keep_alive(0)).items[-1]
    assert isinstance(item, Dissection)
    return item


def cells_of(cell: Cell) -> RowCells:
    return RowCells(SeparatedWriter(NAMES, CSV).known, [cell] * len(NAMES))


def test_a_column_that_rows_hold_without_a_value_is_empty() -> None:
    item = keep_alive()
    item.messages[0].row.update(sn=None, unknown=3, locators=["a", "b"])
    (made,) = cells_of(lambda values: str(len(values))).lists(item)
    found = {name: cell for name, cell in zip(NAMES, made, strict=True) if cell}
    assert found["locators"] == "2"
    assert "sn" not in found


def test_more_values_than_are_kept() -> None:
    item = keep_alive()
    cells = cells_of(lambda values: str(values[0]))
    row, place = item.messages[0].row, NAMES.index("sn")
    for number in (*range(MOST_KEPT + 9), 0, 1):
        row["sn"] = number
        assert cells.lists(item)[0][place] == str(number)


def test_only_chosen_messages_have_lines() -> None:
    item = observed(Conversation().open().frame(0, push(0, "a"), push(0, "b"))).items[-1]
    assert isinstance(item, Dissection)
    for names in (["key_expr"], ["key_expr", "frame.time_relative"]):
        writer = SeparatedWriter(names, Separators())
        lines = [line.split()[0] for line in writer.lines(item, [False, False, True])]
        assert lines == ["b"]


def test_names_that_no_row_has_are_asked_of_tapes() -> None:
    assert SeparatedWriter([*NAMES, "frame.time_relative"], CSV)._row_cells is None
