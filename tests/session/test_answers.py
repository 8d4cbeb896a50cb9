"""Answers are linked to what they answer: requests, interests, link states (notes 6.3, 7.3 and 7.4)."""

from tests.conversation import OTHER_ROUTER, ROUTER, Conversation
from tests.messages import declare, entity, final, interest, link_state, node, push, request, response, response_final
from tests.observed import assert_healthy, observed
from tests.packets import SECOND


def test_responses_name_their_request_and_the_time_since() -> None:
    conversation = (
        Conversation().open().frame(0, request(7)).wait(1).frame(1, response(7)).wait(2).frame(1, response_final(7))
    )
    found = observed(conversation)
    (asked,), (answer,), (end,) = found.of("REQUEST"), found.of("RESPONSE"), found.of("RESPONSE_FINAL")
    assert answer["request_frame"] == end["request_frame"] == asked["frame_number"]
    assert answer["response_time_ns"] == 1 * SECOND
    assert end["response_time_ns"] == 3 * SECOND


def test_both_sides_number_their_own_requests() -> None:
    conversation = Conversation().open().frame(0, request(1)).frame(1, request(1))
    conversation.frame(0, response_final(1)).frame(1, response_final(1))
    found = observed(conversation)
    first, second = found.of("REQUEST")
    by_client, by_router = found.of("RESPONSE_FINAL")
    assert by_client["request_frame"] == second["frame_number"]
    assert by_router["request_frame"] == first["frame_number"]
    assert not found.codes


def test_a_reused_id_is_the_new_request() -> None:
    conversation = (
        Conversation()
        .open()
        .frame(0, request(1))
        .frame(1, response_final(1))
        .frame(0, request(1))
        .frame(1, response(1))
    )
    found = observed(conversation)
    assert found.of("RESPONSE")[0]["request_frame"] == found.of("REQUEST")[1]["frame_number"]


def test_requests_may_be_answered_in_any_order() -> None:
    conversation = Conversation().open().frame(0, request(1), request(2))
    conversation.frame(1, response(2), response_final(2), response(1), response_final(1))
    assert_healthy(conversation)


def test_an_answer_whose_request_isnt_in_the_capture_is_no_finding() -> None:
    found = observed(Conversation(connect=False).frame(1, response(1), response_final(1), sn=5))
    assert not found.codes
    assert "request_frame" not in found.of("RESPONSE")[0]


def test_the_parameters_of_a_request_may_allow_any_key() -> None:
    conversation = Conversation().open().frame(0, request(1, parameters="_anyke")).frame(1, response(1, "elsewhere"))
    assert_healthy(conversation)


def test_an_error_at_a_timeout_has_no_key() -> None:
    """Scope 0 without a suffix, as routers send it."""
    body = {"message": "ERR", "payload": b"Timeout"}
    conversation = Conversation().open().frame(0, request(1)).frame(1, response(1, 0, body=body), response_final(1))
    assert_healthy(conversation)


def test_declarations_name_the_interest_that_they_answer() -> None:
    conversation = (
        Conversation()
        .open()
        .frame(0, interest(3))
        .frame(1, declare(entity("SUBSCRIBER", 1), interest=3))
        .frame(1, final(3))
    )
    found = observed(conversation)
    asked = found.of("INTEREST")[0]["frame_number"]
    assert [row["interest_frame"] for row in found.of("DECLARE")] == [asked, asked]


def test_interests_end_and_their_ids_come_again() -> None:
    conversation = (
        Conversation().open().frame(0, interest(3)).frame(1, final(3)).frame(0, interest(3, "Final"), interest(3))
    )
    assert_healthy(conversation.frame(1, final(3)))


def test_tokens_of_now_arent_remembered() -> None:
    """The answers to a liveliness query all have the id 0."""
    conversation = Conversation().open().frame(0, interest(3, "Current", T=1))
    conversation.frame(1, *(declare(entity("TOKEN", 0, key), interest=3) for key in ("a/x", "a/y")), final(3))
    assert_healthy(conversation)


def test_node_ids_are_named_by_the_senders_link_state() -> None:
    conversation = Conversation(nodes=(OTHER_ROUTER, ROUTER)).open()
    conversation.frame(0, link_state(node(1, b"\x0a\x01"))).frame(1, link_state(node(1, b"\x0b\x02")))
    for side in (0, 1):
        conversation.frame(side, push(extensions=[{"ext": "node_id", "value": 1}]))
    found = observed(conversation)
    assert [row["node_zid"] for row in found.of("PUSH")] == ["10a", "20b"]
    assert not found.codes


def test_a_node_may_be_told_again_without_its_zid() -> None:
    conversation = (
        Conversation(nodes=(OTHER_ROUTER, ROUTER))
        .open()
        .frame(0, link_state(node(1, b"\x0a")), link_state(node(1, version=2)))
    )
    assert_healthy(conversation)
