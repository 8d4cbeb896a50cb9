"""One capture in several processes: the tables are those of one process."""

import multiprocessing
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.export.killers import Deadly, DeadlyInGroups
from tests.export.tables import SAMPLES, converted, rows
from zdissect.export import directory
from zdissect.export.conversion_settings import Settings
from zdissect.export.directory import Report
from zdissect.export.group_decoding import GroupDecoding
from zdissect.export.inputs import InputFile, Work, find, plan
from zdissect.export.tables import TABLES
from zdissect.export.work import convert_group, look
from zdissect.parallel.split import Split

SESSIONS = ("query-router.pcap", "scouting-multicast.pcap", "gossip.pcap")


def same(one: Path, other: Path) -> bool:
    """Whether two conversions have the same rows, in whatever order."""
    return all(Counter(map(str, rows(one, name))) == Counter(map(str, rows(other, name))) for name in TABLES)


def both_ways(out: Path, **options: object) -> tuple[Report, Report]:
    """Converts samples in this process, and each capture in groups in two; the tables are the same."""
    plain = converted(SAMPLES, out / "plain", include=SESSIONS, **options)
    apart = converted(SAMPLES, out / "apart", include=SESSIONS, jobs=2, split_bytes=0, **options)
    assert same(out / "plain", out / "apart")
    assert apart.done.rows == plain.done.rows
    assert apart.done.codes == plain.done.codes
    assert +apart.done.accounting == +plain.done.accounting
    assert sorted(one.file for one in apart.done.files) == sorted(one.file for one in plain.done.files)
    assert sorted(path.name for path in out.iterdir()) == ["apart", "plain"]
    assert not multiprocessing.active_children()
    return plain, apart


@pytest.mark.parametrize("join", ["auto", "one"])
def test_the_tables_are_the_same(join, tmp_path):
    both_ways(tmp_path, join=join)
    parts = list((tmp_path / "apart" / "messages").iterdir())
    assert len(parts) > (len(SESSIONS) if join == "auto" else 1), "a capture was decoded in groups"


def test_a_capture_that_was_split_wrongly_is_decoded_again(tmp_path, monkeypatch):
    monkeypatch.setattr("zdissect.export.large_captures.unsound", lambda groups: {one.group.capture for one in groups})
    both_ways(tmp_path)
    assert len(list((tmp_path / "apart" / "messages").iterdir())) == len(SESSIONS)


def test_a_capture_that_cannot_be_split_is_decoded_as_a_whole(tmp_path):
    """One session is one group."""
    converted(SAMPLES, tmp_path / "out", include=("pubsub-tcp.pcap",), jobs=2, split_bytes=0)
    converted(SAMPLES, tmp_path / "plain", include=("pubsub-tcp.pcap",))
    assert same(tmp_path / "plain", tmp_path / "out")


def deadly(kind: type[Work]) -> Callable[[list[InputFile], str], list[Work]]:
    """Plans as batch does; one capture is of this kind."""
    return lambda files, mode: [
        kind(one.merges) if one.inputs[0].name == "gossip.pcap" else one for one in plan(files, mode)
    ]


def test_processes_that_die_in_groups(tmp_path, monkeypatch):
    """The capture is decoded as a whole, in a process of its own."""
    monkeypatch.setattr(directory, "plan", deadly(DeadlyInGroups))
    _, apart = both_ways(tmp_path)
    assert not apart.bad


def test_a_process_that_always_dies_takes_its_capture_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr(directory, "plan", deadly(Deadly))
    report = converted(SAMPLES, tmp_path / "out", include=SESSIONS, jobs=2, split_bytes=0)
    assert [one.file for one in report.bad] == ["gossip.pcap"]
    status = {row["file"]: row["status"] for row in rows(tmp_path / "out", "captures")}
    assert status == dict.fromkeys(SESSIONS, "ok") | {"gossip.pcap": "failed"}
    assert {row["file"] for row in rows(tmp_path / "out")} == {"query-router.pcap", "scouting-multicast.pcap"}


def test_a_cut_file_is_told_of_once(tmp_path):
    captures = tmp_path / "in"
    captures.mkdir()
    data = (SAMPLES / "query-router.pcap").read_bytes()
    (captures / "cut.pcap").write_bytes(data[: len(data) * 2 // 3 + 1])
    for name, options in (("plain", {}), ("apart", {"jobs": 2, "split_bytes": 0})):
        converted(captures, tmp_path / name, **options)
    assert same(tmp_path / "plain", tmp_path / "apart")
    (row,) = rows(tmp_path / "apart", "captures")
    assert row["status"] == "cut"
    assert row["findings"] == len(rows(tmp_path / "apart", "findings"))
    assert sum(one["code"] == "capture-cut" for one in rows(tmp_path / "apart", "findings")) == 1


def test_a_group_with_a_fault_says_that_it_is_not_sound(tmp_path, monkeypatch):
    """So the capture is decoded as a whole, which tells what is wrong."""

    def fault(self):
        raise ValueError("a fault")

    (one,) = plan(find(str(SAMPLES / "gossip.pcap")))
    split = Split.load(look(one, Settings(), 2).split)
    for sound in (True, False):
        done = convert_group(one, split, 0, str(tmp_path / f"{sound}"), Settings(), lambda *_: None)
        assert done.group is not None
        assert done.group.group.sound is sound
        monkeypatch.setattr(GroupDecoding, "close", fault)
