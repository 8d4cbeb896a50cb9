"""Capture times, by tshark's letters."""

import pytest

from zdissect.output.time_formats import FORMATS, formatter

NS = 1_795_815_925_419_103_497  # 2026-11-27T21:45:25.419103497Z


@pytest.mark.parametrize(
    ("kind", "shown"),
    [("u", "21:45:25.419103497"), ("ud", "2026-11-27 21:45:25.419103497"), ("e", "1795815925.419103497")],
)
def test_absolute(kind: str, shown: str) -> None:
    assert formatter(kind)(NS) == shown


def test_whole_microseconds_have_six_digits() -> None:
    assert formatter("u")(NS - 497) == "21:45:25.419103"


def test_local(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "UTC-2")
    time.tzset()
    try:
        assert formatter("ad")(NS) == "2026-11-27 23:45:25.419103497"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_relative_and_delta() -> None:
    relative, delta = formatter("r"), formatter("d")
    moments = [NS, NS + 1_500_000_000, NS + 1_000_000_000]
    assert [relative(ns) for ns in moments] == ["0.000000000", "1.500000000", "1.000000000"]
    assert [delta(ns) for ns in moments] == ["0.000000000", "1.500000000", "-0.500000000"]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (9_223_372_037, "2262-04-11 23:47:17.000000"),
        (253_402_300_800, "10000-01-01 00:00:00.000000"),
        ((1 << 64) - 1, "584554051223-11-09 07:00:15.000000"),
        (-62_135_596_801, "0-12-31 23:59:59.000000"),
    ],
)
def test_years_that_no_calendar_has(seconds: int, shown: str) -> None:
    assert formatter("ud")(seconds * 10**9) == shown
    assert formatter("u")(seconds * 10**9) == shown.split()[1]


def test_before_1970() -> None:
    assert formatter("e")(-1) == "-0.000000001"
    assert formatter("ud")(-1) == "1969-12-31 23:59:59.999999999"


@pytest.mark.parametrize("ns", [0, -1, 1 << 80, -(1 << 80)])
@pytest.mark.parametrize("kind", FORMATS)
def test_any_time_that_a_capture_claims(kind: str, ns: int) -> None:
    assert formatter(kind)(ns)
