"""What has come isn't kept for as long as its deadline was."""

import pytest

from tests.conversation import Conversation
from tests.messages import request, response_final
from tests.observed import observed
from zdissect.pipeline import Pipeline
from zdissect.session import deadlines


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
