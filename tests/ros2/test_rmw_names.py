"""Keys, tokens, QoS and attachments of rmw_zenoh, as its releases write them."""

import struct

import pytest

from zdissect.ros2.attachment import RosAttachment, parse_attachment
from zdissect.ros2.qos_words import RosQos, parse_qos
from zdissect.ros2.rmw_keys import RosKey, ros_key
from zdissect.ros2.tokens import parse_token

HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
ZID = "a89eedd55587e9fa9c69923c29c6a51"
STRING = f"std_msgs::msg::dds_::String_/{HASH}"
GID = bytes(range(16))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (f"0/chatter/{STRING}", (0, "/chatter", "std_msgs/msg/String", HASH)),
        (f"42/robot1/arm/status/{STRING}", (42, "/robot1/arm/status", "std_msgs/msg/String", HASH)),
        ("0/add/example_interfaces::srv::dds_::AddTwoInts_/TypeHashNotSupported",
         (0, "/add", "example_interfaces/srv/AddTwoInts", "TypeHashNotSupported")),
        (f"0/image/{STRING}/_buf_cpu", (0, "/image", "std_msgs/msg/String", HASH)),
        (f"0/image/{STRING}/_buf/{GID.hex()}", (0, "/image", "std_msgs/msg/String", HASH)),
        ("0/x/EMPTY_TOPIC_TYPE/EMPTY_TOPIC_HASH", (0, "/x", "", "EMPTY_TOPIC_HASH")),
    ],
)  # fmt: skip
def test_keys_of_topics_and_services(key, expected):
    assert ros_key(key) == expected


@pytest.mark.parametrize(
    "key",
    [
        f"0/chatter/{STRING}/@adv/pub/{ZID}/3/_", "demo/example/key", f"0/{STRING}", f"zero/chatter/{STRING}",
        f"0/*/{STRING}", "0/chatter/std_msgs::msg::dds_::String_/other", "", "0/a/b/c", f"{'9' * 40}/chatter/{STRING}",
    ],
)  # fmt: skip
def test_other_keys_are_none_of_these(key):
    assert ros_key(key) is None


@pytest.mark.parametrize(
    ("name", "service"),
    [
        ("std_msgs/msg/String", False), ("std_srvs/srv/Empty", True), ("a/action/T_SendGoal", True),
        ("a/action/T_GetResult", True), ("a/action/T_FeedbackMessage", False), ("", False),
    ],
)  # fmt: skip
def test_which_types_are_those_of_services(name, service):
    assert RosKey(0, "/x", name, HASH).is_service is service


def test_tokens():
    node = parse_token(f"@ros2_lv/3/{ZID}/0/0/NN/%secure%arm/%arm/controller")
    assert node[:8] == ("node", 3, ZID, "0", "0", "/secure/arm", "/arm", "controller")
    assert node.full_node == "/arm/controller"
    publisher = parse_token(f"@ros2_lv/0/{ZID}/0/10/MP/%/%/talker/%a%chatter/{STRING}/:1:,1000:,:10,0:,,")
    assert publisher.full_node == "/talker"
    assert (publisher.kind, publisher.name, publisher.type) == ("publisher", "/a/chatter", "std_msgs/msg/String")
    assert publisher.qos == RosQos(durability="transient_local", depth=1000, lifespan_ns=10 * 10**9)
    more = parse_token(f"@ros2_lv/0/{ZID}/0/10/MS/%/%/talker/%a/{STRING}/::,:,:,:,,/cpu,cuda")
    assert more.kind == "subscription"
    old = parse_token(f"@/liveliness/@ros2_lv/0/{ZID}/0/10/SC/%/%/talker/%a/{STRING}/::,:,:,:,,")
    assert old.kind == "service_client"


@pytest.mark.parametrize(
    "key",
    ["@ros2_lv/0/**", f"@ros2_lv/0/{ZID}/NN/_/talker", f"@ros2_lv/x/{ZID}/0/0/NN/%/%/n",
     f"@ros2_lv/0/{ZID}/0/0/XX/%/%/n", f"@ros2_lv/0/{ZID}/0/0/MP/%/%/n/%a", "group/member"],
)  # fmt: skip
def test_what_is_no_token_that_can_be_read(key):
    assert parse_token(key) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("::,:,:,:,,", RosQos()),
        ("::,7:,:,:,,", RosQos(depth=7)),
        ("2::,5:,:,:,,", RosQos("best_effort", depth=5)),
        (":1:,1:,:,:,,", RosQos(durability="transient_local", depth=1)),
        ("2::2,:0,100000000:1,500000000:3,2,0",
         RosQos("best_effort", "volatile", "keep_all", 42, 10**8, 15 * 10**8, "manual_by_topic", 2 * 10**9)),
        ("1:2:1,10:9223372036,854775807:9223372036,854775807:1,9223372036,854775807", RosQos(depth=10)),
    ],
)  # fmt: skip
def test_qos(text, expected):
    assert parse_qos(text) == expected


@pytest.mark.parametrize("text", ["", "::", "::,x:,:,:,,", ":::::::"])
def test_what_is_no_qos(text):
    assert parse_qos(text) is None


CURRENT = struct.pack("<qqB16s", 5, 1795846114950152192, 16, GID)
NAMED = (
    b"\x0fsequence_number" + struct.pack("<q", 5) + b"\x10source_timestamp" + struct.pack("<q", 1795846114950152192)
    + b"\x0asource_gid\x10" + GID
)  # fmt: skip
MAP = b"".join(
    bytes([len(part)]) + part
    for part in (b"sequence_number", b"5", b"source_timestamp", b"1795846114950152192", b"source_gid", GID)
)


@pytest.mark.parametrize(("data", "layout"), [(CURRENT, "current"), (NAMED, "named"), (MAP, "map")])
def test_attachments_in_all_layouts(data, layout):
    assert parse_attachment(data) == RosAttachment(5, 1795846114950152192, GID.hex(), layout)
    for size in range(len(data)):
        assert parse_attachment(data[:size]) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        CURRENT[:16] + b"\x0f" + GID,
        NAMED.replace(b"source_gid", b"source_gud"),
        MAP.replace(b"\x015", b"\x01x"),
    ],
)
def test_other_attachments_are_none_of_these(data):
    assert parse_attachment(data) is None
