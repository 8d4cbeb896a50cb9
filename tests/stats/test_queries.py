"""Queries are what applications ask: several requests may be one query, and what counts is what the asker got."""

import pytest

from tests.conversation import CLIENT, OTHER_PEER, PEER, ROUTER, Conversation, Node
from tests.messages import push, put, request, response, response_final
from tests.observed import observed
from tests.packets import SECOND, CaptureBuilder, Parties
from zdissect.stats.query_stats import Queries

SERVER = Node(b"\x06\xff", "client")
ANSWER = response(7, body={"message": "REPLY", "body": put(b"yes")})


def conversation(capture: CaptureBuilder, port: int, *nodes: Node) -> Conversation:
    return Conversation(capture, nodes, Parties(ports=(port, 7447))).open()


def counted(capture: CaptureBuilder) -> dict[str, object]:
    """The totals."""
    queries = Queries()
    for item in observed(capture).items:
        queries.take(item)
    report = queries.report()
    names = ("queries", "requests", "replies", "without_reply", "unanswered", "stray_answers")
    return {name: report[name] for name in names} | {"frames": report["silent"]["frames"]}


@pytest.fixture
def star() -> tuple[CaptureBuilder, Conversation, Conversation]:
    """A client and a server at a router."""
    capture = CaptureBuilder()
    return capture, conversation(capture, 40000, CLIENT, ROUTER), conversation(capture, 40001, SERVER, ROUTER)


def test_a_query_that_a_router_passes_on_is_one(star: tuple[CaptureBuilder, Conversation, Conversation]) -> None:
    capture, client, server = star
    client.frame(0, request(7))
    server.frame(1, request(9)).frame(0, response(9), response_final(9))
    client.frame(1, ANSWER, response_final(7))
    assert counted(capture) == {
        "queries": 1, "requests": 2, "replies": 1, "without_reply": 0, "unanswered": 0, "stray_answers": 0,
        "frames": [],
    }  # fmt: skip


def test_what_the_asker_got_counts(star: tuple[CaptureBuilder, Conversation, Conversation]) -> None:
    """The server says something, the router doesn't pass it on."""
    capture, client, server = star
    client.frame(0, request(7))
    server.frame(1, request(9)).frame(0, response(9), response_final(9))
    asked = capture.frames[-3].number
    client.frame(1, response_final(7))
    found = counted(capture)
    assert (found["replies"], found["without_reply"], found["frames"]) == (0, 1, [asked])


def test_a_query_to_two_neighbours_that_one_answers(star: tuple[CaptureBuilder, Conversation, Conversation]) -> None:
    """What the other one doesn't answer, not even with an end, makes it no unanswered query."""
    capture = CaptureBuilder()
    one, other = conversation(capture, 40000, PEER, OTHER_PEER), conversation(capture, 40001, PEER, ROUTER)
    one.frame(0, request(7))
    other.frame(0, request(8))
    one.frame(1, ANSWER, response_final(7))
    found = counted(capture)
    assert (found["queries"], found["requests"], found["replies"]) == (1, 2, 1)
    assert (found["without_reply"], found["unanswered"], found["frames"]) == (0, 0, [])


def test_a_query_that_nobody_answers() -> None:
    capture = CaptureBuilder()
    one, other = conversation(capture, 40000, PEER, OTHER_PEER), conversation(capture, 40001, PEER, ROUTER)
    one.frame(0, request(7))
    asked = capture.frames[-1].number
    other.frame(0, request(8))
    one.frame(1, response_final(7))
    found = counted(capture)
    assert (found["queries"], found["without_reply"], found["unanswered"], found["frames"]) == (1, 0, 1, [asked])


def test_the_same_again_is_another_query() -> None:
    """On one link each request is a query; and later ones to a neighbour belong to the later query."""
    capture = CaptureBuilder()
    one, other = conversation(capture, 40000, PEER, OTHER_PEER), conversation(capture, 40001, PEER, ROUTER)
    for ident in (1, 2):
        one.frame(0, request(ident))
        other.frame(0, request(ident))
    found = counted(capture)
    assert (found["queries"], found["requests"], found["unanswered"]) == (2, 4, 2)


def test_what_differs_or_comes_much_later_is_another_query() -> None:
    capture = CaptureBuilder()
    one, other = conversation(capture, 40000, PEER, OTHER_PEER), conversation(capture, 40001, PEER, ROUTER)
    one.frame(0, request(1, parameters="a=1")).frame(1, response_final(1))
    other.frame(0, request(1, parameters="a=2"))
    assert counted(capture)["queries"] == 2
    capture.now_ns += SECOND
    other.frame(0, request(2, parameters="a=1"))
    assert counted(capture)["queries"] == 3


def test_answers_to_nothing() -> None:
    found = counted(Conversation().open().frame(1, ANSWER, push(), response_final(7)).capture)
    assert (found["queries"], found["stray_answers"]) == (0, 2)
