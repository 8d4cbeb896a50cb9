"""Bytes that no stream gets, and those around WebSocket messages, are counted as they are met: no class is a rest."""

from collections.abc import Callable
from typing import Any

import pytest
from wsproto.frame_protocol import FrameProtocol

from tests.conversation import ACK, FIN, Conversation
from tests.flow.websocket.streams import REQUEST, batch
from tests.interface_copies import InterfaceCopies
from tests.messages import push
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.stats import Stats
from zdissect.stats.accounting import CLASSES

DATA = b"\x01\x00\x04" * 100


def accounted(frames: list[Frame]) -> dict[str, Any]:
    pipeline, stats = Pipeline(Options(history=True)), Stats()
    for frame in frames:
        for item in pipeline.feed(frame):
            stats.feed(item)
    for item in pipeline.close():
        stats.feed(item)
    accounting: dict[str, Any] = stats.finish(pipeline)["accounting"]
    assert sum(accounting[name] for name in CLASSES) == accounting["captured"]
    return accounting


def again(conversation: Conversation, at: int) -> None:
    """All of it, and some more."""
    conversation.raw(0, DATA)
    conversation.segment(0, DATA[60:] + DATA[:60], offset=at + 60)


def within_what_waits(conversation: Conversation, at: int) -> None:
    """Part of it had come, and waited."""
    conversation.segment(0, DATA[90:120], offset=at + 90)
    conversation.segment(0, DATA[60:150], offset=at + 60)
    conversation.segment(0, DATA[:60], offset=at)


def beyond_a_fin(conversation: Conversation, at: int) -> None:
    conversation.segment(0, DATA[:30], FIN | ACK)
    conversation.segment(0, DATA[:60], offset=at)


def behind_an_end(conversation: Conversation, at: int) -> None:
    """It waited for what came before it; then that was the end."""
    conversation.segment(0, DATA[:60], offset=at + 90)
    conversation.segment(0, DATA[:30], FIN | ACK, offset=at)


def astray(conversation: Conversation, at: int) -> None:
    """No connection has such numbers."""
    conversation.segment(0, DATA[:60], offset=at + (1 << 31) - 5000)


@pytest.mark.parametrize(
    ("happens", "repeated"),
    [(again, 240), (within_what_waits, 30), (beyond_a_fin, 60), (behind_an_end, 60), (astray, 60)],
)
def test_segments(happens: Callable[[Conversation, int], None], repeated: int) -> None:
    conversation = Conversation().open()
    happens(conversation, conversation.sent[0])
    assert accounted(conversation.capture.frames)["repeated"] == repeated


def test_copies_of_datagrams() -> None:
    conversation = Conversation(udp=True).open().frame(0, push())
    size = sum(len(frame.data) - 42 for frame in conversation.capture.frames)
    assert accounted(InterfaceCopies().of(conversation.capture).frames)["repeated"] == size


@pytest.mark.parametrize("lost", [False, True])
def test_headers_of_websocket_frames(lost: bool) -> None:
    """Two messages, one of them in two frames around a Ping, with masks: 6 bytes each, 8 from 126 on; a part counts."""
    conversation, sender = Conversation(), FrameProtocol(client=True, extensions=[])
    whole = batch(130)
    parts = sender.send_data(whole[:30], fin=False) + sender.ping(b"p") + sender.send_data(whole[30:])
    conversation.raw(0, REQUEST).raw(0, sender.send_data(batch(120))).raw(0, parts)
    if lost:
        conversation.raw(0, sender.send_data(batch())[:10])
    accounting = accounted(conversation.capture.frames)
    assert accounting["framing"] == 8 + 6 + 6 + 6 * lost
    assert accounting["skipped"] == len(REQUEST) + 7
