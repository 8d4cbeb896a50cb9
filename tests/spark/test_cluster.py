"""A cluster of its own: master and worker of the pyspark package on the loopback, zdissect shipped as a zip."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from comparing import assert_same

from tests.spark.short_lived import ARGUMENTS, SHORT_LIVED
from zdissect.spark import pack

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"
SHIPPED = r"workers have .*zdissect\.zip/zdissect/__init__"
_READY = r"spark://127\.0\.0\.1:\d+(?=\.?$|\s)|Successfully registered"
WORKERS = ("127.0.0.1", "127.0.0.2")
WHERE = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
if len(sys.argv) == 2:
    spark.addArtifacts(sys.argv[1], pyfile=True)

def where(batches):
    import pyarrow as pa, zdissect
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"place": [zdissect.__file__]})

[(place,)] = spark.range(1).mapInArrow(where, "place string").distinct().collect()
print("workers have", place)
"""
CONVERT = (
    WHERE
    + """
from zdissect_cli.main import main
main()
"""
)


FAIL = """
import os, signal, sys, time
from pyspark import TaskContext
from zdissect.spark import attempts

HOW, AT = sys.argv.pop(1), os.environ["AT"]
of_tasks = attempts.of_tasks

def of_tasks_that_fail(tasks, terms):
    attempt_all = of_tasks(tasks, terms)

    def attempt_and_fail(batches):
        rows = list(attempt_all(batches))  # its files are written
        context = TaskContext.get()
        if context.attemptNumber() == 0 and context.partitionId() == 0:
            open(AT, "w").close()
            if HOW == "raise":
                raise ValueError("failed after writing")
            if HOW == "exit":
                os._exit(1)
            if HOW == "kill":
                with open(f"/proc/{os.getppid()}/stat") as stat:  # of the daemon: its parent is the executor
                    os.kill(int(stat.read().rpartition(")")[2].split()[1]), signal.SIGKILL)
            time.sleep(60)
        yield from rows

    return attempt_and_fail

attempts.of_tasks = of_tasks_that_fail
from zdissect_cli.main import main
main()
"""


@pytest.fixture(scope="module")
def master(tmp_path_factory) -> Iterator[str]:
    """The URL of a cluster with two workers, on machines of their own: Spark doesn't do a task twice at once on one."""
    tmp_path = tmp_path_factory.mktemp("cluster")
    pyspark = pytest.importorskip("pyspark")
    from zdissect.spark import java

    java.provide()
    launch = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["SPARK_DAEMON_JAVA_OPTS"] = SHORT_LIVED
    running, logs = [], []

    def start(kind: str, *arguments: str) -> str:
        name, _, host = kind.partition(" ")
        log = tmp_path / f"{kind}.log"
        with log.open("w") as sink:
            place = f"org.apache.spark.deploy.{name.lower()}.{name}"
            command = [launch, place, "--host", host or "127.0.0.1", *arguments]
            running.append(subprocess.Popen(command, stdout=sink, stderr=sink, env=environment, cwd=tmp_path))
        logs.append(log)
        for _ in range(600):
            found = re.search(_READY, log.read_text(), re.MULTILINE)
            if found:
                return found[0]
            time.sleep(0.1)
        raise AssertionError(log.read_text())

    try:
        url = start("Master", "--port", "0", "--webui-port", "0")
        for name in WORKERS:
            start(
                f"Worker {name}",
                "--cores",
                "1",
                "--memory",
                "1g",
                "--webui-port",
                "0",
                "--work-dir",
                str(tmp_path),
                url,
            )
        yield url
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(30)


@pytest.mark.slow
def test_submitted_work_gives_the_same_rows(master, tmp_path):
    plain, out = tmp_path / "plain", tmp_path / "spark"
    some = ["batch", str(SAMPLES), "--include", "*-router.pcap"]
    subprocess.run([sys.executable, "-m", "zdissect_cli", *some, "-o", str(plain), "-q"], check=True)
    archive = pack(str(tmp_path / "zdissect.zip"))
    arguments = [*some, "-o", str(out), "--spark", "--partitions", "2"]
    said = submit(master, tmp_path, CONVERT, ["--py-files", archive], arguments)
    assert re.search(SHIPPED, said)
    assert_same(plain, out)


@pytest.mark.slow
def test_artifacts_arrive(master, tmp_path):
    assert re.search(SHIPPED, submit(master, tmp_path, WHERE, [], [pack(str(tmp_path / "zdissect.zip"))]))


@pytest.mark.slow
@pytest.mark.parametrize("how", ["raise", "exit", "kill", "speculate"])
def test_what_fails_after_writing_leaves_no_trace(master, tmp_path, monkeypatch, how):
    """The first attempt at the first task raises, its worker exits, its executor is killed, or it is so slow that Spark
    does it twice at once: the rows are those of an undisturbed run, and no file is left that isn't named."""
    plain, out = tmp_path / "plain", tmp_path / "out" / "spark"
    some = ["batch", str(SAMPLES), "--include", "*r*.pcap"]
    subprocess.run([sys.executable, "-m", "zdissect_cli", *some, "-o", str(plain), "-q"], check=False)
    monkeypatch.setenv("AT", str(tmp_path / "failed"))
    speculation = {"speculation": "true", "speculation.quantile": "0.1", "speculation.interval": "50ms"}
    conf = [word for name, value in speculation.items() for word in ("--conf", f"spark.{name}={value}")]
    arguments = [how, *some, "-o", str(out), "--spark", "--partitions", "2"]
    submit(master, tmp_path, FAIL, conf if how == "speculate" else [], arguments)
    assert (tmp_path / "failed").exists()
    assert_same(plain, out)
    assert [path.name for path in out.parent.iterdir()] == ["spark"]
    for table in out.iterdir():
        named = {part["name"] for part in json.loads((table / "_SUCCESS").read_text())["parts"]}
        assert {path.name for path in table.iterdir()} == {*named, "_SUCCESS"}


@pytest.mark.slow
def test_workers_without_zdissect(master, tmp_path):
    """One line says how to ship it."""
    program = "import sys; sys.path.insert(0, sys.argv.pop(1)); " + "from zdissect_cli.main import main; main()"
    bare = tmp_path / "bare"
    bare.mkdir()
    arguments = [str(ROOT), "batch", str(SAMPLES), "-o", str(tmp_path / "out"), "--spark"]
    python = ["--conf", f"spark.executorEnv.PYTHONPATH={bare}"]
    (bare / "zdissect.py").write_text("raise ModuleNotFoundError(\"No module named 'zdissect'\")")
    done = run_submitted(master, tmp_path, program, python, arguments)
    (said,) = [line for line in done.stdout.splitlines() if line.startswith("zdissect: Spark")]  # which takes both
    assert ", no tables were written: workers have no zdissect: install it on all machines, or ship it in a zip" in said
    assert done.returncode == 2
    assert not [path for path in tmp_path.iterdir() if "out" in path.name]


def submit(master, directory, program, options, arguments):
    """What a program prints that is submitted to the cluster."""
    done = run_submitted(master, directory, program, options, arguments)
    assert done.returncode in (0, 1), done.stderr[-3000:]  # 1: some captures can't be read
    return done.stdout


def run_submitted(master, directory, program, options, arguments):
    """A program that was submitted to the cluster, when it has ended."""
    (directory / "program.py").write_text(program)
    command = [str(Path(sys.executable).parent / "spark-submit"), "--master", master, *ARGUMENTS, *options,
               "--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1",
               str(directory / "program.py"), *arguments]  # fmt: skip
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, cwd=directory)
