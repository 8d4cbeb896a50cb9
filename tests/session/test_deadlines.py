"""What has come isn't kept for as long as its deadline was."""

import pytest

from tests.conversation import Conversation
from tests.hostile.floods import Flood
from tests.hostile.node_floods import handshakes, requests_of_a_port
from tests.messages import push, request, response_final
from tests.observed import observed
from tests.packets import CaptureBuilder, Parties
from zdissect.flow.conversation import Flow
from zdissect.pipeline import Pipeline
from zdissect.records import Endpoint
from zdissect.session import deadlines
from zdissect.session.model import Awaited, Link
from zdissect.session.overdue import Overdue


def test_answered_requests_with_long_timeouts_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the one that isn't answered is found."""
    monkeypatch.setattr(deadlines, "ROOM", 8)
    conversation = Conversation().open().frame(0, request(0, timeout=1000))
    for ident in range(1, 200):
        conversation.frame(0, request(ident, timeout=86_400_000)).frame(1, response_final(ident))
    conversation.idle(8)
    pipeline = Pipeline()
    for frame in conversation.capture.frames:
        pipeline.feed(frame)
    (link,) = pipeline.sessions.links.values()
    assert len(link.session.awaited.heap) <= 12
    assert observed(conversation).codes == ["no-final"]


@pytest.mark.parametrize("flood", [requests_of_a_port, handshakes])
def test_what_is_over_is_not_awaited_for_as_long_as_it_said(flood: Flood) -> None:
    pipeline = Pipeline()
    for frame in flood(2000):
        pipeline.feed(frame)
    sessions = pipeline.sessions
    assert len(sessions.overdue.sessions.heap) <= 2 * deadlines.ROOM
    assert len(sessions.pairs) <= 1
    assert len(sessions.memory.tables.owners) <= 1


def test_a_session_is_listed_once_for_a_far_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often something else was due before it."""
    monkeypatch.setattr(deadlines, "ROOM", 4)
    conversation = Conversation().init_syn().init_ack().open_syn(lease=10**6).open_ack(lease=10**6)
    conversation.frame(0, request(0, timeout=86_400_000))
    for ident in range(1, 40):
        conversation.frame(0, request(ident, timeout=100)).idle(6)
    pipeline = Pipeline()
    for frame in conversation.capture.frames:
        pipeline.feed(frame)
    assert len(pipeline.sessions.overdue.sessions.heap) <= 8
    assert observed(conversation).codes == ["no-final"] * 39


def test_nobody_waits_for_who_has_left_a_session_of_several_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "ROOM", 4)
    capture = CaptureBuilder()
    first = Conversation(capture).open(multilink=True)
    for port in range(200):
        other = Conversation(capture, parties=Parties(ports=(41_000 + port, 7447))).open(multilink=True)
        other.frame(0, push()).close(0)
    first.frame(0, push())
    pipeline = Pipeline()
    for frame in capture.frames:
        pipeline.feed(frame)
    session = pipeline.sessions.links["tcp.0"].session
    assert session.shared
    assert len(session.awaited.heap) <= 12


def test_a_session_that_is_listed_again_is_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "ROOM", 4)
    overdue, link = Overdue(), Link(Flow("tcp.0", "tcp", (Endpoint(b"", 1), Endpoint(b"", 2))))
    link.session.awaited.add(1000, Awaited(link.pulses[0], link, 0, 0))
    for _ in range(40):
        link.session.listed_ns = deadlines.NEVER  # as when something else was due before
        overdue.list(link.session)
    assert len(overdue.sessions.heap) <= 4
