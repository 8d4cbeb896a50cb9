"""Spark Connect: a server of its own on the loopback, and clients that have no Java."""

import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
sys.path.insert(0, str(Path(__file__).parent))
from comparing import assert_same

from tests.export.tables import frames, write_pcap
from tests.spark.short_lived import ARGUMENTS
from zdissect.export.decoding import decode_sessions
from zdissect.export.tables import MESSAGES
from zdissect.parallel.split import SPLIT_BYTES
from zdissect.records import Frame

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"
SECONDS = 120
MISSING = [name for name in ("grpc", "grpc_status", "google.rpc", "zstandard") if find_spec(name.split(".")[0]) is None]
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}: pip install 'pyspark[connect]'"),
]

NOTEBOOK = """
import json, sys
from pyspark.sql import SparkSession
from pyspark.sql.functions import spark_partition_id

import zdissect.spark

master, directory, large = sys.argv[1:]
spark = SparkSession.builder.remote(master).getOrCreate()
options = {"payload": "none", "include": "gossip.pcap,query-router.pcap"}

def kinds(messages):
    return {row["message"]: row["count"] for row in messages.groupBy("message").count().collect()}

read = kinds(zdissect.spark.read_messages(spark, directory, **options))
loaded = kinds(spark.read.format("zenoh").options(**options).load(directory))
by_task = zdissect.spark.read_messages(spark, large).groupBy(spark_partition_id()).count().collect()
print(json.dumps([read, loaded, [count for _, count in by_task]]))
"""
DEADLY = """
import sys
from pyspark.sql import SparkSession

from tests.spark import deaths
from zdissect.export.directory import Job
from zdissect.spark import conversion

class Silent:
    begin = update = lambda *_: None

master, directory, out = sys.argv[1:]
spark = SparkSession.builder.remote(master).getOrCreate()
job = Job(directory, out, include=("gossip.pcap", "pubsub-tcp.pcap", "query-router.pcap"))
works = conversion.captures_of(job)
deadly = [deaths.Deadly(work.merges) if work.inputs[0].name == "gossip.pcap" else work for work in works]
report = conversion.convert_directory(spark, job, deadly, 2, Silent())
print(*(f"{one.file} {one.status}" for one in report.bad))
"""


@pytest.fixture(scope="module")
def master(tmp_path_factory) -> Iterator[str]:
    """The URL of a server with two tasks at once, which makes one attempt at each."""
    from zdissect.spark import java

    java.provide()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    place = tmp_path_factory.mktemp("server")
    conf = [f"spark.connect.grpc.binding.port={port}", "spark.ui.enabled=false", "spark.sql.codegen.wholeStage=false"]
    command = [str(Path(sys.executable).parent / "spark-submit"), "--master", "local[2]", "--class", SERVER,
               *ARGUMENTS, *(word for setting in conf for word in ("--conf", setting)), "spark-internal"]  # fmt: skip
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with (place / "log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=place)
    try:
        for _ in range(SECONDS * 5):
            assert server.poll() is None, (place / "log").read_text()[-3000:]
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.2)
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(SECONDS)


def client(program: str, *arguments: object) -> str:
    """What a program prints that has no Java."""
    hidden = ("JAVA_HOME", "SPARK_HOME", "SPARK_REMOTE")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_a_notebook(master, tmp_path):
    """`read_messages` and the format; a capture that is large enough is shared by tasks."""
    large = tmp_path / "large.pcap"
    some = frames(SAMPLES / "gossip.pcap")
    idle = Frame("", 0, some[-1].ts_ns, 1, 60_000, bytes(12) + b"\x88\xb5" + bytes(60_000 - 14))  # no sessions in it
    write_pcap(large, [*some, *[idle] * (SPLIT_BYTES // 60_000 + 1)])
    read, loaded, by_task = json.loads(client(NOTEBOOK, master, SAMPLES, large))
    wanted = Counter(kinds("gossip.pcap")) + Counter(kinds("query-router.pcap"))
    assert read == loaded == wanted
    assert len(by_task) > 1
    assert sum(by_task) == len(kinds("gossip.pcap"))


def kinds(name: str) -> list[str]:
    """The kinds of the messages of a sample."""
    batches = decode_sessions(frames(SAMPLES / name))
    return [kind for table, batch in batches if table == MESSAGES for kind in batch.column("message").to_pylist()]


def test_all_tables(master, tmp_path):
    plain, out = tmp_path / "plain", tmp_path / "out"
    some = [sys.executable, "-m", "zdissect_cli", "batch", str(SAMPLES), "--include", "*-router.pcap", "-q"]
    subprocess.run([*some, "-o", str(plain)], check=True)
    subprocess.run([*some, "-o", str(out), "--spark", "--master", master], check=True)
    assert_same(plain, out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "plain"]


def test_a_worker_that_always_dies_costs_its_capture(master, tmp_path):
    """Spark gives up the job, and says why in another way than without Connect."""
    assert client(DEADLY, master, SAMPLES, tmp_path / "out") == "gossip.pcap failed\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
