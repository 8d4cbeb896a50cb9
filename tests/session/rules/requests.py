"""Rules of requests and their answers (notes 9 no. 33 to 40)."""

from tests.conversation import OTHER_PEER, PEER, Conversation
from tests.messages import request, response, response_final
from tests.packets import SECOND, Parties
from tests.session.cases import ERROR, WARNING, case


@case("request-id-range", ERROR, "REQUEST", "request.request_id", b"\x80\x02")
def an_id_of_more_bits_than_agreed(fault: bool) -> Conversation:
    return Conversation().open(rid=8).frame(0, request(256 if fault else 255))


@case("request-id-reused", ERROR, "REQUEST", "request.request_id", b"\x01")
def an_id_that_is_in_use(fault: bool) -> Conversation:
    conversation = Conversation().open().frame(0, request(1))
    if not fault:
        conversation.frame(1, response_final(1))
    return conversation.frame(0, request(1))


@case("response-unknown", WARNING, "RESPONSE", "response.header")
def an_answer_to_no_request(fault: bool) -> Conversation:
    """Each side numbers its own requests: those of the answering side don't count."""
    return Conversation().open().frame(1 if fault else 0, request(7)).frame(1, response(7))


@case("response-unknown", WARNING, "RESPONSE_FINAL", "response_final.header")
def an_end_of_no_request(fault: bool) -> Conversation:
    return Conversation().open().frame(0, request(7)).frame(1, response_final(8 if fault else 7))


@case("response-after-final", ERROR, "RESPONSE", "response.header")
def an_answer_after_the_end(fault: bool) -> Conversation:
    answers = [response_final(1), response(1)] if fault else [response(1), response_final(1)]
    return Conversation().open().frame(0, request(1)).frame(1, *answers)


@case("second-final", ERROR, "RESPONSE_FINAL", "response_final.header")
def the_end_comes_again(fault: bool) -> Conversation:
    conversation = Conversation().open().frame(0, request(1)).frame(1, response_final(1))
    if not fault:
        conversation.frame(0, request(1))
    return conversation.frame(1, response_final(1))


@case("no-final", WARNING, "KEEP_ALIVE", "keep_alive.header")
def no_end_after_the_timeout(fault: bool) -> Conversation:
    """Seen at the next message, of either side."""
    return Conversation().open().frame(0, request(1, timeout=3000 if fault else 60000)).idle(6)


@case("no-final", WARNING, "KEEP_ALIVE", "keep_alive.header")
def no_end_after_ten_seconds(fault: bool) -> Conversation:
    """What a request without a timeout waits."""
    return Conversation().open().frame(0, request(1)).idle(13 if fault else 9)


@case("no-final", WARNING, "KEEP_ALIVE", "keep_alive.header")
def a_timeout_of_fifty_days(fault: bool) -> Conversation:
    """The largest number stands for no timeout at all, and for no lease either: nobody waits in vain."""
    never = 2**64 - 1
    conversation = Conversation().init_syn().init_ack().open_syn(T=0, lease=never).open_ack(T=0, lease=never)
    conversation.frame(0, request(1, timeout=2**32 if fault else never))
    conversation.capture.now_ns += 50 * 24 * 3600 * SECOND
    return conversation.keep_alive(0).keep_alive(0)


@case("no-final", WARNING)
def nothing_comes_but_the_end_of_the_connection(fault: bool) -> Conversation:
    return Conversation().open().frame(0, request(1, timeout=1000 if fault else 60000)).wait(5).hang_up()


@case("no-final", WARNING)
def nothing_comes_but_another_session(fault: bool) -> Conversation:
    conversation = Conversation().open().frame(0, request(1, timeout=1000 if fault else 60000))
    Conversation(conversation.capture, (PEER, OTHER_PEER), Parties(ports=(40001, 7447))).wait(5).open()
    return conversation


@case("answer-late", WARNING, "RESPONSE_FINAL", "response_final.header", also=("no-final",))
def an_answer_after_the_timeout(fault: bool) -> Conversation:
    """It is an answer nevertheless: it doesn't come after the end."""
    conversation = Conversation().open().frame(0, request(1, timeout=1000)).idle(4 if fault else 0)
    return conversation.frame(1, response_final(1))


@case("over-budget", WARNING, "RESPONSE", "response.header")
def more_answers_than_wanted(fault: bool) -> Conversation:
    return Conversation().open().frame(0, request(1, budget=1 if fault else 2)).frame(1, response(1), response(1))


@case("reply-key", WARNING, "RESPONSE", "response.suffix")
def an_answer_about_something_else(fault: bool) -> Conversation:
    return Conversation().open().frame(0, request(1, "demo/**")).frame(1, response(1, "other/x" if fault else "demo/x"))


@case("reply-key", WARNING, "RESPONSE", "response.suffix")
def an_answer_about_something_else_where_anything_is_welcome(fault: bool) -> Conversation:
    parameters = "a=1" if fault else "a=1;_anyke"
    return Conversation().open().frame(0, request(1, "demo/**", parameters=parameters)).frame(1, response(1, "other/x"))
