"""What a handshake agrees on, and what it changes (notes 4.2 and 4.4)."""

import pytest

from tests.conversation import CLIENT, ROUTER, Conversation
from tests.messages import push, put, request
from tests.observed import assert_healthy, observed
from zdissect.pipeline import Pipeline
from zdissect.session.handshake import Parameters
from zdissect.session.opening import rust_initial_sn


def agreed(conversation: Conversation) -> Parameters | None:
    """What the only link of a conversation agreed on."""
    pipeline = Pipeline()
    for frame in conversation.capture.frames:
        pipeline.feed(frame)
    (link,) = pipeline.sessions.links.values()
    return link.handshake.agreed


def test_the_defaults() -> None:
    assert agreed(Conversation().open(patch=0)) == Parameters(32, 32, 65535, 0, True, False, False, False, False)


@pytest.mark.parametrize(
    ("name", "proposed", "answered", "field", "value"),
    [
        ("sn", 32, 8, "sn_bits", 8),
        ("sn", 64, 64, "sn_bits", 64),
        ("rid", 32, 16, "rid_bits", 16),
        ("batch_size", 65535, 2048, "batch_size", 2048),
        ("patch", 1, 0, "patch", 0),
        ("patch", 1, 1, "patch", 1),
        ("qos", True, False, "qos", False),
        ("qos", True, True, "qos", True),
        ("compression", True, False, "compression", False),
        ("compression", True, True, "compression", True),
        ("low_latency", True, False, "low_latency", False),
        ("low_latency", True, True, "low_latency", True),
        ("multilink", True, False, "multilink", False),
        ("multilink", True, True, "multilink", True),
        ("shm", True, False, "shm", False),
        ("shm", True, True, "shm", True),
    ],
)
def test_each_parameter(name: str, proposed: object, answered: object, field: str, value: object) -> None:
    """Numbers: the smaller one; extensions: both must have them."""
    parameters = agreed(Conversation().open(**{name: proposed}, answer={name: answered}))
    assert getattr(parameters, field) == value


def test_qos_by_either_of_its_extensions() -> None:
    link = [{"ext": "qos_link", "value": 1}]
    parameters = agreed(Conversation().open(qos=False, extensions=link, answer={"qos": True, "extensions": []}))
    assert parameters is not None
    assert parameters.qos


def test_an_answer_tells_even_if_the_proposal_isnt_in_the_capture() -> None:
    """The acceptor answers with what both have."""
    conversation = (
        Conversation().open(compression=True, batch_size=2048).frame(1, push(body=put(bytes(100))), compress=True)
    )
    late = [frame for frame in conversation.capture.frames if frame.number not in (1, 2, 3, 4)]
    found = observed(late)
    assert found.names == ["INIT_ACK", "OPEN_SYN", "OPEN_ACK", "FRAME", "PUSH"]
    assert not found.codes


def test_request_ids_of_all_widths() -> None:
    for bits, largest in ((8, 255), (16, 65535), (32, 2**32 - 1), (64, 2**32 - 1)):
        assert_healthy(Conversation().open(rid=bits).frame(0, request(largest)))


def test_initial_sn_is_computed_as_in_rust() -> None:
    """Recorded: 02bb to 01aa (notes 4.2)."""
    assert rust_initial_sn(ROUTER.wire_zid, CLIENT.wire_zid, 0x0FFFFFFF) == 0x8A15D7E
    assert rust_initial_sn(ROUTER.wire_zid, CLIENT.wire_zid, 0x7F) == 0x7E


def test_each_side_has_its_own_lease() -> None:
    """11 s are too long for the one that announced 10, whoever speaks then, and not for the one that announced 60."""
    for side, text in ((0, "silent for"), (1, "the other side was silent for")):
        conversation = Conversation().init_syn().init_ack().open_syn(lease=10).open_ack(lease=60)
        (found,) = observed(conversation.wait(11).keep_alive(side)).findings
        assert (found.rule.code, found.message[: len(text)]) == ("lease-exceeded", text)


def test_a_lease_in_milliseconds() -> None:
    conversation = Conversation().init_syn().init_ack().open_syn(T=0, lease=1500).open_ack(T=0, lease=1500)
    assert observed(conversation.wait(0.9).keep_alive(0)).codes == []
    assert (
        observed(conversation.wait(2.5).keep_alive(0)).codes == ["lease-exceeded"] * 2
    )  # the other side was silent as well


def test_a_batch_of_exactly_the_agreed_size() -> None:
    conversation = Conversation().open(batch_size=1024)
    frame = conversation.framed(0, push(body=put(b"")))
    size = len(conversation.bytes(0, frame))
    frame["messages"] = [push(body=put(bytes(1024 - size - 1)))]
    assert_healthy(conversation.batch(0, frame))
