"""Memory is bounded, and what is above a bound is counted all the same."""

from hypothesis import given
from hypothesis import strategies as st

from tests.stats.reports import SAMPLES, report
from zdissect.stats import query_stats
from zdissect.stats.distribution import Distribution
from zdissect.stats.keys import Keys


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=60), st.integers(1, 80))
def test_times(values, limit):
    times = Distribution(limit)
    for value in values:
        times.add(value)
    found = times.report()
    assert (found["count"], found["min"], found["max"]) == (len(values), min(values), max(values))
    assert len(times.values) == min(limit, len(values))
    assert set(times.values) <= set(values)
    if limit >= len(values):
        ordered = sorted(values)
        assert found["median"] == ordered[(len(values) + 1) // 2 - 1]
        assert sum(value <= found["p95"] for value in values) >= 0.95 * len(values)


def test_no_times():
    assert Distribution().report() is None


def test_keys_above_the_limit(monkeypatch):
    monkeypatch.setattr("zdissect.stats.Keys", lambda: Keys(limit=2))
    whole = 4 + 1 + 1  # puts, a delete and a reply
    found = report(SAMPLES / "pubsub-tcp.pcap")["keys"]
    assert found["distinct"] == 2
    assert sum(key["messages"] for key in found["listed"]) + found["others"]["messages"] == whole


def test_query_keys_above_the_limit(monkeypatch):
    monkeypatch.setattr(query_stats, "MOST_KEYS", 2)
    found = report(SAMPLES / "query-router.pcap")["queries"]
    assert len(found["keys"]) == 2
    assert found["others"]["queries"] + sum(key["queries"] for key in found["keys"]) == found["queries"] == 20


def test_open_queries_above_the_limit(monkeypatch):
    """Those that are forgotten count as unanswered, and their answers as those to no known query."""
    monkeypatch.setattr(query_stats, "MOST_OPEN", 1)
    found = report(SAMPLES / "query-router.pcap")["queries"]
    assert found["queries"] == 20
    assert found["unanswered"] > 0
    assert found["stray_answers"] > 0
