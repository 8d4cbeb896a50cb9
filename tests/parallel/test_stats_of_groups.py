"""The report that several processes make is that of one, to the byte."""

import json

import pytest

from tests.export.tables import SAMPLES, frames, write_pcap
from tests.parallel.apart import in_a_process, shared
from zdissect.dissection import ITSELF
from zdissect.stats.came import Inseparable, first_come
from zdissect.stats.keys import Key, Keys
from zdissect.stats.over_time import OverTime
from zdissect.stats.sessions import in_groups, numbered

REPORTS = 6
"""Those of `tests.parallel.forced`."""


def test_samples():
    assert shared("stats", 2, *sorted(SAMPLES.glob("*.pcap*"))) > 50


def test_several_sessions(several):
    assert shared("stats", 3, *several) == len(several) * REPORTS


@pytest.mark.parametrize("block", [7, 50])
def test_blocks_of_usual_messages(block, usual):
    assert shared("stats", 3, *usual, block=block) == len(usual) * REPORTS


@pytest.mark.parametrize("jobs", [2, 5])
def test_what_was_first(jobs, fleet):
    """Sources, paths, sessions, findings and queries are in the order in which one process meets them."""
    assert shared("stats", jobs, fleet) == REPORTS


def test_the_fleet_has_what_depends_on_order(fleet):
    code = "import sys; from cli.main import cli; cli(['stats', '--json', *sys.argv[1:]])"
    report = json.loads(in_a_process(code, fleet).stdout)
    assert {len(key["sources"]) for key in report["keys"]["listed"]} >= {32}
    assert len({session["first_ts_ns"] for session in report["sessions"]}) < 5 < len(report["sessions"])
    assert report["queries"]["requests"] == 2 * report["queries"]["queries"] == 120
    assert report["queries"]["silent"]["count"] == 30
    assert report["refused"]["count"] == 5
    assert report["findings"]


def test_several_files(fleet, tmp_path):
    """One of them is cut."""
    some = frames(fleet)
    parts = [tmp_path / f"{number}.pcap" for number in range(3)]
    for number, part in enumerate(parts):
        write_pcap(part, some[number * len(some) // 3 : (number + 1) * len(some) // 3])
    parts[1].write_bytes(parts[1].read_bytes()[:-5])
    assert shared("stats", 3, ":".join(map(str, parts))) == REPORTS


FORCED = """
import sys
from cli import group_processes, stats_of_groups
from zdissect.parallel.first_look import FirstLook
from zdissect.parallel.group_pipeline import GroupPipeline
from zdissect.stats import keys
from tests.parallel import forced
{}
different, shared = forced.compare(sys.argv[1:], forced.REPORTS[:2])
print(len(different), shared)
"""

DIES = """
import os
count = stats_of_groups._count
def dies(asked, whole, group, sending):
    if group.number == 1: os._exit(1)
    count(asked, whole, group, sending)
stats_of_groups._count = dies
"""
LIMITED = "GroupPipeline.limited = lambda pipeline: True"
MANY_KEYS = "from zdissect import stats; stats.Keys = lambda: keys.Keys(5)"
APART = "FirstLook.called = lambda *arguments: None"


@pytest.mark.parametrize(("fault", "shares"), [("", 2), (DIES, 0), (LIMITED, 0), (MANY_KEYS, 0)])
def test_one_process_takes_over(fault, shares, fleet):
    """Where it isn't known what one would have said, or somebody died, one says it."""
    assert in_a_process(FORCED.format(fault), fleet).stdout.split() == ["0", str(shares)]


def test_first_come():
    one = {"a": (1, ITSELF), "b": (5, ITSELF)}
    other = {"b": (2, ITSELF), "c": (2, ITSELF), "d": (7, ITSELF)}
    assert [*first_come(one, other, 9)] == [*first_come(other, one, 9)] == ["a", "b", "c", "d"]
    assert [*first_come(one, other, 2)] == ["a", "b"]
    with pytest.raises(Inseparable):
        first_come(one, {"d": (5, ITSELF)}, 9)


def test_keys_of_groups():
    one, other = Keys(2), Keys(2)
    one.known = {("a", True): Key(puts=2), ("b", True): Key(deletes=1)}
    other.known = {("a", True): Key(puts=3, size=8)}
    one.add(other)
    assert (one.known["a", True].puts, one.known["a", True].size) == (5, 8)
    other.known = {("c", True): Key()}
    with pytest.raises(Inseparable):
        one.add(other)


def test_paths_of_keys():
    """The rate is that of the path with most messages, of those that came first."""
    one, other = Key(), Key()
    for number in range(5):
        one.seen("x", (f"tcp.{2 * number}", 0), 3, number, (2 * number, ITSELF))
        other.seen("x", (f"tcp.{2 * number + 1}", 0), 3, number, (2 * number + 1, ITSELF))
    one.add(other)
    assert [flow for flow, _ in one.paths] == [f"tcp.{number}" for number in range(8)]


@pytest.mark.parametrize("far", [10**8, 10**6])
def test_intervals_of_groups(far):
    whole, one, other = (OverTime(1) for _ in range(3))
    for collected, times in ((one, (3, far)), (other, (0, 3, 9))):
        collected.began_ns = 0
        for now_ns in times:
            collected.batch(now_ns, 5, 2)
    for now_ns in (0, 3, 3, 9, far):
        whole.batch(now_ns, 5, 2)
    expected = whole.report(0)
    fresh = OverTime(1)
    fresh.began_ns = 0
    fresh.add(one)
    fresh.add(other)
    assert fresh.report(0) == expected


def test_sessions_of_groups():
    first, second, third = (
        ((ns, (place, ITSELF)), {"session": 0, "at": place}) for ns, place in ((5, 1), (5, 2), (4, 3))
    )
    assert [one["at"] for one in numbered(in_groups([second], [first, third]))] == [3, 1, 2]
    assert [one["session"] for one in numbered([second, first])] == [1, 2]
    with pytest.raises(Inseparable):
        in_groups([first], [first])
