"""What lines, trees, JSON and `stats` say of messages of ROS 2."""

import json

import pytest
from zdissect_cli.ros_rows import RosNames

from tests.cli.listings import SAMPLES, run
from tests.ros2.truth import NAMES, ROS, truth
from zdissect.ros2.content import summary
from zdissect.ros2.naming import ros_name, told_lines

HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (f"0/chatter/std_msgs::msg::dds_::String_/{HASH}", "/chatter"),
        (f"42/a/b/std_msgs::msg::dds_::String_/{HASH}", "/a/b (domain 42)"),
        ("@ros2_lv/0/a1/0/0/NN/%/%/talker", "node /talker"),
        (f"@ros2_lv/3/a1/0/1/MS/%/%ns/n/%x/std_msgs::msg::dds_::String_/{HASH}/::,:,:,:,,",
         "subscription to /x, node /ns/n (domain 3)"),
        (f"0/x/std_msgs::msg::dds_::String_/{HASH}/@adv/pub/a1/3/_", "/x/@adv/pub/a1/3/_"),
        ("demo/example", None), ("", None),
    ],
)  # fmt: skip
def test_names(key, name):
    assert ros_name(key) == name


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"data": "Hello"}, '"Hello"'),
        ({"a": 2, "b": -3}, "a=2 b=-3"),
        ({"linear": {"x": 0.25}, "ok": True}, "linear.x=0.25 ok=true"),
        ({"data": {"len": 129600, "head": "00"}}, "<129600 B>"),
        ({"s": list(range(12))}, "[0, 1, 2, 3, 4, 5, 6, 7, … 12]"),
        ({"goal_id": {"uuid": [0] * 15 + [255]}, "n": 1}, f"goal_id={'00' * 15}ff n=1"),
        ({}, ""),
    ],
)
def test_values_in_a_line(value, text):
    assert summary(value) == text


def test_a_long_value_is_cut():
    assert summary({"data": "x" * 500}, 40) == f'"{"x" * 38}…'


def test_lines_name_topics_and_say_what_is_in_messages():
    pytest.importorskip("rosbags")
    lines = run("-T", "line", ROS / "talker-listener.pcap").stdout
    assert '/chatter              "Hello World: 0"  sn' in lines
    assert "D_TOKEN      publisher of /chatter, node /talker" in lines
    assert HASH not in lines
    assert "/chatter" in lines
    raw = run("-T", "line", "--raw-keys", ROS / "talker-listener.pcap").stdout
    assert HASH in raw
    assert "48 65 6c 6c 6f" in raw or "Hello World: 0" in raw


def test_a_request_and_its_response_and_an_error():
    pytest.importorskip("rosbags")
    lines = run("-T", "line", ROS / "service-calls.pcap").stdout.splitlines()
    assert any("QUERY        /add_two_ints         a=2 b=3  id 1" in line for line in lines)
    assert any("(frame 80)  5  id 1" in line for line in lines)
    assert any('56 B "Service callback error' in line for line in lines)


def test_the_tree_has_topic_number_and_values():
    pytest.importorskip("rosbags")
    lines = [line.strip() for line in run("--frame", "59", ROS / "talker-listener.pcap").stdout.splitlines()]
    at = lines.index("[ROS 2: /chatter, std_msgs/msg/String, number 0, published 2026-11-28 06:08:34.442302976]")
    assert lines[at + 1] == '[data: "Hello World: 0"]'
    assert not any("[ROS 2" in line for line in run("--raw-keys", ROS / "talker-listener.pcap").stdout.splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_json_has_the_contents(name):
    pytest.importorskip("rosbags")
    found = []

    def search(value):
        if isinstance(value, dict):
            if "ros2" in value.get("derived", {}):
                found.append(value["derived"]["ros2"])
            for inner in value.values():
                search(inner)
        elif isinstance(value, list):
            for inner in value:
                search(inner)

    search(json.loads(run("-T", "json", ROS / f"{name}.pcap").stdout))
    messages = {(one["topic"], one["gid"], one["seq"]) for one in truth(name)["messages"]}
    assert messages <= {(one["topic"], one.get("gid"), one.get("seq")) for one in found}
    assert all("content" in one or one["content_missing"] for one in found if "seq" in one)


def test_what_isnt_decoded_says_why():
    assert [*told_lines({"topic": "/x", "content_missing": "bad CDR"})] == [
        "ROS 2: /x",
        "Content: bad CDR",
    ]
    assert [*told_lines({"topic": "/x", "content": {"a": list(range(3))}})][1:] == ["a: [0, 1, 2]"]
    many = {"topic": "/x", "content": {f"f{number}": number for number in range(150)}}
    assert [*told_lines(many)][-1] == "and 50 more values"


def test_stats_show_names():
    out = run("stats", ROS / "two-stacks.pcap").stdout
    assert "/fleet/r1/pose " in out
    assert "RIHS01" not in out
    assert "RIHS01" in run("stats", "--raw-keys", ROS / "two-stacks.pcap").stdout
    assert "RIHS01" in run("stats", "--json", ROS / "two-stacks.pcap").stdout


@pytest.mark.parametrize(
    "command",
    [["keys"], ["samples"], ["samples", "--trees"], ["samples", "--table"], ["declarations"], ["top"]],
    ids=" ".join,
)
def test_tables_and_trees_show_names(command):
    capture = ROS / "two-stacks.pcap"
    key = "0/fleet/r1/pose/geometry_msgs"
    out = run(*command, capture).stdout
    assert "/fleet/r1/pose" in out
    assert key not in out
    assert key in run(*command, "--raw-keys", capture).stdout
    assert key in run(command[0], "--json", capture).stdout


def test_queries_show_names():
    capture = ROS / "service-calls.pcap"
    for form in ([], ["--table"], ["--summary"]):
        out = run("queries", *form, capture).stdout
        assert "/add_two_ints" in out
        assert "RIHS01" not in out


def test_names_that_several_keys_have_are_not_shown():
    """Two types on one topic: which one a row is about would not be seen."""
    keys = [f"0/pose/{kind}::msg::dds_::Pose_/RIHS01_{'ab' * 32}" for kind in ("a", "b")]
    rows = [{"key_expr": key, "hops": [{"subscriber_key": key}]} for key in (*keys, *keys, "0/chatter/x/y", "plain")]
    assert RosNames(rows).of(rows) == rows
    assert RosNames(rows[1:2]).of(rows[1]) == {"key_expr": "/pose", "hops": [{"subscriber_key": "/pose"}]}


def test_captures_without_ros_are_shown_as_before():
    for form in ("line", "tree", "json"):
        sample = SAMPLES / "query-router.pcap"
        assert run("-T", form, sample).stdout == run("-T", form, "--raw-keys", sample).stdout
