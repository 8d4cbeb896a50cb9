"""Sessions over several connections, and connections of which a part isn't in the capture (notes 6.2)."""

import pytest

from tests.heard import heard
from tests.say import RECEIVER, SENDER, d_keyexpr, declare, push, put, request, response_final
from tests.talk import CLIENT, OTHER_PEER, PEER, ROUTER, Talk
from tests.wire import SECOND, START_NS, Parties, Wire


def two(wire: Wire, back: bool = False, **proposal: bool) -> tuple[Talk, Talk]:
    """Two connections between the same peers; the second one dialled `back`."""
    first = Talk(wire, (PEER, OTHER_PEER)).open(**proposal)
    if back:
        again = Talk(wire, (OTHER_PEER, PEER), Parties(("10.0.0.2", "10.0.0.1"), (41000, 7447)))
    else:
        again = Talk(wire, (PEER, OTHER_PEER), Parties(ports=(40001, 7447)))
    return first, again.open(**proposal)


def test_the_links_of_a_multilink_session_share_its_tables() -> None:
    wire = Wire()
    first, second = two(wire, multilink=True)
    first.frame(0, declare(d_keyexpr(1, "demo")))
    second.frame(0, push(1, "/a", SENDER)).frame(1, push(1, "/b", RECEIVER))
    found = heard(wire)
    assert found.keys == ["demo", "demo/a", "demo/b"]
    assert not found.codes


@pytest.mark.parametrize("same", [True, False])
def test_samples_are_compared_within_their_session(same: bool) -> None:
    """Whoever else has the same key and clock."""
    wire = Wire()
    first, second = two(wire, multilink=True)
    if not same:
        second = Talk(wire, (CLIENT, ROUTER), Parties(ports=(40003, 7447))).open()
    for talk, seconds in ((first, 2), (second, 1)):
        stamp = {"time": START_NS // SECOND + seconds << 32, "id": b"\x01"}
        talk.frame(0, push(body=put(timestamp=stamp)))
    assert ("timestamp-older" in heard(wire).codes) is same


def test_the_links_of_a_multilink_session_share_its_numbers() -> None:
    wire = Wire()
    first, second = two(wire, multilink=True)
    second.next = first.next
    for _ in range(3):
        first.frame(0, push())
        second.frame(0, push())
    assert not heard(wire).codes


def test_two_peers_that_dial_each_other_at_once_have_one_session() -> None:
    """Each connection may then carry one direction only."""
    wire = Wire()
    first, second = two(wire, back=True)
    first.frame(0, declare(d_keyexpr(1, "demo")))
    second.frame(0, push(1, "/x", RECEIVER))
    first.frame(0, request(1))
    second.frame(0, response_final(1))
    found = heard(wire)
    assert found.keys[:2] == ["demo", "demo/x"]
    assert "request_frame" in found.of("RESPONSE_FINAL")[0]
    assert not found.codes


def test_after_a_reconnection_the_tables_are_empty() -> None:
    wire = Wire()
    first = Talk(wire).open().frame(0, declare(d_keyexpr(1, "demo"))).close(0).hang_up()
    second = Talk(wire, parties=Parties(ports=(40001, 7447))).open().frame(0, push(1, "/x"))
    found = heard(wire)
    assert (found.keys, found.codes) == (["demo", None], ["unknown-scope"])
    assert first.wire is second.wire


def test_a_reconnection_on_the_same_ports_is_a_new_session() -> None:
    """Over UDP there is nothing but INIT to tell it by."""
    wire = Wire()
    Talk(wire, udp=True).open().frame(0, declare(d_keyexpr(1, "demo"))).close(0).close(1)
    again = Talk(wire, udp=True).open().frame(0, push(1, "/x"))
    assert heard(again).codes == ["unknown-scope"]


def test_the_side_that_spoke_second_may_open() -> None:
    """Over UDP the first datagram says which side is which, and a later handshake may go the other way."""
    wire = Wire()
    Talk(wire, (PEER, OTHER_PEER), udp=True).open().frame(0, push("a")).close(0).close(1)
    back = Parties(("10.0.0.2", "10.0.0.1"), (7447, 40000))
    talk = Talk(wire, (OTHER_PEER, PEER), back, udp=True).open()
    talk.frame(0, declare(d_keyexpr(1, "b"))).frame(0, push(1, "/x", SENDER)).frame(1, push(1, "/y", RECEIVER))
    found = heard(wire)
    assert found.keys == ["a", "b", "b/x", "b/y"]
    assert not found.codes
    assert [row["src_zid"] for row in found.of("PUSH")] == ["cc03", "dd04", "cc03"]


def test_two_clients_of_a_router_are_two_sessions() -> None:
    wire = Wire()
    other = CLIENT._replace(wire_zid=b"\x09\xaa")
    first = Talk(wire).open()
    second = Talk(wire, (other, ROUTER), Parties(ports=(40001, 7447))).open()
    first.frame(0, declare(d_keyexpr(1, "one")), push(1))
    second.frame(0, declare(d_keyexpr(1, "two")), push(1))
    assert heard(wire).keys == ["one", "one", "two", "two"]


def test_both_ends_are_named_once_they_are_known() -> None:
    rows = heard(Talk().open().frame(0, push())).rows
    assert "dst_zid" not in rows[0]
    push_row = rows[-1]
    assert (push_row["src_zid"], push_row["src_role"]) == ("aa01", "client")
    assert (push_row["dst_zid"], push_row["dst_role"]) == ("bb02", "router")


def test_a_capture_of_one_direction_makes_no_findings() -> None:
    """What the other side said can't be known, so nothing can be missed in it."""
    for side in (0, 1):
        talk = Talk().open().frame(1, declare(d_keyexpr(1, "demo"))).frame(0, push(1, "/x", RECEIVER))
        talk.frame(0, request(1)).frame(1, response_final(1)).idle(6)
        frames = [frame for frame in talk.wire.frames if frame.data[29] == side + 1]
        found = heard(frames)
        assert not found.codes, found.places
        assert len(found.names) > 5


def test_a_capture_that_starts_late_makes_no_findings() -> None:
    talk = Talk().open().frame(0, declare(d_keyexpr(1, "demo"))).frame(0, push(1, "/x")).frame(0, push(1, "/y"))
    for start in range(1, 10):
        found = heard(talk.wire.frames[start:])
        assert not [code for code in found.codes if code != "guessed-framing"], (start, found.places)
