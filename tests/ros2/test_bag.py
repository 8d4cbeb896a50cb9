"""`zdissect ros2 bag`: what it writes is read back by rosbags and by mcap, and is what the applications published."""

import click
import pytest

from tests.cli.listings import SAMPLES, run
from tests.ros2.truth import NAMES, ROS, by, report, truth

pytest.importorskip("rosbags")
reader = pytest.importorskip("mcap.reader")

WITH_MESSAGES = [name for name in NAMES if truth(name)["messages"]]
each = pytest.mark.parametrize("name", WITH_MESSAGES)


def written(name, path):
    done = run("ros2", "bag", ROS / f"{name}.pcap", "-o", path)
    assert done.exception is None, done.exception
    assert done.stdout == ""
    return path


def in_mcap(path):
    """Topic, type, number, publish time, capture time and payload of each message, as mcap reads them."""
    with path.open("rb") as file:
        return [
            (channel.topic, schema.name, message.sequence, message.publish_time, message.log_time, message.data)
            for schema, channel, message in reader.make_reader(file).iter_messages()
        ]


@each
def test_each_message_is_there_once_with_its_times(name, tmp_path):
    found = in_mcap(written(name, tmp_path / "out.mcap"))
    wanted = sorted((one["topic"], one["seq"], one["source_timestamp_ns"]) for one in truth(name)["messages"])
    assert sorted((topic, seq, published) for topic, _, seq, published, _, _ in found) == wanted
    captured = {
        (one["topic"], one["seq"], one["gid"]): one["ts_ns"] for one in report(ROS / f"{name}.pcap")["messages"]
    }
    assert sorted(ts_ns for *_, ts_ns, _ in found) == sorted(captured.values())


@each
def test_rosbags_decodes_what_the_applications_gave(name, tmp_path):
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    path = written(name, tmp_path / "out")
    messages = by(report(ROS / f"{name}.pcap")["messages"], "topic", "ts_ns", "seq")
    with AnyReader([path], default_typestore=get_typestore(Stores.EMPTY)) as bag:
        found = 0
        for connection, ts_ns, raw in bag.messages():
            made = bag.deserialize(raw, connection.msgtype)
            (content,) = [one["content"] for key, one in messages.items() if key[:2] == (connection.topic, ts_ns)][:1]
            first = next(iter(content), None)
            if first is not None and isinstance(content[first], str | int):
                assert getattr(made, first) == content[first]
            found += 1
    assert found == len(messages)


def test_latched_topics_keep_their_qos(tmp_path):
    from rosbags.interfaces import QosDurability
    from rosbags.rosbag2 import Reader

    path = written("transient-local-late-joiner", tmp_path / "out")
    with Reader(path) as bag:
        offered = {one.topic: one.ext.offered_qos_profiles for one in bag.connections}
    assert {topic: [qos.depth for qos in some] for topic, some in offered.items()} == {
        "/robot_description": [1],
        "/map": [3],
    }
    assert all(qos.durability == QosDurability.TRANSIENT_LOCAL for some in offered.values() for qos in some)


def test_definitions_are_inside(tmp_path):
    with written("action-fibonacci", tmp_path / "out.mcap").open("rb") as file:
        schemas = {one.name: one.data.decode() for one in reader.make_reader(file).get_summary().schemas.values()}
    text = schemas["example_interfaces/action/Fibonacci_FeedbackMessage"]
    assert "unique_identifier_msgs/UUID goal_id" in text
    assert "MSG: example_interfaces/action/Fibonacci_Feedback\nint32[] sequence" in text


def test_what_is_there_isnt_replaced_unless_asked_to(tmp_path):
    path = written("talker-listener", tmp_path / "out.mcap")
    before = path.read_bytes()
    done = run("ros2", "bag", ROS / "two-stacks.pcap", "-o", path)
    assert isinstance(done.exception, click.UsageError)
    assert "--force" in done.exception.format_message()
    assert path.read_bytes() == before
    assert run("ros2", "bag", ROS / "two-stacks.pcap", "-o", path, "--force").exception is None
    assert len(in_mcap(path)) == 7
    assert [one.name for one in tmp_path.iterdir()] == ["out.mcap"]


def test_nothing_is_written_where_there_is_nothing(tmp_path):
    done = run("ros2", "bag", SAMPLES / "pubsub-tcp.pcap", "-o", tmp_path / "out.mcap")
    assert "no messages of ROS 2" in done.stderr
    assert not [*tmp_path.iterdir()]


def test_a_large_bag_has_all_its_chunks(tmp_path):
    """A chunk is closed after the message that fills it has its times."""
    from zdissect.export.bag import Bag
    from zdissect.ros2.attachment import RosAttachment
    from zdissect.ros2.content import Content, Contents
    from zdissect.ros2.graph import Sighting
    from zdissect.ros2.publications import SentMessage
    from zdissect.ros2.rmw_keys import NO_HASH, RosKey

    key, payload = RosKey(0, "/x", "std_msgs/msg/String", NO_HASH), b"\0\1\0\0" + b"\xfc\xff\3\0" + bytes(0x3FFFC)
    with Bag(str(tmp_path / "out.mcap"), Contents()) as bag:
        for seq in range(20):
            told = RosAttachment(seq, 1000 + seq, "00" * 16, "current")
            seen = Sighting(seq + 1, 2000 + seq)
            bag.write(SentMessage(key, told, seen, "a", None, len(payload), False, Content(None)), payload)
    found = in_mcap(tmp_path / "out.mcap")
    assert [(seq, published, logged) for _, _, seq, published, logged, _ in found] == [
        (seq, 1000 + seq, 2000 + seq) for seq in range(20)
    ]
    assert {data for *_, data in found} == {payload}
