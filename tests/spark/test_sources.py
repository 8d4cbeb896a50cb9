"""The data sources, and what notebooks use."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from zdissect.export.conversion_settings import Settings
from zdissect.export.inputs import find, plan
from zdissect.parallel.split import Split
from zdissect.spark.source_options import SourceOptions

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"


def expected(name: str = "") -> "list[dict]":
    from zdissect.export.decoding import decode_sessions
    from zdissect.export.merging import frames

    out = []
    for work in plan([one for one in find(str(SAMPLES)) if name in one.name]):
        files = {}
        for table, batch in decode_sessions(frames(work, files), files=files):
            out += batch.to_pylist() if table == "messages" else []
    return out


def test_messages(spark):
    from zdissect.spark import read_messages

    messages = read_messages(spark, str(SAMPLES), payload="none")
    found = {(row["message"], row["count"]) for row in messages.groupBy("message").count().collect()}
    kinds = [row["message"] for row in expected()]
    assert found == {(kind, kinds.count(kind)) for kind in kinds}


def test_a_large_capture_is_read_by_many_tasks(spark, monkeypatch):
    """By groups of sessions; the rows are those of one task. A capture is large enough here."""
    from zdissect.spark import datasource, portions, read_messages

    monkeypatch.setattr(datasource, "portions", lambda *given: portions.portions(*given, split_bytes=0))
    options = SourceOptions.of({"path": str(SAMPLES), "partitions": "3"})
    partitions = datasource._MessagesReader(options).partitions()
    assert len(partitions) > len({partition.value.work for partition in partitions})
    found = [row for part in partitions for batch in datasource._MessagesReader(options).read(part)
             for row in batch.to_pylist()]  # fmt: skip
    assert sorted(map(repr, found)) == sorted(map(repr, expected()))
    several = read_messages(spark, str(SAMPLES / "gossip.pcap"), partitions=3)
    assert several.count() == len(expected("gossip"))


def test_groups_that_depend_on_each_other(monkeypatch):
    """The rows of the others can't be called back: so it is said how to read the capture."""
    from zdissect.spark import portions

    works = plan(find(str(SAMPLES / "gossip.pcap")))
    some = portions.portions(works, Settings(), 3, split_bytes=0)
    assert len(some) > 1
    split = Split.load(some[0].split)
    for wrong in (split._replace(pairs=[[]] * 3), split._replace(numbers=[[]] * 3)):
        told = [portion._replace(split=wrong.json()) for portion in some]
        with pytest.raises(portions.DependentGroups, match=r"gossip\.pcap: .* with the option partitions=1"):
            [list(portions.messages(portion, Settings())) for portion in told]


def test_filters_are_pushed_down(spark):
    from zdissect.spark import read_messages

    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    messages = read_messages(spark, f"file://{SAMPLES}")
    some = messages.where("file = 'pubsub-tcp.pcap' and message = 'PUSH' and payload_len > 3 and key_expr like 'nano%'")
    wanted = [
        row for row in expected("pubsub-tcp")
        if row["message"] == "PUSH" and (row["payload_len"] or 0) > 3 and (row["key_expr"] or "").startswith("nano")
    ]  # fmt: skip
    assert some.count() == len(wanted) > 0
    spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_frames(spark):
    from zdissect.capture import open_capture
    from zdissect.spark import register

    register(spark)
    path = str(SAMPLES / "timestamp-stack.pcapng")
    found = spark.read.format("zenoh-frames").load(path).orderBy("number").collect()
    with open_capture(path) as capture:
        assert [(row.number, row.ts_ns, row.link, row.wire_len, bytes(row.data)) for row in found] == [
            (frame.number, frame.ts_ns, frame.link, frame.wire_len, frame.data) for frame in capture
        ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"payload": "much"}, "payload"),
        ({"ports": "70000"}, "ports"),
        ({"join": "x"}, "join"),
        ({"partitions": "0"}, "partitions"),
        ({"partitions": "-1"}, "partitions"),
        ({"filter": "sn = 5"}, "filter"),
        ({"filter": "request.answered == true"}, "filter"),
    ],
)
def test_options_are_checked(options, says):
    with pytest.raises(ValueError, match=says):
        SourceOptions.of({"path": "x", **options})


@pytest.mark.parametrize("source", ["zenoh", "zenoh-frames"])
def test_a_place_that_is_not_there(source, spark, tmp_path):
    """Said with `load`; a directory without captures when it is read, as more may come."""
    from pyspark.errors import PySparkException

    from zdissect.spark import register

    register(spark)
    for place in (tmp_path / "nowhere", (tmp_path / "nowhere").as_uri(), tmp_path / "capture.pcap"):
        with pytest.raises(PySparkException, match="there is no such file or directory"):
            spark.read.format(source).load(str(place))
    some = spark.read.format(source).load(str(tmp_path))
    with pytest.raises(PySparkException, match="no captures in"):
        some.count()


def test_conditions():
    import pyarrow as pa
    from pyspark.sql import datasource as ds

    from zdissect.spark.filters import Conditions

    batch = pa.RecordBatch.from_pydict({"file": ["a", "b", None], "size": [1, 2, None]})

    def kept(*filters: ds.Filter) -> "list[str | None]":
        return Conditions(filters).keep(batch).column("file").to_pylist()

    assert kept(ds.EqualTo(("file",), "a")) == ["a"]
    assert kept(ds.In(("size",), (2, 3))) == ["b"]
    assert kept(ds.GreaterThan(("size",), 0), ds.StringStartsWith(("file",), "b")) == ["b"]
    assert kept(ds.IsNull(("size",))) == [None]
    assert kept(ds.EqualTo(("size",), "1")) == ["a", "b", None]  # left to Spark
    assert not Conditions([ds.EqualTo(("file",), "c")]).allow("a")


def test_the_example_of_the_documentation(spark, monkeypatch):
    """The notebook of docs/spark.md runs as it stands."""
    text = (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")
    example = re.search(r"```python notebook\n(.*?)```", text, re.DOTALL)
    assert example is not None
    monkeypatch.chdir(ROOT)
    exec(compile(example[1].replace('"captures"', '"samples"'), "docs/spark.md", "exec"), {"spark": spark})


def test_workers_run_the_python_that_imports_it():
    """And not the one that PATH has; unless one is named."""
    code = "import os, zdissect.spark; print(os.environ['PYSPARK_PYTHON'])"
    env = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    for given, wanted in (({}, sys.executable), ({"PYSPARK_PYTHON": "python9"}, "python9")):
        done = subprocess.run([sys.executable, "-c", code], env=env | given, capture_output=True, text=True)
        assert done.stdout.strip() == wanted, done.stderr


def test_a_session_that_was_there_before(spark, monkeypatch):
    """It runs the `python3` of PATH, which may be another one or none."""
    from zdissect.spark import register

    monkeypatch.setattr(spark.sparkContext, "pythonExec", "python3")
    register(spark)
    assert spark.sparkContext.pythonExec == sys.executable
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "python9")
    register(spark)
    assert spark.sparkContext.pythonExec == "python9"
