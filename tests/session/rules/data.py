"""Rules of samples: timestamps and defaults (notes 9 no. 56 and 57)."""

from tests.conversation import Conversation
from tests.messages import declare, entity, push, put, request, response
from tests.packets import SECOND, START_NS
from tests.session.cases import NOTE, case

NOW = START_NS // SECOND


def stamped(seconds: float, clock: bytes = b"\x01") -> dict[str, object]:
    """A sample of a time after the start of the capture."""
    return push(body=put(timestamp={"time": int((NOW + seconds) * 2**32), "id": clock}))


@case("timestamp-far", NOTE, "PUSH", "put.timestamp.time")
def a_timestamp_of_another_hour(fault: bool) -> Conversation:
    return Conversation().open().frame(0, stamped(-3700 if fault else -3500))


@case("timestamp-older", NOTE, "PUSH", "put.timestamp.time")
def a_sample_older_than_the_one_before(fault: bool) -> Conversation:
    """By one clock: two clocks need not agree."""
    return Conversation().open().frame(0, stamped(2), stamped(1, b"\x01" if fault else b"\x02"))


@case("timestamp-older", NOTE, "PUSH", "put.timestamp.time")
def a_sample_older_than_the_one_before_on_its_key(fault: bool) -> Conversation:
    return Conversation().open().frame(0, stamped(2), {**stamped(1), "suffix": "demo/x" if fault else "demo/y"})


@case("no-qos", NOTE, "DECLARE", "declare.header")
def a_declaration_without_qos(fault: bool) -> Conversation:
    message = declare(entity("SUBSCRIBER", 1))
    return Conversation().open().frame(0, {**message, "extensions": []} if fault else message)


@case("explicit-default", NOTE, "PUSH", "push.header")
def the_default_qos_written_out(fault: bool) -> Conversation:
    return Conversation().open().frame(0, push(extensions=[{"ext": "qos", "value": 5 if fault else 13}]))


@case("explicit-default", NOTE, "PUSH", "push.header")
def the_default_encoding_written_out(fault: bool) -> Conversation:
    return Conversation().open().frame(0, push(body=put(encoding={"value": 0 if fault else 2})))


@case("explicit-default", NOTE, "RESPONSE", "response.header")
def the_default_encoding_of_an_error_written_out(fault: bool) -> Conversation:
    """That of the body of a query is always written, and says nothing."""
    body = [{"ext": "body", "encoding": {"value": 0}, "payload": b"x"}]
    conversation = Conversation().open().frame(0, request(1, body={"message": "QUERY", "extensions": body}))
    return conversation.frame(
        1, response(1, body={"message": "ERR", "encoding": {"value": 0 if fault else 2}, "payload": b"x"})
    )


@case("explicit-default", NOTE, "REQUEST", "request.header")
def the_default_consolidation_written_out(fault: bool) -> Conversation:
    return Conversation().open().frame(0, request(1, consolidation=0 if fault else 3))
