"""Spark that fails, is interrupted, or isn't there: one line that says why, and nothing that looks whole."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.spark.short_lived import ARGUMENTS
from zdissect.export.conversion_settings import Settings
from zdissect.export.directory import Job
from zdissect.spark import failures
from zdissect.spark.background import NO_STAGE, run

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
        (RuntimeError("x: Python worker exited unexpectedly\nCaused by: java.io.EOFException"), "a Python process "),
        (RuntimeError('x\n: j.NullPointerException: Cannot invoke "R.askSync()" because the return value of '
                      '"o.BlockManagerMaster.driverEndpoint()" is null'), "Spark stopped halfway, "),
        (ConnectionRefusedError(111, "Connection refused"), "Java has died, "),
        (RuntimeError(), "it doesn't say why"),
    ],
)  # fmt: skip
def test_reasons_in_words(problem, why):
    assert failures.reason(problem).startswith(why)


class Deadly(Settings):
    """Kills the worker that is given it."""

    def __reduce__(self):
        return os._exit, (1,)


def test_workers_that_die(spark, tmp_path):
    from zdissect.spark import conversion

    job = Job(str(SAMPLES / "pubsub-tcp.pcap"), str(tmp_path / "out"), Deadly())
    with pytest.raises(conversion.SparkFailure, match="a Python process that converted captures died"):
        conversion.convert_directory(spark, job, conversion.captures_of(job), 2, Silent())
    assert not any(tmp_path.iterdir())


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


def _command(directory, *more):
    return [sys.executable, "-m", "zdissect_cli", "batch", str(SAMPLES), "-o", str(directory / "out"), "--spark", *more]
