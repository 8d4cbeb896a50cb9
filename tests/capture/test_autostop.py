"""Bounds that end a capture or a file."""

import pytest

from zdissect.capture.autostop import Bounds, bounds_of


def test_conditions_are_read() -> None:
    assert bounds_of(["duration:1.5", "packets:7", "filesize:10", "files:3"]) == Bounds(1.5, 7, 10, 3)
    assert bounds_of([]) == Bounds()


@pytest.mark.parametrize(
    "given", ["duration", "time:3", "packets:", "packets:0", "packets:1.5", "duration:nan", "files:-1", ":1"]
)
def test_what_is_no_condition_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match=given.replace(".", r"\.")):
        bounds_of([given])


@pytest.mark.parametrize(
    ("given", "before", "after"),
    [
        ("duration:2", (1.9, 9, 9), (2.0, 0, 0)),
        ("packets:3", (9.0, 2, 9), (0.0, 3, 0)),
        ("filesize:2", (9.0, 9, 1999), (0.0, 0, 2000)),
    ],
)
def test_each_condition_is_met_at_its_time(
    given: str, before: tuple[float, int, int], after: tuple[float, int, int]
) -> None:
    one = bounds_of([given])
    assert not one.met(*before)
    assert one.met(*after)


def test_without_conditions_nothing_ends() -> None:
    assert not Bounds().met(1e9, 1 << 60, 1 << 60)
    assert not Bounds(files=3).bounds_a_file()
    assert Bounds(packets=3).bounds_a_file()
