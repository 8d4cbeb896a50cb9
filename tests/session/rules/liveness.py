"""Rules of leases and of the end of links (notes 9 no. 26 to 29). The lease is 10 s."""

from tests.session.cases import NOTE, WARNING, case
from tests.talk import Talk


@case("lease-exceeded", WARNING, "KEEP_ALIVE", "keep_alive.header")
def silent_for_longer_than_the_lease(fault: bool) -> Talk:
    """The lease is that of the sender: the other side's doesn't matter."""
    talk = Talk().init_syn().init_ack().open_syn(lease=10 if fault else 60).open_ack(lease=10)
    return talk.wait(11).keep_alive(0)


@case("keep-alive-late", NOTE, "KEEP_ALIVE", "keep_alive.header")
def silent_for_half_of_the_lease(fault: bool) -> Talk:
    return Talk().open().wait(5 if fault else 3).keep_alive(0)


@case("after-close", WARNING, "KEEP_ALIVE", "keep_alive.header")
def a_message_after_close(fault: bool) -> Talk:
    """The other side may still speak."""
    return Talk().open().close(0).keep_alive(0 if fault else 1)


@case("after-close", WARNING, "CLOSE", "close.header")
def a_second_close(fault: bool) -> Talk:
    """The other side answers with one of its own."""
    return Talk().open().close(0).close(0 if fault else 1)


@case("close-repeated", NOTE, "", "close.header")
def a_second_close_of_a_low_latency_link(fault: bool) -> Talk:
    """Once more in the normal framing; one from each side is no repetition."""
    return Talk().open(low_latency=True, qos=False).close(0).raw(0 if fault else 1, b"\x02\x00\x03\x00")


@case("close-reason", NOTE, "CLOSE", "close.reason", b"\x03")
def closed_because_there_are_too_many_sessions(fault: bool) -> Talk:
    return Talk().open().close(1, 3 if fault else 0)
