"""Lines of all columns, made from what rows hold: the same as asking for each column."""

from pathlib import Path

import pytest

from zdissect.capture import open_capture
from zdissect.dissection import Dissection
from zdissect.grammar.columns import COLUMNS
from zdissect.output.row_cells import FEWEST, MOST_KEPT, row_cells
from zdissect.output.separated import CSV, SeparatedWriter, Separators
from zdissect.pipeline import Options, dissect

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("*.pcap*"))
NAMES = [column.name for column in COLUMNS]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
@pytest.mark.parametrize("separators", [CSV, Separators(occurrence="l", quote="'")])
def test_both_ways_write_the_same(path: Path, separators: Separators) -> None:
    with open_capture(str(path)) as capture:
        items = [item for item in dissect(capture, Options(rows=True)) if isinstance(item, Dissection)]
    fast, slow = (SeparatedWriter(NAMES, separators, "text", csv=separators is CSV) for _ in range(2))
    assert fast._row_cells is not None
    slow._row_cells = None
    assert [line for item in items for line in fast.lines(item)] == [
        line for item in items for line in slow.lines(item)
    ]


def test_a_column_that_rows_hold_without_a_value_is_empty() -> None:
    cells = row_cells(SeparatedWriter(NAMES, CSV).known, [lambda values: str(len(values))] * len(NAMES))
    assert cells is not None
    (made,) = cells.lists([{"sn": None, "unknown": 3, "locators": ["a", "b"]}])
    assert {name: cell for name, cell in zip(NAMES, made, strict=True) if cell} == {"locators": "2"}


def test_more_values_than_are_kept() -> None:
    cells = row_cells(SeparatedWriter(NAMES, CSV).known, [lambda values: str(values[0])] * len(NAMES))
    assert cells is not None
    wanted = [*range(MOST_KEPT + 9), 0, 1]
    place = NAMES.index("sn")
    assert [made[place] for made in cells.lists({"sn": number} for number in wanted)] == [str(one) for one in wanted]


@pytest.mark.parametrize("names", [NAMES[: FEWEST - 1], [*NAMES, "sn"], [*NAMES, "frame.time_relative"]])
def test_other_names_are_asked_one_by_one(names: list[str]) -> None:
    assert SeparatedWriter(names, CSV)._row_cells is None
