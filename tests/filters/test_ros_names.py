"""Display filters on messages of ROS 2: what keys and attachments tell, and any field inside."""

import pytest

from tests.cli.listings import run
from tests.ros2.truth import ROS
from zdissect.filters import FilterError, compile_filter

pytest.importorskip("rosbags")


def found(text, name, *fields):
    done = run(
        "-q", "-T", "fields", *(word for field in fields for word in ("-e", field)), "-Y", text, ROS / f"{name}.pcap"
    )
    assert done.exception is None, done.exception
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ('ros2.topic == "/chatter" && ros2.data contains "4"', [4]),
        ("ros2 and not ros2.data contains Hello", [5]),
        ("ros2.seq in {2..3}", [2, 3]),
        ('ros2.data in {"Hello World: 1", "Hello World: 6"}', [1, 6]),
        ('ros2.data matches "[67]$"', [6, 7]),
        ("ros2.content contains 世界", [5]),
        ('ros2.content.data == "Hello World: 2"', [2]),
        ("len(ros2.data) > 14", [5]),
        ("ros2.source_ts < 2026-11-28T06:08:34.5Z and ros2", [0]),
        ('ros2.type == "std_msgs/msg/String" and ros2.gid contains 6113 and ros2.seq == 0', [0]),
        ("ros2.nosuch", []),
        ("ros2.data > 5", []),
        ("ros2.data == true", []),
    ],
)
def test_which_messages_are_found(text, numbers):
    assert found(text, "talker-listener", "ros2.seq") == [(str(number),) for number in numbers]


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("ros2.linear.x >= 0.2", "two-stacks", [("/fleet/r1/cmd_vel", "1"), ("/fleet/r1/cmd_vel", "2")]),
        ("ros2.sum == 102", "two-stacks", [("/fleet/add_two_ints", "3")]),
        ("ros2.pose.position.x == 2.0", "two-stacks", [("/fleet/r1/pose", "2")]),
        ("ros2.accepted == false and frame.number > 190", "action-fibonacci", [("/fibonacci/_action/send_goal", "3")]),
        ("ros2.status_list.status == 5", "action-fibonacci", [("/fibonacci/_action/status", "5")]),
        ("ros2.a == 9007199254740993", "service-calls", [("/add_two_ints", "2")]),
    ],
)
def test_numbers_and_truths_inside(text, name, values):
    assert found(text, name, "ros2.topic", "ros2.seq") == values


def test_values_of_names_are_printed():
    rows = found("ros2.sum", "service-calls", "ros2.seq", "ros2.sum")
    assert rows == [("1", "5"), ("2", "1"), ("4", "100"), ("5", "42")]


@pytest.mark.parametrize("text", ["ros2 == 1", "ros2.data < true", "ros2..x", "ros2.seq == x", "ros2.x &"])
def test_what_cannot_be_asked_is_refused(text):
    with pytest.raises(FilterError):
        compile_filter(text)


@pytest.mark.parametrize("test", ['== "chatter"', "!= chatter", 'in {"/a", "chatter"}'])
def test_a_topic_without_its_first_slash_is_refused(test):
    """It would never be found."""
    with pytest.raises(FilterError, match='did you mean "/chatter"'):
        compile_filter(f"ros2.topic {test}")
    compile_filter('ros2.topic contains "chatter" && ros2.topic[0:4] == "chat" && ros2.type == "std_msgs/msg/String"')


def test_tables_are_filtered_too(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    done = run(
        "batch", ROS, "-o", tmp_path / "out", "--include", "talker*", "-Y", "ros2.data contains 3", "--ros2", "-q"
    )
    assert done.exception is None
    assert parquet.read_table(tmp_path / "out" / "messages")["ros2_content"].to_pylist() == [
        '{"data":"Hello World: 3"}'
    ]


def test_definitions_of_ones_own(tmp_path):
    """The definition that a hash names is used for what is shown and for filters; another isn't."""
    path = tmp_path / "example_interfaces" / "srv" / "AddTwoInts.srv"
    path.parent.mkdir(parents=True)
    path.write_text("int64 a\nint64 b\n---\nint64 sum\n")
    shown = run("-q", "-T", "line", "--msgs", tmp_path, "-Y", "ros2.sum == 42", ROS / "service-calls.pcap").stdout
    assert "REPLY" in shown
    path.write_text("int64 a\nint64 b\n---\nint32 sum\n")
    assert (
        "REPLY"
        in run("-q", "-T", "line", "--msgs", tmp_path, "-Y", "ros2.sum == 42", ROS / "service-calls.pcap").stdout
    )
