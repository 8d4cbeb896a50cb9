"""Why a node didn't get samples: each thing that may be missing is planted, and named with the frames that show it."""

import pytest

from tests.conversation import PEER, ROUTER, Conversation, Node
from tests.messages import d_keyexpr, declare, entity, final, gone, interest, push, put
from tests.packets import CaptureBuilder, Parties
from tests.reach.star import SETTLED, Star
from zdissect.pipeline import Options, Pipeline
from zdissect.reach.key_evidence import Evidence
from zdissect.reach.reasons import NodeError, Why

TO = "ff06"
KEY = "demo/x"
CLIENT_8, ROUTER_9 = Node(b"\x08\xab", "client"), Node(b"\x09\xcd", "router")
ANOTHER_F = Node(b"\x0a\xff", "client")
"""Its name begins with f, as that of another node."""


def walked(capture, key=KEY, to=TO, source=""):
    """The steps for a capture: (verdict, code) of each, and the last step."""
    known, pipeline = Evidence(key), Pipeline(Options(history=True))
    for frame in capture.frames:
        for item in pipeline.feed(frame):
            known.feed(item)
    for item in pipeline.close():
        known.feed(item)
    known.close(pipeline, capture.frames[-1].now_ns)
    steps = Why(known, to, source).steps()
    return [(step.verdict, step.code) for step in steps], steps[-1]


@pytest.fixture
def star():
    return Star()


def sample(payload=b"1", key=KEY):
    return push(key, body=put(payload))


def last(star):
    """Number of the last frame so far."""
    return star.capture.frames[-1].number


def test_nothing_is_missing(star):
    star.subscribe(star.two, "demo/*")
    star.one.frame(0, sample())
    star.two.frame(1, sample())
    arrived = last(star)
    star.wait()
    steps, step = walked(star.capture)
    assert steps == [
        ("there", "node"), ("there", "subscriber"), ("there", "source"), ("there", "link"), ("there", "arrival")
    ]  # fmt: skip
    assert step.frames == (arrived,)


def test_no_subscriber(star):
    star.subscribe(star.two, "demo/y")
    star.one.frame(0, sample())
    steps, step = walked(star.capture)
    assert steps[-1] == ("missing", "subscriber")
    assert step.text.endswith("in common with demo/x; it subscribes to demo/y")


def test_a_subscriber_too_late(star):
    star.one.frame(0, sample())
    sent = last(star)
    star.subscribe(star.two, KEY)
    star.wait()
    steps, step = walked(star.capture)
    assert steps[-1] == ("missing", "time")
    assert step.frames == (sent,)
    assert "before the subscriber is declared" in step.text


def test_a_frame_is_named_once_however_much_of_it_shows_the_step(star):
    star.subscribe(star.two, KEY)
    star.one.frame(0, sample(), sample(b"2"), sample(b"3"))
    sent = last(star)
    star.wait()
    steps, step = walked(star.capture)
    assert steps[-1] == ("missing", "sample")
    assert (step.text.partition(" samples")[0], step.frames) == ("3 of 3", (sent,))


def test_a_subscriber_that_is_undeclared(star):
    star.subscribe(star.two, KEY)
    star.two.frame(0, declare(gone("SUBSCRIBER", 1)))
    star.capture.now_ns += SETTLED
    star.one.frame(0, sample())
    star.wait()
    steps, step = walked(star.capture)
    assert steps[-1] == ("missing", "time")
    assert "while it isn't declared" in step.text


def test_nobody_sends(star):
    star.subscribe(star.two, KEY)
    star.one.frame(0, sample(key="demo/xy"))
    steps, step = walked(star.capture)
    assert steps[-1] == ("missing", "source")
    assert step.text.endswith("there are samples on demo/xy")
    assert walked(star.capture, source="aa01")[1].text.startswith("client aa01 sends nothing on demo/x")


def test_a_router_that_does_not_pass_on(star):
    star.subscribe(star.two, KEY)
    star.one.frame(0, sample(b"1"))
    star.two.frame(1, sample(b"1"))
    star.one.frame(0, sample(b"2"))
    lost = last(star)
    star.wait()
    steps, step = walked(star.capture)
    assert ("missing", "sample") in steps
    assert step.frames == (lost,)
    assert step.text.startswith("1 of 2 samples that router bb02 has is not sent to client ff06")


def test_a_router_that_changes_the_key(star):
    star.subscribe(star.two, "demo/**")
    star.one.frame(0, sample())
    star.two.frame(1, sample(key="demox"))
    star.wait()
    steps, step = walked(star.capture)
    assert steps[-1] == ("missing", "key")
    assert step.text.endswith("as another key: demox")


def test_a_publisher_that_is_told_of_nobody_sends_nothing(star):
    """A client asks its router whether there are subscribers, and the router doesn't tell of that of another one."""
    star.subscribe(star.two, KEY)
    star.one.frame(0, interest(5, K=1, S=1, R=1, N=1, scope=0, suffix=KEY, M=1))
    star.one.frame(1, final(5))
    answered = last(star)
    star.wait()
    steps, step = walked(star.capture)
    assert ("note", "interest") in steps
    assert steps[-1] == ("missing", "declaration")
    assert step.text == "router bb02 tells client aa01 of no subscriber of demo/x"
    assert answered


def test_an_interest_without_an_answer(star):
    star.subscribe(star.two, KEY)
    star.one.frame(0, interest(5, K=1, S=1, R=1, N=1, scope=0, suffix=KEY, M=1))
    asked = last(star)
    star.wait()
    steps, step = walked(star.capture)
    assert steps[-1] == ("missing", "interest")
    assert step.frames == (asked,)


def test_a_publisher_that_was_told_and_sends_nothing(star):
    star.subscribe(star.two, KEY)
    star.one.frame(0, interest(5, K=1, S=1, R=1, N=1, scope=0, suffix=KEY, M=1))
    star.one.frame(1, declare(entity("SUBSCRIBER", 1, KEY), 5)).frame(1, final(5))
    star.wait()
    steps, step = walked(star.capture)
    assert steps[-3:] == [("there", "link"), ("there", "declaration"), ("missing", "source")]
    assert "doesn't publish" in step.text


def test_a_peer_that_its_router_does_not_tell(star):
    """The peer sends to others only."""
    star.subscribe(star.two, KEY)
    other = Conversation(star.capture, (Node(b"\x08\xab", "peer"), PEER), Parties(ports=(50000, 7448)))
    other.open()
    other.frame(1, sample())
    star.wait()
    steps, step = walked(star.capture)
    assert steps[-1] == ("missing", "declaration")
    assert step.text == "router bb02 tells peer cc03 of no subscriber of demo/x"


def test_two_networks(star):
    star.subscribe(star.two, KEY)
    other = Conversation(star.capture, (CLIENT_8, ROUTER_9), Parties(ports=(50000, 7448)))
    other.open()
    other.frame(0, sample())
    star.wait()
    assert walked(star.capture)[0][-1] == ("missing", "link")


def test_a_declaration_may_be_before_the_capture(star):
    star.subscribe(star.two, "other")
    star.one.frame(0, sample())
    star.wait()
    cut = CaptureBuilder(star.capture.frames[-5:], star.capture.now_ns)
    steps, _ = walked(cut, to="10.0.0.2:7447")
    assert ("unknown", "node") in steps
    assert ("unknown", "subscriber") in steps
    assert "missing" not in {verdict for verdict, _ in steps}


def test_samples_whose_keys_are_not_known(star):
    star.subscribe(star.two, KEY)
    star.one.frame(0, push(7))
    frame = last(star)
    steps, _ = walked(star.capture)
    assert ("unknown", "source") in steps
    star.one.frame(0, declare(d_keyexpr(7, KEY)), push(7))
    assert ("there", "source") in walked(star.capture)[0]
    assert frame


def test_nodes_that_there_are_not(star):
    with pytest.raises(NodeError, match="is no node of the capture: there are client aa01, router bb02"):
        walked(star.capture, to="77")
    two = Conversation(star.capture, (ANOTHER_F, ROUTER), Parties(ports=(50000, 7447)))
    two.open()
    with pytest.raises(NodeError, match="may be"):
        walked(star.capture, to="f")
