"""`zdissect ros2 --json` says what the applications of the samples did."""

import pytest

from tests.ros2.truth import NAMES, ROS, by, report, same, truth

pytest.importorskip("rosbags")
each = pytest.mark.parametrize("name", NAMES)
NODE = ("domain", "namespace", "name", "enclave", "zid")
ENDPOINT = ("kind", "name", "type", "hash", "domain", "node", "namespace", "zid")
MESSAGE = ("topic", "domain", "gid", "seq", "source_timestamp_ns")
CALL = ("service", "domain", "client_gid", "seq")
BEYOND_THE_TRUTH = ("no-publisher",)


@each
def test_graph(name):
    found, told = report(ROS / f"{name}.pcap"), truth(name)
    assert by(found["nodes"], *NODE).keys() == by(told["nodes"], *NODE).keys()
    have, want = by(found["endpoints"], *ENDPOINT), by(told["endpoints"], *ENDPOINT)
    assert have.keys() == want.keys()
    for key, endpoint in want.items():
        assert {word: have[key]["qos"][word] for word in endpoint["qos"]} == endpoint["qos"]


@each
def test_messages_are_there_once_with_their_content(name):
    found, told = report(ROS / f"{name}.pcap"), truth(name)
    have, want = by(found["messages"], *MESSAGE), by(told["messages"], *MESSAGE)
    assert have.keys() == want.keys()
    for key, message in want.items():
        if message["known"]:
            assert same(message["content"], have[key]["content"])
        else:
            assert have[key]["content"] is not None or have[key]["content_missing"]


@each
def test_calls_with_request_and_response(name):
    found, told = report(ROS / f"{name}.pcap"), truth(name)
    have, want = by(found["services"], *CALL), by(told["services"], *CALL)
    assert have.keys() == want.keys()
    for key, call in want.items():
        assert same(call["request"], have[key]["request"])
        assert same(call["response"], have[key]["response"])


@each
def test_problems_are_those_that_were_made(name):
    found = {
        (problem["kind"], problem.get("topic") or problem.get("service") or problem.get("action"))
        for problem in report(ROS / f"{name}.pcap")["problems"]
    }
    assert {one for one in found if one[0] not in BEYOND_THE_TRUTH} == {(*one,) for one in truth(name)["problems"]}


@each
def test_each_problem_names_its_frames(name):
    for problem in report("doctor", ROS / f"{name}.pcap"):
        assert problem["frames"] == sorted(problem["frames"])
        assert problem["frames"]
        assert problem["severity"] in ("note", "warning", "error")


def test_definitions_of_ones_own_are_used_by_their_hash(tmp_path):
    """The definition whose type hash the key has, and no other."""
    from zdissect.ros2.type_finder import TypeFinder, _hash

    texts = {"old": "float32 speed\n", "new": "float32 speed\nstring name\n"}
    hashes = {}
    for name, text in texts.items():
        finder = TypeFinder({"mower_msgs/msg/State": text})
        hashes[name] = _hash(finder._made("JAZZY", "mower_msgs/msg/State", own=True), "mower_msgs/msg/State")
    finder = TypeFinder({"mower_msgs/msg/State": texts["new"]})
    assert finder.find("mower_msgs/msg/State", hashes["new"]).source == "--msgs"
    assert "has its type hash" in finder.find("mower_msgs/msg/State", hashes["old"])
    assert "no definition" in TypeFinder().find("mower_msgs/msg/State", hashes["old"])
    assert "can't be read" in TypeFinder({"mower_msgs/msg/State": "?"}).find("mower_msgs/msg/State", hashes["old"])


def test_a_definition_of_ones_own_comes_before_that_of_a_release():
    from zdissect.ros2.content import Contents
    from zdissect.ros2.type_finder import TypeFinder

    mine = Contents(TypeFinder({"std_msgs/msg/String": "string text\n"}))
    payload = b"\0\1\0\0\2\0\0\0x\0"
    assert mine.decode(payload, "std_msgs/msg/String", "TypeHashNotSupported").value == {"text": "x"}
    assert Contents().decode(payload, "std_msgs/msg/String", "TypeHashNotSupported").value == {"data": "x"}


@pytest.mark.parametrize(
    ("payload", "why"),
    [(b"", "bad CDR"), (b"\0\1\0", "bad CDR"), (b"\0\1\0\0\xff\xff\xff\xff", "bad CDR"),
     (b"\0\2\0\0\2\0\0\0x\0", "bad CDR"),
     (b"\0\1\0\0\2\0\0\0x\0" + bytes(40), "bad CDR"), (None, "isn't in the capture")],
)  # fmt: skip
def test_what_is_no_cdr_is_said(payload, why):
    from zdissect.ros2.content import Contents

    found = Contents().decode(payload, "std_msgs/msg/String", "TypeHashNotSupported")
    assert found.value is None
    assert why in found.why


def test_big_endian_and_numbers_that_json_doesnt_have():
    import struct

    from zdissect.ros2.content import Contents

    contents, name = Contents(), "geometry_msgs/msg/Vector3"
    for head, order in ((b"\0\1\0\0", "<"), (b"\0\0\0\0", ">")):
        payload = head + struct.pack(f"{order}3d", float("nan"), float("-inf"), 0.1)
        found = contents.decode(payload, name, "TypeHashNotSupported")
        assert found.value == {"x": "NaN", "y": "-Infinity", "z": 0.1}
    found = contents.decode(b"\0\1\0\0" + struct.pack("<f", 0.1), "std_msgs/msg/Float32", "TypeHashNotSupported")
    assert found.value == {"data": 0.1}


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("example_interfaces/srv/AddTwoInts",
         "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"),
        ("std_msgs/msg/String", "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"),
        ("example_interfaces/action/Fibonacci_SendGoal",
         "RIHS01_d1a57fb2a4afe8c21e34fb10db206f16ce6729b28531141472df92277c55b557"),
    ],
)  # fmt: skip
def test_hashes_are_those_of_releases(name, digest):
    from zdissect.ros2.type_finder import TypeFinder

    assert {"IRON", "JAZZY", "KILTED", "LYRICAL"} <= {*TypeFinder().releases_of(name, digest)}
