"""Framings begin at a place in the stream, not at a packet (notes 3.4 and 4.4)."""

import pytest

from tests.conversation import Conversation
from tests.messages import push, put
from tests.observed import observed
from tests.packets import Parties

AGREED = pytest.mark.parametrize("what", ["compression", "low_latency"])


def agree(what: str) -> dict[str, bool]:
    return {what: True, "qos": what != "low_latency"}


@AGREED
def test_open_and_what_follows_in_one_segment(what: str) -> None:
    """OPEN is plain; the next batch isn't, though one segment holds both."""
    conversation = Conversation().init_syn(**agree(what)).init_ack(**agree(what))
    opening = conversation.bytes(0, conversation.opening(0, {"cookie": b"cookie"}))
    conversation.switch(0)
    first = conversation.bytes(0, push() if what == "low_latency" else conversation.framed(0, push()))
    conversation.raw(0, opening + first).open_ack()
    found = observed(conversation)
    assert found.names[:3] == ["INIT_SYN", "INIT_ACK", "OPEN_SYN"]
    assert found.keys == ["demo/x"]
    assert not found.codes


@AGREED
def test_both_directions_change_for_themselves(what: str) -> None:
    conversation = Conversation().init_syn(**agree(what)).init_ack(**agree(what)).open_syn()
    conversation.frame(0, push("a/by/client"))
    conversation.open_ack().frame(1, push("a/by/router"))
    found = observed(conversation)
    assert found.keys == ["a/by/client", "a/by/router"]
    assert not found.codes


@AGREED
@pytest.mark.parametrize("udp", [False, True])
def test_keep_alive_and_close_have_the_new_form_too(what: str, udp: bool) -> None:
    conversation = Conversation(udp=udp).open(**agree(what)).keep_alive(0).keep_alive(1).close(0)
    found = observed(conversation)
    assert found.names[4:] == ["KEEP_ALIVE", "KEEP_ALIVE", "CLOSE"]
    assert not found.codes


def test_compressed_and_plain_batches_mix() -> None:
    conversation = Conversation().open(compression=True)
    conversation.frame(0, push("a", body=put(bytes(500))), compress=True).frame(0, push("b")).frame(
        0, push("c"), compress=True
    )
    found = observed(conversation)
    assert found.keys == ["a", "b", "c"]
    assert [row.get("compressed", False) for row in found.of("PUSH")] == [True, False, True]


def test_a_compressed_batch_is_cut_into_segments() -> None:
    conversation = Conversation().open(compression=True).frame(0, push(body=put(bytes(500))), compress=True, pieces=7)
    assert observed(conversation).keys == ["demo/x"]


def test_one_close_in_the_normal_form_ends_a_low_latency_stream() -> None:
    for first in (True, False):
        conversation = Conversation().open(**agree("low_latency")).frame(0, push())
        if first:
            conversation.close(0)
        found = observed(conversation.raw(0, b"\x02\x00\x03\x00"))
        assert found.names.count("CLOSE") == 1 + first
        assert found.codes == (["close-repeated"] if first else [])


def test_a_plain_close_on_a_compressed_link() -> None:
    """A side that gives up during the handshake may write it so."""
    conversation = (
        Conversation().init_syn(compression=True).init_ack(compression=True).open_syn().raw(1, b"\x02\x00\x03\x02")
    )
    found = observed(conversation)
    assert (found.names[-1], found.codes) == ("CLOSE", ["close-reason", "handshake-refused"])


@AGREED
def test_only_one_side_wants_it(what: str) -> None:
    conversation = Conversation().open(**agree(what), answer={what: False}).frame(0, push()).frame(1, push())
    found = observed(conversation)
    assert found.keys == ["demo/x", "demo/x"]
    assert not found.codes


def test_an_empty_batch_holds_nothing() -> None:
    found = observed(Conversation().open().batch(0).frame(0, push()))
    assert found.names[4:] == ["FRAME", "PUSH"]
    assert not found.codes


def test_several_messages_in_one_batch() -> None:
    """A FRAME ends where another transport message begins."""
    conversation = Conversation().open()
    conversation.batch(
        0,
        conversation.framed(0, push("a"), push("b"), reliable=False),
        conversation.framed(0, push("c")),
        {"message": "KEEP_ALIVE"},
    )
    found = observed(conversation)
    assert found.names[4:] == ["FRAME", "PUSH", "PUSH", "FRAME", "PUSH", "KEEP_ALIVE"]
    assert [row["reliability"] for row in found.of("PUSH")] == ["best_effort", "best_effort", "reliable"]


@AGREED
@pytest.mark.parametrize("udp", [False, True])
def test_what_was_agreed_isnt_in_the_capture(what: str, udp: bool) -> None:
    """One direction only, or INITs cut by the capture: how batches are framed is found by trying."""
    conversation = Conversation(udp=udp).open(**agree(what))
    for name in ("a", "b", "c"):
        conversation.frame(0, push(name, body=put(bytes(99))), compress=what == "compression")
    frames = conversation.keep_alive(0).close(0).capture.frames
    one_sided = observed([frame for frame in frames if frame.data[29] == 1])
    assert one_sided.keys == ["a", "b", "c"]
    assert one_sided.codes == ["guessed-framing"]
    kept, handshake = (50, 2) if udp else (64, 5)
    cut = observed([frame._replace(data=frame.data[:kept]) if frame.number <= handshake else frame for frame in frames])
    assert cut.keys == ["a", "b", "c"]
    assert set(cut.codes) == {"guessed-framing", "cut-by-capture"}


def test_nothing_special_was_agreed_and_it_isnt_in_the_capture() -> None:
    conversation = Conversation().open().frame(0, push("a")).frame(0, push("b"), pieces=4).close(0)
    found = observed([frame for frame in conversation.capture.frames if frame.data[29] == 1])
    assert found.keys == ["a", "b"]
    assert not found.codes


@AGREED
def test_datagrams_on_any_port_from_the_middle_of_a_handshake(what: str) -> None:
    """They wait for a proof; how the first ones are framed changes between them."""
    conversation = Conversation(udp=True, parties=Parties(ports=(40000, 9999))).open(**agree(what))
    for name in ("a", "b", "c"):
        conversation.frame(0, push(name, body=put(bytes(99))), compress=what == "compression")
    found = observed(conversation.capture.frames[2:])
    assert found.keys == ["a", "b", "c"]
    assert found.codes == ["guessed-framing"]
