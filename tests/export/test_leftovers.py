"""What killed runs leave of an output, and runs that are still under way."""

import os
import signal
import subprocess
import sys

import pytest

from tests.export.tables import SAMPLES, converted, rows
from zdissect.capture import leftovers
from zdissect.export.parquet import Parts, WriteError
from zdissect.export.schema import schema
from zdissect.export.target import Target

fcntl = pytest.importorskip("fcntl")
ONE = {"include": ("pubsub-tcp.pcap",)}
KILLED = """
import os, signal, sys
from pathlib import Path
from tests.export.tables import SAMPLES, converted

out, mode, where = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
rename = Path.rename

def killed(self, target):
    if where in str(target):
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(self, target)

Path.rename = killed
converted(SAMPLES, out, mode=mode, include=("gossip.pcap",))
"""


def _killed(out, mode, where):
    """A run that is killed as it moves something to a place with `where` in its path."""
    command = [sys.executable, "-c", KILLED, str(out), mode, where]
    assert subprocess.run(command, cwd=SAMPLES.parent).returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("mode", "where"),
    [("append", "/out/captures/"), ("append", "/out/messages/"), ("overwrite", "/_old"), ("overwrite", "/out")],
)
def test_a_run_that_was_killed_is_undone_by_the_next(tmp_path, mode, where):
    """Between two moves, when some parts have been appended, or the old tables are out of the way already."""
    out = tmp_path / "out"
    converted(SAMPLES, out, **ONE)
    before = {path: path.stat().st_size for path in out.rglob("*.parquet")}
    _killed(out, mode, where)
    assert len([*tmp_path.iterdir()]) == (1 if where == "/out" else 2)
    with pytest.raises(WriteError, match="exists"):
        converted(SAMPLES, out, **ONE)
    assert {path: path.stat().st_size for path in out.rglob("*.parquet")} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_run_that_is_under_way_is_left_alone(tmp_path):
    out = tmp_path / "out"
    with Target(str(out)) as target:
        converted(SAMPLES, out, **ONE)
        assert target.temporary.is_dir()
        assert len([*tmp_path.iterdir()]) == 2
        with pytest.raises(WriteError, match="exists now: another run has written it meanwhile"):
            target.commit()
    assert len(rows(out, "captures")) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("owner", [None, "another machine", "unlocked"])
def test_what_may_belong_to_others_is_left_alone(tmp_path, owner, monkeypatch):
    """A directory without an owner, one of another machine, and one of this machine whose run is over."""
    left = leftovers.temporary(tmp_path / "out", "0a1b2c3d")
    left.mkdir()
    if owner is not None:
        leftovers.claim(left).close()
    if owner == "another machine":
        monkeypatch.setattr(leftovers.socket, "gethostname", lambda: owner)
    (tmp_path / ".outer.0a1b2c3d.tmp").mkdir()
    (tmp_path / ".out.notes").mkdir()
    leftovers.recover(tmp_path / "out")
    assert left.is_dir() is (owner != "unlocked")
    assert (tmp_path / ".outer.0a1b2c3d.tmp").is_dir()
    assert (tmp_path / ".out.notes").is_dir()


def test_an_attempt_that_still_writes_after_the_commit(tmp_path):
    """It reaches neither the tables nor makes its directory anew."""
    import pyarrow as pa

    def batch(rows):
        return pa.RecordBatch.from_pylist([{}] * rows, schema("sessions"))

    with Target(str(tmp_path / "out")) as target:
        late = target.attempt()
        writer = Parts(late)
        writer.__enter__()
        writer.write("sessions", batch(1 << 17))
        target.commit()
        writer.write("sessions", batch(1 << 17))  # a table that has begun: its file has no name any more
        writer.close()
    assert rows(tmp_path / "out", "sessions") == []
    with pytest.raises(WriteError, match="cannot be written"), Parts(late):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert sorted(os.listdir(tmp_path / "out")) == ["captures", "findings", "messages", "sessions"]


def test_files_that_have_not_arrived_are_missed(tmp_path):
    """As where a worker is another machine, with a disk of its own; or one that was full."""
    with Target(str(tmp_path / "out")) as target:
        for change, says in (
            (os.unlink, "hasn't arrived"),
            (lambda path: os.truncate(path, 9), "has 9 of [0-9]+ bytes"),
        ):
            attempt = target.attempt()
            with Parts(attempt) as parts:
                parts.empty("sessions", schema("sessions"))
            change(f"{attempt}/sessions.parquet")
            with pytest.raises(WriteError, match=rf"sessions\.parquet {says}: all machines must see OUT"):
                target.accept(attempt, parts.written())
