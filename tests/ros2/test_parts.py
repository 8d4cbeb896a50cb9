"""Goals, copies, owners and QoS: the parts that a whole report doesn't tell apart."""

import struct

import pytest

from tests.packets import START_NS
from tests.ros2.robots import CLIENT_ZID, ROUTER_ZID, ended, report, sample, token, tokens
from tests.ros2.test_doctor import LISTENER, TALKER, talking
from tests.ros2.truth import ROS
from tests.ros2.truth import report as shown
from zdissect.ros2.goals import _statuses
from zdissect.ros2.owners import gid_of


def test_goals_with_their_states():
    (action,) = shown("actions", ROS / "action-fibonacci.pcap")
    assert (action["name"], action["type"]) == ("/fibonacci", "example_interfaces/action/Fibonacci")
    found = [
        (goal["goal_id"], goal["accepted"], goal["status"], [state["status"] for state in goal["states"]],
         goal["feedback"], len(goal["cancels"]))
        for goal in action["goals"]
    ]  # fmt: skip
    assert found == [
        ("9cb513dac16b4210865f3f342bb5ac45", True, "succeeded", ["executing", "succeeded"], 5, 0),
        ("7ccc289d3c3c464ea0d8243d8955826a", True, "canceled", ["executing", "canceling", "canceled"], 4, 1),
        ("c39f661714244394b809d263d0ca8c5e", False, "rejected", [], 0, 0),
    ]
    assert action["goals"][1]["cancels"][0]["answer"] == "accepted"


@pytest.mark.parametrize("order", ["<", ">"])
def test_states_in_an_array(order):
    """The state is the byte behind a time, which begins at a multiple of 4; the next UUID is right behind it."""
    one, other = bytes(range(16)), bytes(range(16, 32))
    stamp = struct.pack(f"{order}iI", 1, 2)
    head = (b"\0\1\0\0" if order == "<" else b"\0\0\0\0") + struct.pack(f"{order}I", 2)
    body = one + stamp + b"\x02" + other + bytes(3) + stamp + b"\x04"
    assert _statuses(head + body) == [(one, 2), (other, 4)]
    alone = head[:4] + struct.pack(f"{order}I", 1)
    assert _statuses(alone + body) == [(one, 2)]
    for size in range(len(body)):
        assert _statuses(head + body[:size]) == ([(one, 2)] if size >= 25 else [])


def test_copies_are_counted():
    messages = {(one["topic"], one["seq"]): one for one in shown(ROS / "transient-local-late-joiner.pcap")["messages"]}
    assert messages["/robot_description", 1]["copies"] == 2
    assert messages["/robot_description", 1]["cached"]
    assert report(talking(*[sample(1)] * 3))["messages"][0]["copies"] == 3
    (topic,) = report(talking(*[sample(1)] * 3, sample(2)))["topics"]
    assert (topic["messages"], topic["senders"][0]["copies"], topic["senders"][0]["repeated"]) == (2, 2, 2)


def test_a_gid_is_made_of_a_token():
    pytest.importorskip("xxhash")
    key = (
        "@ros2_lv/0/a89eedd55587e9fa9c69923c29c6a51/0/1/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/"
        "TypeHashNotSupported/::,7:,:,:,,"
    )
    assert gid_of(key) == "719fa120847c523ac5f1a28488725ea8"
    assert len(gid_of(f"{key}\udc80")) == 32  # a byte that is no text: of the bytes on the wire
    two = (*TALKER, token("NN", "other", id=5), token("MP", "other", "/chatter", id=6))
    gid = bytes.fromhex(gid_of(two[3]))
    assert report(talking(sample(1, gid=gid), own=two))["messages"][0]["node"] == "/other"


def test_whose_a_message_is_isnt_guessed():
    """Two publishers of a topic in one session, and a gid that neither token makes."""
    two = (*TALKER, token("NN", "other", id=5), token("MP", "other", "/chatter", id=6))
    assert report(talking(sample(1), own=two))["messages"][0]["node"] is None


def test_a_node_is_gone_once_its_own_session_says_so():
    """Though somebody else goes on telling of it."""
    conversation = talking(other=(*LISTENER, *TALKER))
    conversation.frame(0, ended(1), ended(2))
    nodes = {node["name"]: node for node in report(conversation)["nodes"]}
    assert nodes["talker"]["ended"] == "undeclared"
    assert nodes["listener"]["ended"] is None


def test_a_node_is_gone_once_nobody_tells_of_it():
    other = (token("NN", "far", zid="cc03", id=0),)
    conversation = talking(other=other)
    assert report(conversation)["nodes"][1]["ended"] is None
    conversation.frame(1, ended(1))
    assert report(conversation)["nodes"][1]["ended"] == "undeclared"
    closed = talking(other=other).close(1)
    assert {node["ended"] for node in report(closed)["nodes"]} == {"session"}


def test_who_comes_late_to_latched_messages():
    """It is told of, but not for logs, which everybody keeps and few want from the start."""
    kept = ":1:,10:,:,:,,"
    for name, kinds in (("/chatter", ["qos-mismatch"]), ("/rosout", [])):
        key = f"0{name}/std_msgs::msg::dds_::String_/RIHS01_df66"
        made_of = key.partition("/")[2].partition("/")[2]
        own = (TALKER[0], token("MP", "talker", name, made_of, qos=kept))
        other = (LISTENER[0], token("MS", "early", name, made_of, zid=ROUTER_ZID, qos=kept))
        conversation = talking(sample(1, key=key, ts_ns=START_NS), own=own, other=other).wait(1)
        conversation.frame(1, *tokens(token("MS", "late", name, made_of, zid=ROUTER_ZID, id=9), first=9))
        assert [one["kind"] for one in report(conversation)["problems"]] == kinds


@pytest.mark.parametrize(
    ("offered", "asked", "policies"),
    [
        ("::,10:,:,:,,", "::,10:,:,:,,", set()),
        ("2::,10:,:,:,,", "::,10:,:,:,,", {"reliability"}),
        ("::,10:,:,:,,", "2::,10:,:,:,,", set()),
        ("::,10:,:,:,,", ":1:,10:,:,:,,", {"durability"}),
        ("::,10:2,0:,:,,", "::,10:1,0:,:,,", {"deadline"}),
        ("::,10:1,0:,:,,", "::,10:2,0:,:,,", set()),
        ("::,10:,:,:,,", "::,10:1,0:,:,,", {"deadline"}),
        ("::,10:,:,:,,", "::,10:,:,:3,,", {"liveliness"}),
        ("::,10:,:,:3,,", "::,10:,:,:,,", set()),
        ("::,10:,:,:,2,0", "::,10:,:,:,1,0", {"liveliness"}),
        ("::,10:,:1,0:,,", "::,10:,:,:,,", set()),
    ],
)
def test_qos_that_doesnt_go_together(offered, asked, policies):
    own = (TALKER[0], token("MP", "talker", "/chatter", qos=offered))
    other = (LISTENER[0], token("MS", "listener", "/chatter", zid=ROUTER_ZID, qos=asked))
    problems = report(talking(own=own, other=other))["problems"]
    assert {one["policy"] for one in problems} == policies
    assert {one["kind"] for one in problems} <= {"qos-mismatch"}


def test_who_has_an_address():
    (talker, _) = report(talking(sample(1, ts_ns=START_NS)))["nodes"]
    assert talker["zid"] == CLIENT_ZID
    assert talker["addresses"]
