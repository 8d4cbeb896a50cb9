"""Which files are one capture."""

import pytest

from zdissect.export.families import FamilyMember, TimeRange, captures, families, family, overlapping

S = 10**9


@pytest.mark.parametrize(
    "names",
    [
        ["a.pcap", "a.pcap1", "a.pcap2", "a.pcap10"],
        ["a.pcap00", "a.pcap01"],
        ["d/a_00001_20260102030405.pcap", "d/a_00002_20260102030409.pcap"],
        ["a_00001_20260102030405.pcapng.gz", "a_00002_20260102030409.pcapng"],
        ["a.part0.pcap", "a.part1.pcap", "a.part10.pcap"],
        ["a-2026-01-02_03:04:05.pcap", "a-2026-01-02_03:09:05.pcap", "a-2026-01-03_00:00:05.pcap"],
        ["20260102-030405-eth0.pcap", "20260102-030505-eth0.pcap"],
        ["a-20260102030405.pcap", "a-20260102030405.pcap1", "a-20260102030505.pcap"],
        ["a.pcap1.gz", "a.pcap2.gz", "a.pcap3"],
    ],
)
def test_families_in_order(names):
    assert families(reversed(names)) == [names]


@pytest.mark.parametrize(
    "names",
    [
        ["16-version-1.2.0.pcap", "16-version-1.2.1.pcap"],
        ["a/x.pcap", "b/x.pcap1"],
        ["x.pcap", "x.pcapng"],
        ["run1.pcap", "run2.pcap"],
        ["a_00001_20260102030405.pcap", "b_00002_20260102030405.pcap"],
        ["x.part0.pcap", "x.pcap"],
        ["robot-20260102.pcap", "robot-20260103.pcap"],
    ],
)
def test_names_that_are_no_family(names):
    assert len({family(name)[0] for name in names}) == len(names)


def _parts(*spans):
    return [FamilyMember(f"x.pcap{n}", span and TimeRange(*span)) for n, span in enumerate(spans)]


@pytest.mark.parametrize(
    ("spans", "wanted"),
    [
        ([(0, S), (S, 2 * S), (3 * S, 4 * S)], ["012"]),
        ([(2 * S, 3 * S), (0, S), (S, 2 * S)], ["120"]),  # a ring: the first was written again
        ([(0, 2 * S), (S, 3 * S)], ["0", "1"]),
        ([(0, S), (0, S)], ["0", "1"]),
        ([(0, S), None, (S, 2 * S)], ["02", "1"]),
        ([(0, S), (S, 3 * S), (2 * S, 4 * S), (4 * S, 5 * S), (5 * S, 6 * S)], ["0", "1", "2", "34"]),
        ([(0, 100 * S), (99 * S + S // 2, 200 * S)], ["01"]),  # frames a little out of order
        ([(0, 0), (0, 0), (0, 0)], ["012"]),  # no times at all
    ],
)
def test_times_decide(spans, wanted):
    assert captures(_parts(*spans)) == sorted([[f"x.pcap{n}" for n in one] for one in wanted])


def test_one_capture_merges_what_overlaps():
    assert overlapping(_parts((0, 2 * S), (S, 3 * S), (3 * S, 4 * S))) == [["x.pcap0", "x.pcap1"], ["x.pcap2"]]
