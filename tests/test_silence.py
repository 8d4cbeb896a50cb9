"""Time that passes in a live capture without frames shows what is overdue, and ends waits."""

from tests.conversation import Conversation
from tests.messages import push, request
from tests.packets import SECOND
from zdissect.dissection import Dissection, Item, Notice
from zdissect.pipeline import Pipeline
from zdissect.verbose import Verbose


def fed(conversation: Conversation) -> tuple[Pipeline, list[Item]]:
    pipeline = Pipeline()
    return pipeline, [item for frame in conversation.capture.frames for item in pipeline.feed(frame)]


def test_a_missing_answer_is_reported_on_a_quiet_link_once() -> None:
    conversation = Conversation().open().frame(0, request(1, timeout=3000))
    pipeline, _ = fed(conversation)
    last = conversation.capture.frames[-1]
    assert pipeline.passed(last.ts_ns + 4 * SECOND) == []
    (notice,) = pipeline.passed(last.ts_ns + 6 * SECOND)
    assert isinstance(notice, Notice)
    assert (notice.code, notice.direction) == ("no-final", 0)
    assert (notice.frame.number, notice.frame.ts_ns) == (last.number, last.ts_ns + 6 * SECOND)
    assert pipeline.passed(last.ts_ns + 7 * SECOND) == []
    silent = pipeline.passed(last.ts_ns + 12 * SECOND)
    assert {item.code for item in silent if isinstance(item, Notice)} == {"lease-exceeded"}


def test_time_does_not_go_back_and_says_nothing_before_the_first_frame() -> None:
    assert Pipeline().passed(10**18) == []
    pipeline, _ = fed(Conversation().open().frame(0, request(1, timeout=3000)))
    assert pipeline.last is not None
    assert pipeline.passed(pipeline.last.ts_ns - SECOND) == []
    assert Verbose(pipeline).passed(pipeline.last.ts_ns) == []


def test_what_waits_for_lost_bytes_is_shown_when_the_wait_is_over() -> None:
    conversation = Conversation().open()
    conversation.lose(0, b"12345").frame(0, push("k/a"))
    conversation.segment(1, b"")
    pipeline, before = fed(conversation)
    assert not any(
        message.row["message"] == "PUSH" for item in before if isinstance(item, Dissection) for message in item.messages
    )
    assert pipeline.last is not None
    after = [item for tenths in range(1, 40) for item in pipeline.passed(pipeline.last.ts_ns + tenths * SECOND // 2)]
    assert [type(item).__name__ for item in after if not isinstance(item, Notice)][:1] == ["Skip"]
    names = [message.row["message"] for item in after if isinstance(item, Dissection) for message in item.messages]
    assert "PUSH" in names


def test_what_waits_for_the_other_side_is_shown_when_the_wait_is_over() -> None:
    conversation = Conversation().open()
    conversation.lose(1, b"12345").frame(0, push("k/a"))  # acknowledges what isn't there
    pipeline, _ = fed(conversation)
    assert pipeline.causal.holding
    assert pipeline.last is not None
    after = pipeline.passed(pipeline.last.ts_ns + 2 * SECOND)
    assert [message.row["message"] for item in after if isinstance(item, Dissection) for message in item.messages] == [
        "FRAME",
        "PUSH",
    ]
    assert not pipeline.causal.holding
