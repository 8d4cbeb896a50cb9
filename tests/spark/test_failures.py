"""Spark that fails, is interrupted, or isn't there: one line that says why, and nothing that looks whole."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark")
sys.path.insert(0, str(Path(__file__).parent))
from comparing import assert_same, rows

from tests.spark import deaths
from tests.spark.short_lived import ARGUMENTS
from zdissect.export.conversion_settings import Settings
from zdissect.export.directory import Job
from zdissect.export.parquet import WriteError
from zdissect.export.workers import CapturesTask, ScanTask
from zdissect.spark import conversion, failures, task_pool
from zdissect.spark.background import NO_STAGE, run
from zdissect.spark.task_pool import SparkPool, _Attempted

SAMPLES = Path(__file__).parents[2] / "samples"
SECONDS = 60


class Silent:
    """A watch that looks away."""

    begin = update = lambda *_: None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("An error occurred while calling None.X.\n: org.a.SparkException: Could not parse 'x'\n\tat org.a.B(C.c:1)",
         "Could not parse 'x'"),
        ("An error\n: org.a.E$Exception: all of it\n\tat x\nCaused by: java.io.IOException: that one\n\tat y\n\t... 9",
         "that one"),
        ("Caused by: java.io.EOFException\n\tat y", "Caused by: java.io.EOFException"),
        ('WARNING: x\nException in thread "main" org.a.SparkException: Master must be\n\tat y', "Master must be"),
        ("Invalid maximum heap size: -Xmxlots\nError: Could not create the Java Virtual Machine.\n"
         "Error: A fatal exception has occurred. Program will exit.", "Invalid maximum heap size: -Xmxlots"),
        ("26/11/28 02:35:16 WARN Utils: one\n26/11/28 02:35:16 ERROR Manager: two", "two"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_line_that_matters(text, why):
    assert failures.cause(text) == why


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (RuntimeError("x\nCaused by: java.io.IOException: No space left on device\n\tat y"), "the disk is full; "),
        (RuntimeError("x\nCaused by: java.lang.OutOfMemoryError: Java heap space"), "Java has too little memory; "),
        (RuntimeError("x\n ModuleNotFoundError: No module named 'zdissect'"), "workers have no zdissect: install it "),
        (RuntimeError("x: Python worker exited unexpectedly\nCaused by: java.io.EOFException"), "a Python process "),
        (RuntimeError('x\n: j.NullPointerException: Cannot invoke "R.askSync()" because the return value of '
                      '"o.BlockManagerMaster.driverEndpoint()" is null'), "Spark stopped halfway, "),
        (RuntimeError("[PACKAGE_NOT_INSTALLED] grpcio >= 1.48.1 must be installed; however, it was not found."),
         "Spark Connect needs more packages: pip install 'pyspark[connect]'"),
        (ConnectionRefusedError(111, "Connection refused"), "Java has died, "),
        (RuntimeError(), "it doesn't say why"),
    ],
)  # fmt: skip
def test_reasons_in_words(problem, why):
    assert failures.reason(problem).startswith(why)


@pytest.mark.parametrize("deadly", [{"gossip.pcap"}, {"gossip.pcap", "query-router.pcap"}])
def test_a_worker_that_always_dies_costs_its_capture(spark, tmp_path, deadly):
    """As without Spark; this session makes one attempt at each task, so Spark gives up the job."""
    job = Job(str(SAMPLES), str(tmp_path / "out"), include=("gossip.pcap", "query-router.pcap", "pubsub-*.pcap"))
    works = [
        deaths.Deadly(work.merges) if work.inputs[0].name in deadly else work for work in conversion.captures_of(job)
    ]
    report = conversion.convert_directory(spark, job, works, 2, Silent())
    assert {one.file for one in report.bad} == deadly
    status = {row["file"]: row["status"] for row in rows(tmp_path / "out", "captures")}
    assert len(status) == 3
    assert status == {name: "failed" if name in deadly else "ok" for name in status}
    assert {row["file"] for row in rows(tmp_path / "out", "messages")} == status.keys() - deadly
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("master", "conf", "attempts"),
    [("local", {}, 1), ("local[*]", {}, 1), ("local[2]", {}, 1), ("local[*,2]", {}, 2), ("spark://x:1", {}, 4),
     ("local-cluster[2,1,512]", {}, 4), ("yarn", {"spark.task.maxFailures": "7"}, 7)],
)  # fmt: skip
def test_how_often_spark_tries(master, conf, attempts):
    session = SimpleNamespace(conf=conf | {"spark.master": master})
    assert task_pool.allowed(session) == attempts


def test_a_full_disk_is_told_after_a_second_attempt(spark, tmp_path, monkeypatch):
    """On another machine there may be room."""
    failing = SparkPool(spark, Settings(), 2, False)
    (work,) = conversion.captures_of(Job(str(SAMPLES / "gossip.pcap"), str(tmp_path / "out")))
    task = CapturesTask((work,), str(tmp_path / "1"))
    calls = []

    def job(tasks):
        calls.append(tasks)
        return [_Attempted(one, None, "OUT: the disk is full") for one in tasks]

    monkeypatch.setattr(failing, "job", job)
    with pytest.raises(WriteError, match="OUT: the disk is full"):
        list(failing.run([task], print))
    assert calls == [[task], [task]]


def test_an_output_that_workers_do_not_see(spark, tmp_path):
    """Here it has gone; on a cluster it is on another machine's disk."""
    pool = SparkPool(spark, Settings(), 2, False)
    (work,) = conversion.captures_of(Job(str(SAMPLES / "gossip.pcap"), str(tmp_path / "out")))
    with pytest.raises(WriteError, match="workers on other machines don't see it: OUT must be in a place that all"):
        list(pool.run([CapturesTask((work,), str(tmp_path / "gone" / "1"))], print))


def test_workers_with_another_version(spark, tmp_path):
    pool = SparkPool(spark, Settings(), 2, False)
    pool.terms = pool.terms._replace(version="0.0.1")
    (work,) = conversion.captures_of(Job(str(SAMPLES / "gossip.pcap"), str(tmp_path / "out")))
    with pytest.raises(WriteError, match=r"workers have zdissect .*, but this is 0\.0\.1: install the same"):
        list(pool.run([CapturesTask((work,), str(tmp_path / "1"))], print))


def test_results_that_are_not_one_for_each_task(spark, monkeypatch):
    pool = SparkPool(spark, Settings(), 2, False)
    monkeypatch.setattr("zdissect.spark.attempts.of_tasks", lambda tasks, terms: lambda batches: iter(()))
    with pytest.raises(WriteError, match="Spark returned 0 results of 1 tasks"):
        list(pool.run([ScanTask((), 2)], print))


class Session:
    """One whose job ends when it is interrupted for the third time."""

    def __init__(self):
        self.asked = 0
        self.over = threading.Event()

    def interruptAll(self):  # noqa: N802 (Spark's name)
        self.asked += 1
        if self.asked == 1:
            raise RuntimeError("lost")
        if self.asked == 3:
            self.over.set()

    def job(self):
        assert self.over.wait(SECONDS)
        raise ValueError("cancelled")


def test_an_interrupt_waits_for_the_end_of_the_job():
    session = Session()

    def tell(stages):
        assert stages == NO_STAGE  # this session tells nothing
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(session, session.job, tell)
    assert session.over.is_set()


def test_what_the_job_gives_or_raises():
    assert run(Session(), lambda: threading.current_thread() is threading.main_thread(), print) is False
    with pytest.raises(ZeroDivisionError):
        run(Session(), lambda: 1 // 0, print)


@pytest.mark.parametrize("master", ["spark://127.0.0.1:1", "spark://127.0.0.1:1,localhost:1", "sc://127.0.0.1:1/;x=y"])
def test_nobody_answers(master, tmp_path):
    done = subprocess.run(_command(tmp_path, "--master", master), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(rf"zdissect: no Spark answers at {re.escape(master)} \(.*refused\)\n", done.stderr)
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("conf", "says"),
    [("spark.driver.memory=lots", "Invalid maximum heap size"), ("spark.local.dir=/proc/x", "Failed to create")],
)
def test_settings_with_which_it_cannot_start(conf, says, tmp_path):
    done = subprocess.run(_command(tmp_path, "--conf", conf), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"zdissect: Spark can't be started: {says}")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted(number, code, tmp_path):
    """As a terminal does it: the signal goes to all processes."""
    process = subprocess.Popen(
        _command(tmp_path, *ARGUMENTS),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    while process.poll() is None and not [*tmp_path.glob(".out.*")]:
        time.sleep(0.02)
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out) == (code, "")
    said = [line for line in err.splitlines() if " files, " not in line]  # how far it was
    assert said == (["zdissect: interrupted: no tables were written"] if code == 130 else [])
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
def test_a_driver_that_is_killed(tmp_path):
    """The next run removes what it has left, and gives the rows of an undisturbed one."""
    process = subprocess.Popen(_command(tmp_path, *ARGUMENTS), stderr=subprocess.DEVNULL, start_new_session=True)
    while process.poll() is None and not [*tmp_path.glob(".out.*/_1.*")]:
        time.sleep(0.02)
    process.kill()
    process.wait()
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".out.")
    plain = tmp_path / "plain"
    subprocess.run([word for word in _command(plain) if word != "--spark"], stderr=subprocess.DEVNULL, check=True)
    subprocess.run(_command(tmp_path, *ARGUMENTS), stderr=subprocess.DEVNULL, check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "plain"]
    assert_same(plain / "out", tmp_path / "out")


def _command(directory, *more):
    return [sys.executable, "-m", "zdissect_cli", "batch", str(SAMPLES), "-o", str(directory / "out"), "--spark", *more]
