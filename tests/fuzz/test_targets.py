"""A short run of every target, with the same inputs each time, and all that was ever found.

`ZDISSECT_FUZZ=50000 pytest tests/fuzz` takes more; `python -m tests.fuzz TARGET --minutes 30` searches.
"""

import os

import pytest

from tests.fuzz.corpus import FINDS, found
from tests.fuzz.names import NAMES
from tests.fuzz.targets import TARGETS, inputs

SCALE = max(1.0, int(os.environ.get("ZDISSECT_FUZZ", "400")) / 400)


def test_names() -> None:
    assert tuple(TARGETS) == NAMES
    assert {path.name for path in FINDS.iterdir() if path.is_dir()} <= {*NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_what_was_found_before(name: str) -> None:
    for data in (b"", *TARGETS[name].seeds()[:40], *found(name)):
        TARGETS[name].check(data)


@pytest.mark.parametrize("name", NAMES)
def test_a_few_inputs(name: str) -> None:
    target = TARGETS[name]
    for number, data in enumerate(inputs(target, 1, round(target.short * SCALE))):
        try:
            target.check(data)
        except Exception as problem:
            raise AssertionError(f"input {number} of {name}: {data[:2000].hex()}") from problem
