"""Queries hop by hop: what was asked and what was passed on, which answers got how far, and what ended it."""

from itertools import pairwise

import pytest
from zdissect_cli.hop_trees import MOST_DEEP
from zdissect_cli.query_trees import QueryTrees

from tests.conversation import CLIENT, OTHER_ROUTER, PEER, ROUTER, Conversation, Node
from tests.messages import d_keyexpr, declare, put, request, response, response_final
from tests.packets import MS, SECOND, CaptureBuilder, Parties
from zdissect.grammar.primitives import ENDLESS_MS
from zdissect.listing import QueryListing
from zdissect.output.style import PLAIN
from zdissect.pipeline import Options, Pipeline

SERVER, OTHER_SERVER = Node(b"\x06\xff", "client"), Node(b"\x07\xaa", "client")


def reply(ident, payload=b"yes", scope="demo/x", **values):
    return response(ident, scope, body={"message": "REPLY", "body": put(payload, **values)})


def timed_out(ident, zid):
    """The ERR by which a node ends a request in time (notes 7.3)."""
    responder = {"ext": "responder_id", "zid": zid, "eid": 0}
    return {**response(ident, 0, body={"message": "ERR", "payload": b"Timeout"}), "extensions": [responder]}


class Star:
    """A client, a peer and two servers at a router."""

    def __init__(self):
        self.capture = CaptureBuilder()
        nodes = (CLIENT, PEER, SERVER, OTHER_SERVER)
        self.client, self.peer, self.server, self.other = (
            Conversation(self.capture, (node, ROUTER), Parties(ports=(40000 + index, 7447))).open()
            for index, node in enumerate(nodes)
        )

    def wait(self, ns):
        self.capture.now_ns += ns

    def listing(self):
        pipeline, listing = Pipeline(Options(history=True)), QueryListing()
        for frame in self.capture.frames:
            listing.frame(frame)
            for item in pipeline.feed(frame):
                listing.feed(item)
        for item in pipeline.close():
            listing.feed(item)
        return listing, [listing.whole(row) for row in listing.rows(pipeline)]

    @property
    def rows(self):
        return self.listing()[1]


@pytest.fixture
def star():
    return Star()


def test_an_answer_is_followed_back_with_the_time_in_each_node(star):
    star.client.frame(0, request(7))
    star.server.frame(1, request(9))
    star.server.frame(0, reply(9), response_final(9))
    star.wait(4 * MS)
    star.client.frame(1, reply(7), response_final(7))
    listing, (row,) = star.listing()
    asked, passed = row["hops"]
    assert (asked["from_role"], asked["to_role"], asked["confidence"]) == ("client", "router", None)
    assert (passed["passes_on_frame"], passed["confidence"]) == (asked["frame"], "likely")
    assert (passed["held_ns"], passed["first_time_ns"], asked["first_time_ns"]) == (MS, MS, 7 * MS)
    (answer,) = asked["answers"]
    assert answer["passes_on_frame"] == passed["answers"][0]["frame"]
    assert answer["held_ns"] == 5 * MS
    assert (row["ended"], row["ended_by"], row["silent"]) == ("final", asked["to"], [])
    nodes = {node["node"]: node for node in listing.summary()["nodes"]}
    assert nodes[asked["to"]]["forwarding_ns"]["max"] == MS
    assert nodes[asked["to"]]["returning_ns"]["max"] == 5 * MS
    assert nodes[passed["to"]]["answering_ns"]["max"] == MS
    assert nodes[passed["to"]]["forwarding_ns"] is None


def test_equal_queries_of_two_nodes_are_passed_on_in_their_order_and_ambiguous(star):
    star.client.frame(0, request(1))
    star.peer.frame(0, request(2))
    star.server.frame(1, request(11))
    star.server.frame(1, request(12))
    rows = star.rows
    assert [[hop["request_id"] for hop in row["hops"]] for row in rows] == [[1, 11], [2, 12]]
    assert [row["hops"][1]["confidence"] for row in rows] == ["ambiguous", "ambiguous"]


def test_a_client_passes_nothing_on(star):
    """A client that is asked, and asks the same of another node, asks for itself."""
    other = Conversation(star.capture, (SERVER, OTHER_ROUTER), Parties(ports=(50000, 7448))).open()
    star.client.frame(0, request(1))
    star.server.frame(1, request(2))
    other.frame(0, request(3))
    assert [[hop["request_id"] for hop in row["hops"]] for row in star.rows] == [[1, 2], [3]]


def test_a_query_that_is_passed_on_with_another_key(star):
    """Version 1.2 loses the slash between scope and suffix."""
    star.client.frame(0, request(1, "ver/svc"))
    star.server.frame(1, request(2, "versvc"))
    (row,) = star.rows
    assert [hop["key_expr"] for hop in row["hops"]] == ["ver/svc", "versvc"]


def test_a_reply_that_a_router_keeps(star):
    star.client.frame(0, request(7))
    star.server.frame(1, request(9))
    star.server.frame(0, reply(9), response_final(9))
    star.client.frame(1, response_final(7))
    (row,) = star.rows
    assert (row["state"], row["not_passed_on"], row["late"]) == ("no answer", 1, 0)
    assert [answer["fate"] for answer in row["hops"][1]["answers"]] == ["not passed on"]


def test_a_reply_after_the_router_has_ended_the_request(star):
    """The router waits no longer than it was told; who it asked is named."""
    star.client.frame(0, request(7, timeout=500))
    star.server.frame(1, request(9, timeout=500))
    star.wait(400 * MS)
    star.client.frame(1, timed_out(7, SERVER.wire_zid), response_final(7))
    star.server.frame(0, reply(9), response_final(9))
    (row,) = star.rows
    asked, passed = row["hops"]
    assert (row["ended"], row["ended_by"], row["late"]) == ("node timeout", asked["to"], 1)
    assert asked["answers"][0]["timeout"]
    assert asked["answers"][0]["responder"] == passed["to"]
    assert passed["answers"][0]["fate"] == "late"


def test_who_never_answers_and_the_timeout_of_the_asker(star):
    star.client.frame(0, request(7, timeout=500))
    star.server.frame(1, request(9, timeout=500))
    star.other.frame(1, request(9, timeout=500))
    star.other.frame(0, reply(9), response_final(9))
    star.client.frame(1, reply(7))
    assert star.rows[0]["ended"] == "open"
    star.wait(SECOND)
    star.peer.frame(0, request(1))
    row = star.rows[0]
    asked, passed, other = row["hops"]
    assert (row["state"], row["ended"], row["ended_by"]) == ("unfinished", "asker timeout", row["asker"])
    assert (row["silent"], passed["state"]) == ([passed["to"]], "silent")
    assert (asked["state"], other["state"]) == ("unfinished", "answered")


def test_an_answer_after_the_timeout_of_the_asker(star):
    star.client.frame(0, request(7, timeout=500))
    star.wait(SECOND)
    star.client.frame(1, reply(7), response_final(7))
    (row,) = star.rows
    assert (row["state"], row["ended"], row["late"]) == ("answered", "asker timeout", 1)
    assert [answer["fate"] for answer in row["hops"][0]["answers"]] == ["late"]


def test_a_query_without_a_timeout_waits(star):
    star.client.frame(0, request(7, timeout=ENDLESS_MS))
    star.wait(3600 * SECOND)
    star.peer.frame(0, request(1))
    row = star.rows[0]
    assert (row["ended"], row["silent"]) == ("open", [])


def test_the_session_ends_before_the_query(star):
    star.client.frame(0, request(7))
    star.client.batch(1, {"message": "CLOSE", "reason": 0, "S": 1})
    star.peer.frame(0, request(1))
    row = star.rows[0]
    assert (row["ended"], row["ended_by"]) == ("session", row["hops"][0]["to"])


@pytest.mark.parametrize(
    ("mode", "fates"),
    [(1, [None, None, None]), (2, [None, "consolidated", None]), (3, ["consolidated", "consolidated", None])],
)
def test_what_the_asker_drops(star, mode, fates):
    """None, Monotonic, Latest: replies of times 2, 1 and 3 on one key; those of another key don't count."""
    star.client.frame(0, request(7, consolidation=mode))
    stamps = ({"T": 1, "timestamp": {"time": time << 32, "id": b"\x01"}} for time in (2, 1, 3))
    star.client.frame(1, *(reply(7, **stamp) for stamp in stamps), reply(7, scope="demo/y"), response_final(7))
    (row,) = star.rows
    assert [answer["fate"] for answer in row["hops"][0]["answers"]] == [*fates, None]
    assert row["consolidated"] == fates.count("consolidated")


def test_answers_are_kept_within_bounds_and_counted_beyond(star, monkeypatch):
    monkeypatch.setattr("zdissect.listing.query_hops.MOST_ANSWERS", 3)
    star.client.frame(0, request(7))
    star.client.frame(1, *(reply(7, b"%d" % index) for index in range(10)), response_final(7))
    (row,) = star.rows
    assert (row["hops"][0]["answer_count"], len(row["hops"][0]["answers"]), row["replies"]) == (10, 3, 10)


def with_attachment(ident, scope, data):
    """A request as ROS 2 makes it: no two have the same attachment."""
    query = {"message": "QUERY", "extensions": [{"ext": "attachment", "value": data}]}
    return request(ident, scope, body=query)


def test_where_ids_of_keys_are_not_known_the_attachment_tells(star):
    """The capture starts after both keys were declared."""
    star.client.frame(0, declare(d_keyexpr(5, "demo/x")))
    star.server.frame(1, declare(d_keyexpr(3, "demo/x")))
    start = len(star.capture.frames)
    for number in (b"1", b"2"):
        star.client.frame(0, with_attachment(1, 5, number))
        star.server.frame(1, with_attachment(2, 3, number))
        star.server.frame(0, response_final(2))
        star.client.frame(1, response_final(1))
    del star.capture.frames[:start]
    rows = star.rows
    assert [row["key_expr"] for row in rows] == ["?5", "?5"]
    assert [[hop["key_expr"] for hop in row["hops"]] for row in rows] == [["?5", "?3"]] * 2


def test_the_same_attachment_on_another_key_is_another_query(star):
    star.client.frame(0, declare(d_keyexpr(5, "demo/x"), None), with_attachment(1, 5, b"1"))
    star.server.frame(1, declare(d_keyexpr(3, "demo/y"), None), with_attachment(2, 3, b"1"))
    assert [row["key_expr"] for row in star.rows] == ["demo/x", "demo/y"]


def test_a_long_chain_is_shown_as_far_as_it_is_of_use():
    """A hop below another, and so on: JSON has all, a tree those that fit."""
    capture = CaptureBuilder()
    nodes = [Node(bytes([1 + number, 7]), "router") for number in range(100)]
    links = [
        Conversation(capture, pair, Parties(ports=(30000 + number, 7447))).open()
        for number, pair in enumerate(pairwise(nodes))
    ]
    for link in links:
        link.frame(0, request(1))
    star = Star()
    star.capture = capture
    (row,) = star.rows
    assert len(row["hops"]) == 99
    lines = [*QueryTrees(str, PLAIN).lines(row)]
    assert len(lines) == MOST_DEEP + 3
    assert "--json has the hops below" in lines[-1]
