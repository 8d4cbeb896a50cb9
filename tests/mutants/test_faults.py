"""The faults that `run.py` plants fit the source as it is."""

import ast
from pathlib import Path

import pytest

from tests.mutants.fault import Fault
from tests.mutants.faults import FAULTS

PACKAGE = Path(__file__).parents[2] / "zdissect"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_it_can_be_planted(fault: Fault) -> None:
    source = (PACKAGE / fault.file).read_text()
    assert source.count(fault.before) == 1
    ast.parse(source.replace(fault.before, fault.after))


def test_names_are_unique() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
