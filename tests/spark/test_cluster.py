"""A cluster of its own: master and worker of the pyspark package on the loopback, zdissect shipped as a zip."""

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

SAMPLES = Path(__file__).parents[2] / "samples"
SHIPPED = r"workers have .*zdissect\.zip/zdissect/__init__"
_READY = r"spark://127\.0\.0\.1:\d+(?=\.?$|\s)|Successfully registered"
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


@pytest.fixture(scope="module")
def master(tmp_path_factory) -> Iterator[str]:
    """The URL of a cluster with one worker."""
    tmp_path = tmp_path_factory.mktemp("cluster")
    pyspark = pytest.importorskip("pyspark")
    from zdissect.spark import java

    java.provide()
    launch = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["SPARK_DAEMON_JAVA_OPTS"] = SHORT_LIVED
    running, logs = [], []

    def start(name: str, *arguments: str) -> str:
        log = tmp_path / f"{name}.log"
        with log.open("w") as sink:
            command = [launch, f"org.apache.spark.deploy.{name.lower()}.{name}", "--host", "127.0.0.1", *arguments]
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
        start("Worker", "--cores", "2", "--memory", "1g", "--webui-port", "0", "--work-dir", str(tmp_path), url)
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


def submit(master, directory, program, options, arguments):
    """What a program prints that is submitted to the cluster."""
    (directory / "program.py").write_text(program)
    command = [str(Path(sys.executable).parent / "spark-submit"), "--master", master, *ARGUMENTS, *options,
               "--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1",
               str(directory / "program.py"), *arguments]  # fmt: skip
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, cwd=directory)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
