"""The columns of ROS 2 in the table of messages: what arrays give is what each row gives, and what was sent."""

import json

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.cli.listings import SAMPLES, run
from tests.ros2.truth import NAMES, ROS, same, truth
from zdissect.capture import open_capture
from zdissect.export.conversion_settings import Settings
from zdissect.export.decoding import decode_sessions
from zdissect.export.ros_columns import RosColumns
from zdissect.export.schema import schema
from zdissect.ros2.content import Contents
from zdissect.ros2.message_columns import ROS2_NAMES, ros_values

pytest.importorskip("rosbags")
each = pytest.mark.parametrize("name", NAMES)


def messages(path, **settings):
    with open_capture(str(path)) as frames:
        batches = [batch for table, batch in decode_sessions(frames, Settings(**settings)) if table == "messages"]
    return pa.Table.from_batches(batches).to_pylist()


@each
def test_columns_are_those_of_each_row(name):
    plain, contents = messages(ROS / f"{name}.pcap"), Contents()
    found = messages(ROS / f"{name}.pcap", ros2=True)
    assert [{key: value for key, value in row.items() if key not in ROS2_NAMES} for row in found] == plain
    kind = pa.timestamp("us", "UTC")
    for row, before in zip(found, plain, strict=True):
        wanted = ros_values(before, contents)
        if "ros2_source_ts" in wanted:
            wanted["ros2_source_ts"] = pa.scalar(wanted["ros2_source_ts"], kind).as_py()
        assert {key: row[key] for key in ROS2_NAMES if row[key] is not None} == wanted


@each
def test_contents_are_what_the_applications_gave(name):
    rows = messages(ROS / f"{name}.pcap", ros2=True)
    found = {(row["ros2_topic"], row["ros2_seq"], row["ros2_gid"]): row for row in rows if row["message"] == "PUSH"}
    for message in truth(name)["messages"]:
        row = found.get((message["topic"], message["seq"], message["gid"]))
        if row is not None and message["known"]:
            assert same(message["content"], json.loads(row["ros2_content"]))
            assert row["ros2_source_ts_ns"] == message["source_timestamp_ns"]


def test_attachments_of_older_layouts_and_of_others():
    """One that isn't current among them, and all are read one by one."""
    plain = [*messages(ROS / "humble-named-attachment.pcap"), *messages(ROS / "talker-listener.pcap")]
    plain += [{**plain[-1], "attachment": b"of another kind"}]
    batch = pa.RecordBatch.from_pylist(plain, schema("messages"))
    rows = RosColumns(None).add(batch).to_pylist()
    told = [(row["ros2_topic"], row["ros2_seq"]) for row in rows if row["ros2_seq"] is not None]
    assert ("/chatter", 5) in told
    assert ("/chatter", 7) in told
    assert rows[-1]["ros2_seq"] is None
    assert {row["ros2_content"] for row in rows} == {None}


def test_a_capture_without_ros_has_empty_columns():
    assert all(row[name] is None for row in messages(SAMPLES / "pubsub-tcp.pcap", ros2=True) for name in ROS2_NAMES)


def test_batch_writes_them_however_payloads_are_kept(tmp_path):
    captures = tmp_path / "captures"
    captures.mkdir()
    (captures / "a.pcap").write_bytes((ROS / "talker-listener.pcap").read_bytes())
    tables = {}
    for kept in ("full", "4", "none"):
        assert run("batch", captures, "-o", tmp_path / kept, "--ros2", "--payload", kept, "-q").exception is None
        tables[kept] = pq.read_table(tmp_path / kept / "messages")
    said = [[*table.column("ros2_content").drop_null().to_pylist()] for table in tables.values()]
    assert said[0] == said[1] == said[2]
    assert said[0][4:6] == ['{"data":"Hello World: 4"}', '{"data":"grüße, 世界 🤖"}']
    assert pc.max(pc.binary_length(tables["4"]["payload"])).as_py() == 4
    assert tables["none"]["payload"].null_count == tables["none"].num_rows
    fast = run("batch", captures, "-o", tmp_path / "fast", "--ros2", "--no-contents", "-q")
    assert fast.exception is None
    table = pq.read_table(tmp_path / "fast" / "messages")
    assert table["ros2_content"].null_count == table.num_rows
    assert table["ros2_seq"].null_count < table.num_rows


def test_tables_without_messages_have_the_columns_too(tmp_path):
    captures = tmp_path / "captures"
    captures.mkdir()
    (captures / "empty.pcap").write_bytes((ROS / "talker-listener.pcap").read_bytes()[:24])
    assert run("batch", captures, "-o", tmp_path / "out", "--ros2", "-q").exception is None
    assert pq.read_table(tmp_path / "out" / "messages").schema.names[-len(ROS2_NAMES) :] == [*ROS2_NAMES]


def test_what_goes_with_it_alone_is_refused(tmp_path):
    assert "--ros2" in str(run("batch", tmp_path, "-o", tmp_path / "out", "--no-contents").exception)
