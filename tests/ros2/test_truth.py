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
