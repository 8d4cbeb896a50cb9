"""Links that have ended are kept for listings; what their sessions declared isn't."""

import gc
import tracemalloc
from collections.abc import Iterator

from tests.conversation import Conversation
from tests.messages import d_keyexpr, declare, push, request
from tests.observed import observed
from tests.packets import CaptureBuilder, Parties
from zdissect.limits import Limits, Options
from zdissect.pipeline import Pipeline
from zdissect.records import Frame

KEYS = 100
KEY_SIZE = 200
TABLES = 100 * 450
"""What the tables of a session with so many keys take, at least."""


def declaring(count: int) -> Iterator[Frame]:
    """Sessions over TCP one after the other, of which each declares keys."""
    for number in range(count):
        capture = CaptureBuilder()
        conversation = Conversation(capture, parties=Parties(ports=(1024 + number, 7447))).open()
        conversation.frame(0, *(declare(d_keyexpr(ident + 1, "k" * KEY_SIZE)) for ident in range(KEYS)))
        conversation.close(0).hang_up()
        yield from capture.frames


def kept(count: int) -> int:
    """Bytes that are kept once so many links have ended. What connections keep of their segments has a limit."""
    pipeline = Pipeline(Options(history=True, limits=Limits(connections=1 << 12)))
    tracemalloc.start()
    try:
        for frame in declaring(count):
            pipeline.feed(frame)
        pipeline.close()
        del frame
        gc.collect()
        assert len(pipeline.links) == count
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_what_an_ended_session_declared_is_not_kept() -> None:
    kept(10)  # what is made once is made by now
    one, two = kept(20), kept(40)
    assert (two - one) / 20 < TABLES / 3


def test_a_session_is_kept_as_long_as_one_of_its_links_goes_on() -> None:
    """Also if all were closed: what is under way there still refers to declared keys."""
    capture = CaptureBuilder()
    first = Conversation(capture).open(multilink=True)
    other = Conversation(capture, parties=Parties(ports=(41_000, 7447))).open(multilink=True)
    first.frame(0, declare(d_keyexpr(1, "demo")))
    other.close(0)
    first.close(0).hang_up()
    other.frame(0, push(1, "/a"))
    assert "demo/a" in observed(other).keys


def test_nobody_waits_for_an_answer_in_a_session_that_was_closed() -> None:
    """Even if the next one begins on the same connection."""
    conversation = Conversation().open().frame(0, request(0, timeout=1000)).close(0)
    conversation.open().idle(8)
    assert "no-final" not in observed(conversation).codes


def test_a_link_that_is_kept_awaits_nothing() -> None:
    conversation = Conversation().open().frame(0, request(0, timeout=10**12)).close(0).hang_up()
    pipeline = Pipeline(Options(history=True))
    for frame in conversation.capture.frames:
        pipeline.feed(frame)
    pipeline.close()
    (link,) = pipeline.links
    assert not link.session.awaited.heap
    assert not link.handshake.said
