"""Several processes, some of which die."""

import multiprocessing
import re
import shutil

import pytest

from tests.export.killers import Deadly
from tests.export.tables import SAMPLES, converted, rows, where
from zdissect.export import directory, workers
from zdissect.export.directory import bundle
from zdissect.export.inputs import InputFile, Work
from zdissect.export.parquet import WriteError
from zdissect.export.tables import TABLES


def _work(size):
    return Work(((InputFile(f"{size}.pcap", "", size),),))


def test_bundles():
    works = [_work(size) for size in (10, 1000, 20, 30, 40)]
    assert [[work.size for work in one] for one in bundle(works, 2)] == [[1000], [40, 30, 20, 10]]
    assert [[work.size for work in one] for one in bundle(works, 10)] == [[1000], [40], [30], [20], [10]]
    assert bundle([], 2) == []


@pytest.fixture
def captures(tmp_path):
    """Some captures."""
    path = tmp_path / "in"
    path.mkdir()
    for name in ("a", "b", "c", "d", "e"):
        shutil.copy(SAMPLES / "query-router.pcap", path / f"{name}.pcap")
    return path


@pytest.mark.parametrize(
    "deadly", [{"c.pcap"}, {"a.pcap", "e.pcap"}, {"a.pcap", "b.pcap", "c.pcap", "d.pcap", "e.pcap"}]
)
def test_one_that_dies_takes_only_its_capture_with_it(deadly, captures, tmp_path, monkeypatch):
    plan = directory.plan

    def some_are_deadly(files, mode):
        works = plan(files, mode)
        return [Deadly(work.merges) if work.inputs[0].name in deadly else work for work in works]

    monkeypatch.setattr(directory, "plan", some_are_deadly)
    report = converted(captures, tmp_path / "out", jobs=2)
    status = {row["file"]: row["status"] for row in rows(tmp_path / "out", "captures")}
    assert status == {
        f"{name}.pcap": "failed" if f"{name}.pcap" in deadly else "ok" for name in ("a", "b", "c", "d", "e")
    }
    assert {file_stats.file for file_stats in report.bad} == deadly
    assert len(rows(tmp_path / "out")) == 310 * (5 - len(deadly))
    assert {row["file"] for row in rows(tmp_path / "out", "findings") if row["code"] == "capture-failed"} == deadly
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(TABLES)
    assert not multiprocessing.active_children()


def test_output_that_cannot_be_written_ends_it(captures, tmp_path, monkeypatch):
    """Told by a process, here: its directory is gone."""
    attempt = directory.Target.attempt
    monkeypatch.setattr(directory.Target, "attempt", lambda self: attempt(self) + "/gone")
    with pytest.raises(WriteError, match=f"^{re.escape(str(tmp_path / 'out'))}: it cannot be written"):
        converted(captures, tmp_path / "out", jobs=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]
    assert not multiprocessing.active_children()


def test_an_interrupt_leaves_nothing(captures, tmp_path):
    class Interrupted:
        def begin(self, files, size):
            pass

        def update(self, files, size, messages):
            raise KeyboardInterrupt

    job = directory.Job(str(captures), str(tmp_path / "out"), jobs=2)
    with pytest.raises(KeyboardInterrupt):
        directory.convert_directory(job, Interrupted())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]
    assert not multiprocessing.active_children()


def test_what_is_told_adds_up(captures, tmp_path):
    seen = []

    class Watch:
        def begin(self, files, size):
            seen.append((files, size))

        def update(self, files, size, messages):
            seen.append((files, size, messages))

    for jobs in (1, 2):
        seen.clear()
        directory.convert_directory(directory.Job(str(captures), str(tmp_path / f"out{jobs}"), jobs=jobs), Watch())
        size = sum(path.stat().st_size for path in captures.iterdir())
        assert seen[0] == (5, size)
        assert seen[-1] == (5, size, 1550)
    assert sorted(rows(tmp_path / "out1"), key=where) == sorted(rows(tmp_path / "out2"), key=where)


def test_little_is_converted_without_other_processes(captures, tmp_path, monkeypatch):
    """They would have to start first. If a number of processes is asked for, there are some nevertheless."""
    begun = []
    run = workers.run
    monkeypatch.setattr(workers, "run", lambda tasks, *rest: begun.append(len(tasks)) or run(tasks, *rest))
    size = sum(path.stat().st_size for path in captures.iterdir())
    for name, small, jobs in (("small", size, 0), ("asked", size, 2), ("large", size - 1, 0)):
        monkeypatch.setattr(directory, "_SMALL", small)
        converted(captures, tmp_path / name, jobs=jobs)
        assert bool(begun) == (name != "small"), name
        begun.clear()
    assert not multiprocessing.active_children()
