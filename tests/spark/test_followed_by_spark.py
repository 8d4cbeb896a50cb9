"""`zdissect batch --spark --follow`: workers take the steps, and the rows are those of one run over all files."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("pyspark")

from tests.growing.following import arrive, cut, job, same, table
from tests.spark import deaths
from tests.spark.short_lived import ARGUMENTS
from zdissect.export.tables import TABLES
from zdissect.growing.checkpoint import described
from zdissect.growing.followed_tables import FollowedTables
from zdissect.growing.follower import Follower
from zdissect.spark import conversion


@pytest.fixture(autouse=True)
def key(tmp_path, monkeypatch):
    """A key of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))


def follow(work, steps):
    """One run, until nothing is left to do."""
    with FollowedTables(work.out, described(work)) as tables:
        follower = Follower(work, tables, steps, quiet_s=0)
        while follower.once() is not None:
            pass


def test_sessions_that_span_files(spark, tmp_path):
    directory, out = tmp_path / "in", tmp_path / "out"
    work = job(directory, out)
    pool = conversion.pool_of(spark, work, 2, False)
    pieces = cut("query-router.pcap", tmp_path / "pieces", 3)
    others = cut("pubsub-tcp.pcap", tmp_path / "others", 3, "y_{:05}_20260102030405.pcap")
    for some in zip(pieces, others, strict=True):
        arrive(some, directory)
        follow(work, conversion.steps_of(pool))
        same(out, directory, tmp_path / "whole")
    assert not any((out / "_follow").glob("work-*"))


def test_a_step_of_which_workers_die(spark, tmp_path):
    """Its files have failed, and what follows is a new capture; all others are converted."""
    directory, out = tmp_path / "in", tmp_path / "out"
    work = job(directory, out)
    steps = conversion.steps_of(conversion.pool_of(spark, work, 2, False))
    pieces = cut("query-router.pcap", tmp_path / "pieces", 3)
    arrive(pieces[:1], directory)
    follow(work, steps)
    before = {name: table(out, name) for name in TABLES}

    def deadly(some):
        return steps([(step._replace(work=deaths.Deadly(step.work.merges)), directory) for step, directory in some])

    arrive(pieces[1:2], directory)
    follow(work, deadly)
    assert set(before["captures"]) < set(table(out, "captures"))
    assert table(out, "messages") == before["messages"]
    arrive(pieces[2:], directory)
    follow(work, steps)
    status = [row.split("'status': ")[1].split(",")[0] for row in table(out, "captures")]
    assert sorted(status) == ["'failed'", "'ok'", "'ok'"]


def test_the_command_ends_on_ctrl_c_and_goes_on(tmp_path):
    directory, out = tmp_path / "in", tmp_path / "out"
    pieces = cut("pubsub-tcp.pcap", tmp_path / "pieces", 2)
    command = [sys.executable, "-m", "zdissect_cli", "batch", directory, "-o", out, "--follow", "--spark", *ARGUMENTS]
    for count in (1, 2):
        arrive(pieces[count - 1 : count], directory)
        process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
        )
        deadline = time.monotonic() + 180
        while not (out / "captures").is_dir() or len(table(out, "captures")) < count:
            assert time.monotonic() < deadline
            assert process.poll() is None, process.communicate()
            time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=90)
        assert process.returncode == 0, said
        assert said.splitlines()[-1] == f"zdissect: ended; the same command goes on. Tables in {out}"
        assert "Traceback" not in said
    same(out, directory, tmp_path / "whole")
