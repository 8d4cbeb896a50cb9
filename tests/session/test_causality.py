"""What a side said is read after what it had heard, whatever order the capture holds: state looks back."""

from tests.conversation import Conversation
from tests.messages import RECEIVER, d_keyexpr, declare, push, request, response, response_final
from tests.observed import assert_healthy, observed
from tests.packets import MS
from zdissect.dissection import Dissection
from zdissect.pipeline import Pipeline
from zdissect.records import Frame


def late(conversation: Conversation, frame: int, to: int) -> list[Frame]:
    """The capture with a frame (counted from 0) further back, as if it had been lost and sent again."""
    frames = list(conversation.capture.frames)
    frames.insert(to, frames.pop(frame))
    times = sorted(one.ts_ns for one in frames)
    return [one._replace(number=n + 1, ts_ns=times[n]) for n, one in enumerate(frames)]


def test_a_declaration_captured_after_the_other_side_used_it() -> None:
    conversation = Conversation().open().frame(0, declare(d_keyexpr(1, "demo")))
    at = len(conversation.capture.frames) - 1
    conversation.frame(1, push(1, "/x", RECEIVER)).frame(1, push(1, "/y", RECEIVER))
    found = observed(late(conversation, at, at + 2))
    assert found.keys == ["demo", "demo/x", "demo/y"]
    assert not found.codes


def test_an_answer_captured_before_its_request() -> None:
    conversation = Conversation().open().frame(0, request(1))
    at = len(conversation.capture.frames) - 1
    found = observed(late(conversation.frame(1, response(1), response_final(1)), at, at + 1))
    assert found.names[-5:] == ["FRAME", "REQUEST", "FRAME", "RESPONSE", "RESPONSE_FINAL"]
    assert not found.codes


def test_a_handshake_in_any_order() -> None:
    conversation = Conversation().open(compression=True).frame(0, push(), compress=True).frame(1, push(), compress=True)
    expected = assert_healthy(conversation).names
    for frame in range(3, len(conversation.capture.frames)):
        for to in range(3, len(conversation.capture.frames)):
            found = observed(late(conversation, frame, to))
            assert found.names == expected, (frame, to)
            assert not found.codes, (frame, to)


def test_what_was_said_without_hearing_waits_for_nothing() -> None:
    """Each frame gives its messages at once."""
    conversation = Conversation().open().frame(0, push("a")).frame(1, push("b"))
    pipeline = Pipeline()
    given = [bool(pipeline.feed(frame)) for frame in conversation.capture.frames]
    assert given == [False] * 3 + [True] * 6


def test_a_wait_ends_if_the_bytes_never_come() -> None:
    conversation = Conversation().open()
    conversation.lose(0, b"\x01\x00\x04")
    pipeline = Pipeline()
    for frame in conversation.frame(1, push("a")).capture.frames[:-1]:
        pipeline.feed(frame)
    waits = conversation.capture.frames[-1]
    assert not pipeline.feed(waits)
    conversation.capture.now_ns += 1000 * MS
    conversation.keep_alive(1)
    assert len(pipeline.feed(conversation.capture.frames[-1])) == 2


def test_nothing_is_held_back_at_the_end() -> None:
    conversation = Conversation().open()
    conversation.lose(0, b"\x01\x00\x04")
    assert observed(conversation.frame(1, push("a"))).keys == ["a"]
    assert observed(conversation.hang_up()).keys == ["a"]


def test_nothing_is_held_back_when_both_sides_have_ended() -> None:
    conversation = Conversation().open()
    conversation.lose(0, b"\x01\x00\x04")
    pipeline = Pipeline()
    given = [len(pipeline.feed(frame)) for frame in conversation.frame(1, push("a")).capture.frames]
    assert not given[-1]
    conversation.segment(0, b"", 4)
    conversation.wait(2).segment(1, b"", 4)
    names = [
        message.row["message"]
        for frame in conversation.capture.frames[len(given) :]
        for item in pipeline.feed(frame)
        if isinstance(item, Dissection)
        for message in item.messages
    ]
    assert names == ["FRAME", "PUSH"]


def test_an_acknowledged_fin_is_no_missing_byte() -> None:
    """A FIN takes a sequence number, but there is no byte."""
    conversation = Conversation().open().close(0)
    conversation.segment(0, b"", 17)
    conversation.sent[0] += 1
    pipeline = Pipeline()
    given = [pipeline.feed(frame) for frame in conversation.close(1).capture.frames]
    assert given[-1]
