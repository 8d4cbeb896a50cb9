"""Capture times, by tshark's letters."""

import pytest

from zdissect.output.time_formats import FORMATS, FrameTimes, formatter
from zdissect.records import Frame

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


def frame(number: int, ns: int) -> Frame:
    return Frame("f", number, ns, 1, 0, b"")


FRAMES = [frame(1, NS), frame(2, NS + 1_500_000_000), frame(3, NS + 1_000_000_000), frame(4, NS + 1_000_000_001)]


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("r", ["1.500000000", "1.500000000", "1.000000001"]),
        ("d", ["1.500000000", "1.500000000", "0.000000001"]),
        ("dd", ["0.000000000", "0.000000000", "-0.499999999"]),
    ],
)
def test_r_and_d_count_from_frames_that_are_not_shown_too(kind: str, shown: list[str]) -> None:
    """Frame 2 is shown twice, as two messages of it are; 1 and 3 aren't."""
    times = FrameTimes(kind)
    out = []
    for one in FRAMES:
        times.read(one)
        out += [times.text(one) for _ in range({2: 2, 4: 1}.get(one.number, 0))]
    assert out == shown


def test_the_time_since_the_frame_before_is_known_for_a_while() -> None:
    times = FrameTimes("d")
    for number in range(1, (1 << 16) + 3):
        times.read(frame(number, NS + number))
    assert (times.text(frame(2, 0)), times.text(frame(3, 0))) == ("?", "0.000000001")


def test_day_of_the_year() -> None:
    assert formatter("udoy")(NS) == "2026/331 21:45:25.419103497"


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
    times = FrameTimes(kind)
    times.read(frame(1, ns))
    assert times.text(frame(1, ns))
