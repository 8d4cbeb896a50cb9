"""Sessions over several connections, and connections of which a part isn't in the capture (notes 6.2)."""

import pytest

from tests.conversation import CLIENT, OTHER_PEER, PEER, ROUTER, Conversation
from tests.messages import RECEIVER, SENDER, d_keyexpr, declare, push, put, request, response_final
from tests.observed import assert_healthy, observed
from tests.packets import SECOND, START_NS, CaptureBuilder, Parties


def two(capture: CaptureBuilder, back: bool = False, **proposal: bool) -> tuple[Conversation, Conversation]:
    """Two connections between the same peers; the second one dialled `back`."""
    first = Conversation(capture, (PEER, OTHER_PEER)).open(**proposal)
    if back:
        again = Conversation(capture, (OTHER_PEER, PEER), Parties(("10.0.0.2", "10.0.0.1"), (41000, 7447)))
    else:
        again = Conversation(capture, (PEER, OTHER_PEER), Parties(ports=(40001, 7447)))
    return first, again.open(**proposal)


def test_the_links_of_a_multilink_session_share_its_tables() -> None:
    capture = CaptureBuilder()
    first, second = two(capture, multilink=True)
    first.frame(0, declare(d_keyexpr(1, "demo")))
    second.frame(0, push(1, "/a", SENDER)).frame(1, push(1, "/b", RECEIVER))
    found = observed(capture)
    assert found.keys == ["demo", "demo/a", "demo/b"]
    assert not found.codes


@pytest.mark.parametrize("same", [True, False])
def test_samples_are_compared_within_their_session(same: bool) -> None:
    """Whoever else has the same key and clock."""
    capture = CaptureBuilder()
    first, second = two(capture, multilink=True)
    if not same:
        second = Conversation(capture, (CLIENT, ROUTER), Parties(ports=(40003, 7447))).open()
    for conversation, seconds in ((first, 2), (second, 1)):
        stamp = {"time": START_NS // SECOND + seconds << 32, "id": b"\x01"}
        conversation.frame(0, push(body=put(timestamp=stamp)))
    found = observed(capture)
    assert found.names.count("PUSH") == 2
    assert ("timestamp-older" in found.codes) is same


def test_the_links_of_a_multilink_session_share_its_numbers() -> None:
    capture = CaptureBuilder()
    first, second = two(capture, multilink=True)
    second.next = first.next
    for _ in range(3):
        first.frame(0, push())
        second.frame(0, push())
    assert_healthy(capture)


def test_two_peers_that_dial_each_other_at_once_have_one_session() -> None:
    """Each connection may then carry one direction only."""
    capture = CaptureBuilder()
    first, second = two(capture, back=True)
    first.frame(0, declare(d_keyexpr(1, "demo")))
    second.frame(0, push(1, "/x", RECEIVER))
    first.frame(0, request(1))
    second.frame(0, response_final(1))
    found = observed(capture)
    assert found.keys[:2] == ["demo", "demo/x"]
    assert "request_frame" in found.of("RESPONSE_FINAL")[0]
    assert not found.codes


def test_after_a_reconnection_the_tables_are_empty() -> None:
    capture = CaptureBuilder()
    first = Conversation(capture).open().frame(0, declare(d_keyexpr(1, "demo"))).close(0).hang_up()
    second = Conversation(capture, parties=Parties(ports=(40001, 7447))).open().frame(0, push(1, "/x"))
    found = observed(capture)
    assert (found.keys, found.codes) == (["demo", None], ["unknown-scope"])
    assert first.capture is second.capture


def test_a_reconnection_on_the_same_ports_is_a_new_session() -> None:
    """Over UDP there is nothing but INIT to tell it by."""
    capture = CaptureBuilder()
    Conversation(capture, udp=True).open().frame(0, declare(d_keyexpr(1, "demo"))).close(0).close(1)
    again = Conversation(capture, udp=True).open().frame(0, push(1, "/x"))
    assert observed(again).codes == ["unknown-scope"]


def test_the_side_that_spoke_second_may_open() -> None:
    """Over UDP the first datagram says which side is which, and a later handshake may go the other way."""
    capture = CaptureBuilder()
    Conversation(capture, (PEER, OTHER_PEER), udp=True).open().frame(0, push("a")).close(0).close(1)
    back = Parties(("10.0.0.2", "10.0.0.1"), (7447, 40000))
    conversation = Conversation(capture, (OTHER_PEER, PEER), back, udp=True).open()
    conversation.frame(0, declare(d_keyexpr(1, "b"))).frame(0, push(1, "/x", SENDER)).frame(1, push(1, "/y", RECEIVER))
    found = observed(capture)
    assert found.keys == ["a", "b", "b/x", "b/y"]
    assert not found.codes
    assert [row["src_zid"] for row in found.of("PUSH")] == ["cc03", "dd04", "cc03"]


def test_two_clients_of_a_router_are_two_sessions() -> None:
    capture = CaptureBuilder()
    other = CLIENT._replace(wire_zid=b"\x09\xaa")
    first = Conversation(capture).open()
    second = Conversation(capture, (other, ROUTER), Parties(ports=(40001, 7447))).open()
    first.frame(0, declare(d_keyexpr(1, "one")), push(1))
    second.frame(0, declare(d_keyexpr(1, "two")), push(1))
    assert observed(capture).keys == ["one", "one", "two", "two"]


def test_both_ends_are_named_once_they_are_known() -> None:
    rows = observed(Conversation().open().frame(0, push())).rows
    assert "dst_zid" not in rows[0]
    push_row = rows[-1]
    assert (push_row["src_zid"], push_row["src_role"]) == ("aa01", "client")
    assert (push_row["dst_zid"], push_row["dst_role"]) == ("bb02", "router")


def test_a_capture_of_one_direction_makes_no_findings() -> None:
    """What the other side said can't be known, so nothing can be missed in it."""
    for side in (0, 1):
        conversation = Conversation().open().frame(1, declare(d_keyexpr(1, "demo"))).frame(0, push(1, "/x", RECEIVER))
        conversation.frame(0, request(1)).frame(1, response_final(1)).idle(6)
        frames = [frame for frame in conversation.capture.frames if frame.data[29] == side + 1]
        found = observed(frames)
        assert not found.codes, found.located
        assert len(found.names) > 5


def test_a_capture_that_starts_late_makes_no_findings() -> None:
    conversation = (
        Conversation().open().frame(0, declare(d_keyexpr(1, "demo"))).frame(0, push(1, "/x")).frame(0, push(1, "/y"))
    )
    read = []
    for start in range(1, 10):
        found = observed(conversation.capture.frames[start:])
        assert not [code for code in found.codes if code != "guessed-framing"], (start, found.located)
        read.append(len(found.names))
    assert read == [10, 10, 10, 9, 8, 7, 6, 4, 2]
