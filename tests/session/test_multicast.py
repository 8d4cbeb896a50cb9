"""Members of multicast groups, and scouting (notes 4.3 and 5)."""

from tests.conversation import Conversation
from tests.messages import push
from tests.multicast_group import MulticastGroup, scouting
from tests.observed import assert_healthy, observed
from tests.packets import MS, CaptureBuilder, Parties
from tests.session.rules.multicast import ANSWERS, ASKS, BACK, GROUP


def frame(sn: int, priority: int = 5, reliable: int = 1) -> dict[str, object]:
    exts = [] if priority == 5 else [{"ext": "qos", "value": priority}]
    return {"message": "FRAME", "R": reliable, "sn": sn, "extensions": exts, "messages": [push()]}


def with_qos(**values: object) -> dict[str, object]:
    """What a JOIN with QoS says: the numbers of all priorities, and 0 in its fields."""
    priorities = [{"next_sn_reliable": 10 * n, "next_sn_best_effort": 10 * n + 5} for n in range(8)]
    exts = [{"ext": "qos", "priorities": priorities}, {"ext": "patch", "value": 1}]
    return {"next_sn_reliable": 0, "next_sn_best_effort": 0, "extensions": exts, **values}


def test_members_are_known_by_their_address() -> None:
    found = observed(MulticastGroup().join(0).join(1).send(0, frame(100)).send(1, frame(100)))
    assert [row["src_zid"] for row in found.of("PUSH")] == ["aa01", "aa02"]
    assert not found.codes


def test_join_anchors_the_numbers_of_both_channels() -> None:
    group = MulticastGroup().join(0, sn=100).send(0, frame(100)).send(0, frame(100, reliable=0)).send(0, frame(101))
    assert_healthy(group)


def test_join_with_qos_anchors_the_numbers_of_all_priorities() -> None:
    group = MulticastGroup().join(0, **with_qos())
    for priority in range(8):
        group.send(0, frame(10 * priority, priority)).send(0, frame(10 * priority + 5, priority, reliable=0))
    assert_healthy(group)


def test_join_with_qos_and_a_wrong_first_number() -> None:
    assert observed(MulticastGroup().join(0, **with_qos()).send(0, frame(31, 3))).codes == ["sn-first"]


def test_numbers_are_those_of_the_resolution_that_join_states() -> None:
    """With 8 bits 0 comes after 127; JOIN itself may say 128 where 0 is meant (notes 4.3)."""
    group = MulticastGroup().join(0, sn=126, rid=2, fsn=0, batch_size=8192)
    for sn in (126, 127, 0, 1):
        group.send(0, frame(sn))
    group.join(1, sn=128, rid=2, fsn=0, batch_size=8192).send(1, frame(0)).send(1, frame(128))
    assert observed(group).codes == ["sn-range"]


def test_numbers_above_32_bits() -> None:
    """Where JOIN states 64 bits they are in range, though the Rust codec keeps 32 of them."""
    first = 1 << 40
    group = MulticastGroup().join(0, sn=first, rid=2, fsn=3, batch_size=8192)
    found = observed(group.send(0, frame(first)).send(0, frame(first + 1)))
    assert set(found.codes) == {"vle-wraps"}
    assert [row["sn"] for row in found.of("FRAME")] == [first, first + 1]
    assert found.of("JOIN")[0]["initial_sn"] == first


def test_joins_again_with_later_numbers() -> None:
    group = MulticastGroup().join(0, sn=100).send(0, frame(100)).wait(2.5).join(0, sn=101).send(0, frame(101))
    assert_healthy(group)


def test_frames_of_a_source_whose_join_wasnt_seen_are_read() -> None:
    found = observed(MulticastGroup().join(0).send(1, frame(77)).send(1, frame(78)))
    assert found.keys == ["demo/x", "demo/x"]
    assert not found.codes


def test_hello_is_linked_to_scout_from_any_port() -> None:
    capture = CaptureBuilder()
    scouting(GROUP, 0, capture, **ASKS)
    scouting(BACK, 1, capture, **ANSWERS)
    found = observed(capture)
    hello = found.of("HELLO")[0]
    assert (hello["request_frame"], hello["response_time_ns"]) == (1, MS)
    assert (hello["src_zid"], hello["src_role"]) == ("bb02", "router")
    assert hello["locators"] == ["tcp/10.0.0.2:7447"]
    assert not found.codes


def test_several_hellos_answer_one_scout() -> None:
    capture = CaptureBuilder()
    scouting(GROUP, 0, capture, **ASKS)
    for host in (2, 3):
        scouting(Parties(("10.0.0.1", f"10.0.0.{host}"), BACK.ports), 1, capture, **ANSWERS)
    assert [row["request_frame"] for row in observed(capture).of("HELLO")] == [1, 1]


def test_an_old_scout_asks_for_nothing_any_more() -> None:
    capture = CaptureBuilder()
    scouting(GROUP, 0, capture, **ASKS)
    capture.now_ns += 60 * 10**9
    scouting(BACK, 1, capture, **ANSWERS)
    assert observed(capture).codes == ["hello-unasked"]


def test_members_that_ignore_each_other_are_told_once_and_counted() -> None:
    """Nobody who joins in the middle of it is told again."""
    other = {"batch_size": 4096, "rid": 2, "fsn": 2}
    group = MulticastGroup()
    for _ in range(3):
        group.join(0).join(1, **other).join(2)
    found = observed(group)
    said = [finding.message for finding in found.findings if finding.rule.code == "join-differs"]
    assert said == ["batch_size not the same as in aa01", "batch_size not the same as in aa02"]
    assert [notice.text for notice in found.notices] == [
        "aa02: batch_size not the same as in aa01, in 5 JOINs", "aa03: batch_size not the same as in aa02, in 3 JOINs",
    ]  # fmt: skip


def test_an_init_between_two_joins_of_a_connection() -> None:
    """Nobody does that; the terms of the first JOIN aren't those of the INIT."""
    conversation = Conversation()
    join = conversation.node(0, "JOIN") | {"T": 1, "lease": 10, "next_sn_reliable": 0, "next_sn_best_effort": 0}
    small, large = ({**join, "rid": 2, "fsn": 2, "batch_size": size} for size in (8192, 1000))
    found = observed(conversation.batch(0, small).init_syn(batch_size=2000).batch(0, large))
    assert found.names == ["JOIN", "INIT_SYN", "JOIN"]
    assert "join-changed" in found.codes
