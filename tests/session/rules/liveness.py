"""Rules of leases and of the end of links (notes 9 no. 26 to 29). The lease is 10 s."""

from tests.conversation import OTHER_PEER, PEER, Conversation
from tests.packets import Parties
from tests.session.cases import NOTE, WARNING, case


@case("lease-exceeded", WARNING, "KEEP_ALIVE", "keep_alive.header")
def silent_for_longer_than_the_lease(fault: bool) -> Conversation:
    """The lease is that of the sender: the other side's doesn't matter."""
    conversation = Conversation().init_syn().init_ack().open_syn(lease=10 if fault else 60).open_ack(lease=60)
    return conversation.wait(11).keep_alive(0)


@case("lease-exceeded", WARNING, "KEEP_ALIVE", "keep_alive.header")
def the_other_side_is_silent_for_longer_than_its_lease(fault: bool) -> Conversation:
    conversation = Conversation().init_syn().init_ack().open_syn(lease=60).open_ack(lease=1)
    return conversation.wait(1.4).keep_alive(0).wait(0.4 if fault else 0.01).keep_alive(0)


@case("lease-exceeded", WARNING)
def silent_until_the_connection_ends(fault: bool) -> Conversation:
    """Nobody speaks any more: the end of the stream shows it, or whatever else the capture holds."""
    return Conversation().init_syn().init_ack().open_syn(lease=1 if fault else 60).open_ack(lease=60).wait(2).hang_up()


@case("lease-exceeded", WARNING)
def hung_up_as_the_lease_is_over(fault: bool) -> Conversation:
    """The Rust implementation does so, without a CLOSE."""
    conversation = Conversation().init_syn().init_ack().open_syn(lease=60).open_ack(lease=1 if fault else 60)
    return conversation.wait(0.9).keep_alive(0).wait(0.15).hang_up()


@case("lease-exceeded", WARNING)
def silent_until_another_session_shows_it(fault: bool) -> Conversation:
    conversation = Conversation().init_syn().init_ack().open_syn(lease=1 if fault else 60).open_ack(lease=60)
    Conversation(conversation.capture, (PEER, OTHER_PEER), Parties(ports=(40001, 7447))).wait(2).open()
    return conversation


@case("lease-exceeded", WARNING, "CLOSE", "close.header", always=("close-reason",))
def closed_as_expired_after_the_lease(fault: bool) -> Conversation:
    """Who says EXPIRED has waited for as long as the lease: the slack of other silences isn't needed."""
    conversation = Conversation().init_syn().init_ack().open_syn(lease=60).open_ack(lease=1)
    return conversation.wait(0.6).keep_alive(0).wait(0.5).close(0, 5 if fault else 6)


@case("expired-early", WARNING, "CLOSE", "close.reason", b"\x05", always=("close-reason",))
def closed_as_expired_before_the_lease(fault: bool) -> Conversation:
    """The lease that counts is that of the side which was silent."""
    conversation = Conversation().init_syn().init_ack().open_syn(lease=10).open_ack(lease=60)
    return conversation.wait(3).keep_alive(0).wait(3).keep_alive(0).wait(3).keep_alive(0).close(0, 5 if fault else 6)


@case("keep-alive-late", NOTE, "KEEP_ALIVE", "keep_alive.header")
def silent_for_half_of_the_lease(fault: bool) -> Conversation:
    return Conversation().open().wait(5 if fault else 3).keep_alive(0)


@case("after-close", WARNING, "KEEP_ALIVE", "keep_alive.header")
def a_message_after_close(fault: bool) -> Conversation:
    """The other side may still speak."""
    return Conversation().open().close(0).keep_alive(0 if fault else 1)


@case("after-close", WARNING, "CLOSE", "close.header")
def a_second_close(fault: bool) -> Conversation:
    """The other side answers with one of its own."""
    return Conversation().open().close(0).close(0 if fault else 1)


@case("close-repeated", NOTE, "CLOSE", "close.header")
def a_second_close_of_a_low_latency_link(fault: bool) -> Conversation:
    """Once more in the normal framing; one from each side is no repetition."""
    return Conversation().open(low_latency=True, qos=False).close(0).raw(0 if fault else 1, b"\x02\x00\x03\x00")


@case("close-reason", NOTE, "CLOSE", "close.reason", b"\x03")
def closed_because_there_are_too_many_sessions(fault: bool) -> Conversation:
    return Conversation().open().close(1, 3 if fault else 0)
