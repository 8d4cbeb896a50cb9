"""Counting in intervals: bounded, and whatever order frames come in."""

import pytest

from zdissect.stats import over_time
from zdissect.stats.over_time import OverTime


def counts(collected):
    return [one["frames"] for one in collected.report(0)["listed"]]


def test_empty_intervals_are_there():
    collected = OverTime(10)
    for now_ns in (100, 105, 131):
        collected.frame(now_ns)
    assert counts(collected) == [2, 0, 0, 1]


def test_what_is_before_the_first_frame():
    collected = OverTime(10)
    for now_ns in (100, 75):
        collected.frame(now_ns)
    report = collected.report(1000)
    assert counts(collected) == [1, 0, 0, 1]
    assert report["listed"][0]["ts_ns"] == 970


def test_nothing():
    assert OverTime(10).report(None)["listed"] == []


@pytest.mark.parametrize("times", [range(0, 1000, 7), range(1000, 0, -7), (0, 10**15, -(10**15), 3)])
def test_there_are_never_too_many(monkeypatch, times):
    monkeypatch.setattr(over_time, "MOST", 8)
    collected = OverTime(1)
    for now_ns in times:
        collected.frame(now_ns)
        assert len(collected.counted) <= 8
    report = collected.report(0)
    assert len(report["listed"]) <= 8
    assert sum(counts(collected)) == len(times)
    ratio = report["every_s"] / report["asked_s"]
    assert ratio == 2 ** round(len(bin(round(ratio))) - 3)
    began = times[0]
    for number, one in enumerate(counts(collected), collected.first):
        start, stop = began + number * collected.every_ns, began + (number + 1) * collected.every_ns
        assert one == sum(start <= now_ns < stop for now_ns in times)
