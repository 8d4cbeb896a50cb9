"""What happens in the middle of a block changes what is said of the messages after it, and of no other."""

import pytest

from tests.conversation import CLIENT, FIN, OTHER_PEER, PEER, ROUTER, Conversation
from tests.messages import declare, push, put, request, response, response_final, u_keyexpr
from tests.packets import CaptureBuilder, Parties
from tests.session.test_usual_messages import stamp
from tests.vector.decoded import assert_same
from zdissect.export.conversion_settings import Settings


class Two:
    """Two sessions in one capture, about which all that is usual is known: what follows is one block."""

    def __init__(self, **proposal: object) -> None:
        self.capture = CaptureBuilder()
        nodes = (CLIENT, ROUTER), (PEER, OTHER_PEER)
        self.one, self.other = (
            Conversation(self.capture, pair, Parties(ports=(40001 + n, 7447))).open(**proposal)
            for n, pair in enumerate(nodes)
        )
        self.usual().usual(self.other)
        self.head = len(self.capture.frames)
        self.usual().usual(self.other)

    def usual(self, talk: Conversation | None = None, count: int = 20, at: int = 1) -> "Two":
        """Usual messages of both sides."""
        for _ in range(count):
            body = put(**stamp(at))
            (talk or self.one).frame(0, push("a", body=body), push()).frame(1, push("b"))
        return self

    def same(self, least: float = 0.5, settings: Settings | None = None) -> None:
        """Blocks give what single frames give; at least so many of the frames' messages went in runs."""
        frames = self.capture.frames
        taken = assert_same(frames, [frames[: self.head], frames[self.head :]], settings)
        assert taken > least * (len(frames) - self.head)


@pytest.mark.parametrize("answered", [False, True])
def test_a_request_that_is_overdue_at_a_tick(answered: bool) -> None:
    """Its own session is silent: another one shows that time has passed."""
    both = Two()
    both.one.frame(1, request(9, timeout=500))
    both.usual()
    for _ in range(15):
        both.other.wait(0.3).frame(0, push()).frame(1, push("b"))
    if answered:
        both.one.frame(0, response(9), response_final(9))
    both.usual().same()


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("answered", [False, True])
def test_a_request_that_is_overdue_at_a_message(early: bool, answered: bool) -> None:
    """The message that shows it is a usual one otherwise; the request came before the block, or in it."""
    both = Two()
    both.one.frame(1, request(9, timeout=500))
    if early:
        both.head = len(both.capture.frames)
    for number in range(80):
        both.one.wait(0.06).frame(0, push()).frame(1, push("b"))
        if answered and number == 25:
            both.one.frame(0, response(9), response_final(9))
    both.usual().same()


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("terms", [{}, {"compression": True}, {"low_latency": True}])
def test_messages_in_the_segment_of_an_open(terms: dict[str, bool], count: int) -> None:
    both = Two()
    one, compress = both.one, "compression" in terms
    one.init_syn(**terms).init_ack(**terms)
    opening = one.bytes(0, one.opening(0, {"cookie": b"cookie"}))
    one.switch(0)
    messages = [push()] if "low_latency" in terms else [one.framed(0, push())]
    one.raw(0, opening + b"".join(one.bytes(0, *messages, compress=compress) for _ in range(count)))
    one.open_ack()
    both.usual(both.other).same()


def test_a_handshake_after_a_close() -> None:
    both = Two()
    both.one.close(0).init_syn()
    both.usual()
    both.one.init_ack()
    both.usual().usual(both.other).same(0.3)


def test_batches_get_too_large_by_a_handshake() -> None:
    both = Two()
    both.one.init_syn(batch_size=20).init_ack(batch_size=20)
    both.usual(count=40).same(0.3)


@pytest.mark.parametrize("multilink", [False, True])
def test_a_handshake_again(multilink: bool) -> None:
    """The link joins its own session once more, and so may another one."""
    both = Two(multilink=multilink)
    both.one.open(multilink=multilink)
    both.usual().usual(both.other).same(0.3)


@pytest.mark.parametrize("second", range(5))
def test_a_second_link(second: int) -> None:
    """What it brings changes what is usual on the first one, which was behind when it opened."""
    both = Two(multilink=True)
    link = Conversation(both.capture, (CLIENT, ROUTER), Parties(ports=(40003, 7447))).open(multilink=True)
    both.usual(count=10, at=2)
    if second == 0:
        link.frame(0, push("a", body=put(**stamp(500))), priority=2)
    elif second == 1:
        link.frame(0, declare(u_keyexpr(1)), priority=2)
    elif second == 2:
        both.one.frame(0, response(77), response_final(77))
    elif second == 3:
        link.fragment(0, b"\0" * 9, first=True, sn=both.one.next[0, True, 5])
    else:
        link.segment(0, b"", FIN)
    both.usual(at=3).usual(both.other).same(0.3)


def test_findings_in_runs_keep_their_order() -> None:
    both = Two()
    for number in range(20):
        both.usual(count=1)
        both.one.frame(1, response(77) if number % 4 == 1 else push("b"))
        both.other.frame(0, push())
        if number % 5 == 2:
            both.other.skip(0)
    both.usual().same()


@pytest.mark.parametrize("shift", [1 << 61, 1 << 62, 1 << 63, 3 << 62, -(1 << 60), -(1 << 63), -(1 << 64)])
def test_times_far_away(shift: int) -> None:
    both = Two()
    both.usual()
    both.capture.frames = [frame._replace(ts_ns=frame.ts_ns + shift) for frame in both.capture.frames]
    both.same(least=-1)  # all timestamps are far from the clock


@pytest.mark.parametrize("payload", [-1, 0, 1, 2])
def test_shortened_payloads(payload: int) -> None:
    both = Two()
    for size in (0, 1, 3, 0):
        both.one.frame(0, push("a", body=put(b"abc"[:size])), push())
    both.usual().same(settings=Settings(payload=payload))


@pytest.mark.parametrize("kind", ["older", "large", "silent", "segment", "fragment", "broken"])
def test_what_only_shows_behind_a_run(kind: str) -> None:
    """A sample older than those of a run, a large batch, a long silence, batches in one segment, a FRAME in a chain."""
    both = Two(batch_size=2000)
    both.usual(at=100)
    one = both.one
    if kind == "older":
        one.frame(0, push("a", body=put(**stamp(50))))
    elif kind == "large":
        for _ in range(10):
            one.frame(0, push("a", body=put(bytes(3000))))
    elif kind == "silent":
        one.wait(5).frame(0, push())
    elif kind == "segment":
        for _ in range(4):
            some = [one.bytes(0, one.framed(0, push(), response(77) if n == 1 else push())) for n in range(20)]
            one.raw(0, b"".join(some))
    else:
        one.fragment(0, b"\0" * 9, first=kind == "fragment")
    both.usual(at=101).usual(at=102).same()
