"""Where the tables go, and what is there already."""

import errno
import os

import pyarrow.parquet as pq
import pytest

from tests.export.tables import SAMPLES, converted, rows
from zdissect.export.parquet import Parts, WriteError
from zdissect.export.tables import TABLES
from zdissect.export.target import Target

ONE = {"include": ("pubsub-tcp.pcap",)}


def _run(tmp_path, **options):
    return converted(SAMPLES, tmp_path / "deep" / "out", **(ONE | options))


def test_every_table_is_there_even_without_rows(tmp_path):
    _run(tmp_path, include=("version-1.0.0.pcap",))
    out = tmp_path / "deep" / "out"
    assert sorted(path.name for path in out.iterdir()) == sorted(TABLES)
    for table in TABLES:
        assert pq.read_schema(next((out / table).iterdir())).names == [column.name for column in TABLES[table]]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]
    assert out.stat().st_mode & 0o777 == 0o777 & ~_umask()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_error_is_the_default(tmp_path):
    _run(tmp_path)
    before = rows(tmp_path / "deep" / "out")
    with pytest.raises(WriteError, match="exists"):
        _run(tmp_path)
    assert rows(tmp_path / "deep" / "out") == before


def test_append(tmp_path):
    _run(tmp_path)
    number = len(rows(tmp_path / "deep" / "out"))
    _run(tmp_path, mode="append")
    assert len(rows(tmp_path / "deep" / "out")) == 2 * number
    assert len(rows(tmp_path / "deep" / "out", "captures")) == 2
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


def test_append_all_or_nothing(tmp_path, monkeypatch):
    _run(tmp_path)
    out = tmp_path / "deep" / "out"
    before = sorted(out.rglob("*"))
    rename = type(out).rename

    def full(self, target):
        if str(target).startswith(str(out / "captures")):
            raise OSError(errno.ENOSPC, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(type(out), "rename", full)
    with pytest.raises(WriteError, match="the disk is full"):
        _run(tmp_path, mode="append")
    monkeypatch.undo()
    assert sorted(out.rglob("*")) == before
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


def test_overwrite(tmp_path):
    _run(tmp_path, include=("query-router.pcap",))
    _run(tmp_path, mode="overwrite")
    assert {row["file"] for row in rows(tmp_path / "deep" / "out")} == {"pubsub-tcp.pcap"}
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_what_isnt_ours_is_left_alone(mode, tmp_path):
    (tmp_path / "deep" / "out").mkdir(parents=True)
    (tmp_path / "deep" / "out" / "thesis.txt").write_text("years of work")
    with pytest.raises(WriteError, match=r"holds other things besides tables \(thesis\.txt\)"):
        _run(tmp_path, mode=mode)
    assert (tmp_path / "deep" / "out" / "thesis.txt").read_text() == "years of work"
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="isn't a directory"):
        converted(SAMPLES, tmp_path / "file", mode=mode, **ONE)


def test_an_empty_directory_is_as_good_as_none(tmp_path):
    (tmp_path / "deep" / "out").mkdir(parents=True)
    _run(tmp_path)
    assert rows(tmp_path / "deep" / "out")


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="cannot be written"):
        converted(SAMPLES, tmp_path / "file" / "out", **ONE)


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(WriteError, match="the disk is full; nothing was kept"):
        _run(tmp_path)
    assert [*(tmp_path / "deep").iterdir()] == []


def test_nothing_is_left_behind_without_commit(tmp_path):
    with Target(str(tmp_path / "out")) as target, Parts(target.attempt()):
        assert any(tmp_path.iterdir())
    assert not any(tmp_path.iterdir())
