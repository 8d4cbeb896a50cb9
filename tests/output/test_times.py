"""Capture times, by tshark's letters."""

import pytest

from zdissect.output.times import FORMATS, formatter

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


@pytest.mark.parametrize("ns", [0, -1, 1 << 80, -(1 << 80)])
@pytest.mark.parametrize("kind", FORMATS)
def test_any_time_that_a_capture_claims(kind: str, ns: int) -> None:
    assert formatter(kind)(ns)
