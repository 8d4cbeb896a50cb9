"""Rates of keys, their last values, and how many of them are kept."""

from collections.abc import Iterable

from tests.conversation import Conversation
from tests.in_blocks import fed_in_blocks, small_blocks
from tests.messages import push, put, request, response
from tests.packets import SECOND
from tests.random_traffic import random_conversation
from tests.vector.item_blocks import usual_frames
from zdissect.dissection import InTurn
from zdissect.pipeline import Options, Pipeline, dissect
from zdissect.records import Frame
from zdissect.stats.activity import Activity, KeyActivity


def activity(conversation: Conversation, limit: int = 10) -> Activity:
    out = Activity(limit)
    for item in dissect(conversation.capture.frames):
        out.take(item)
    return out


def test_a_key_has_its_messages_bytes_and_last_value() -> None:
    conversation = (
        Conversation().open().frame(0, push("a/b", body=put(b"first"))).frame(0, push("a/b", body=put(b"ok")))
    )
    known = activity(conversation).keys["a/b"]
    assert (known.messages, known.size, known.value, known.value_size) == (2, 7, b"ok", 2)
    long = activity(Conversation().open().frame(0, push("a/b", body=put(b"x" * 1000)))).keys["a/b"]
    assert (long.size, long.value_size, long.value) == (1000, 1000, b"x" * 64)


def test_answers_count_and_what_is_deleted_has_no_value() -> None:
    conversation = Conversation().open().frame(0, request(1, "a")).frame(1, response(1, "a"))
    conversation.frame(0, push("b", body={"message": "DEL"}))
    known = activity(conversation)
    assert {name: key.messages for name, key in known.keys.items()} == {"a": 1, "b": 1}
    assert known.keys["b"].value_size is None
    assert known.total.messages == 2


def test_rates_are_those_of_the_last_marks() -> None:
    known = activity(Conversation().open().frame(0, push("a", body=put(b"1234"))))
    key = known.keys["a"]
    start_ns = key.first_ns
    assert known.total.first_ns == start_ns
    assert key.rates(start_ns) == (1.0, 4.0)  # not measured over no time
    assert key.rates(start_ns + 2 * SECOND) == (0.5, 2.0)
    known.mark(start_ns + 2 * SECOND)
    assert key.rates(start_ns + 4 * SECOND) == (0.0, 0.0)
    for second in range(3, 30):
        known.mark(start_ns + second * SECOND)
    assert len(key.marks) == 10


def test_only_so_many_keys_are_kept_those_that_spoke_last() -> None:
    conversation = Conversation().open()
    for name in ("a", "b", "c", "a", "d"):
        conversation.frame(0, push(name))
    known = activity(conversation, limit=3)
    assert ([*known.keys], known.dropped, known.total.messages) == (["c", "a", "d"], 1, 5)


def test_findings_are_counted_and_the_last_is_told() -> None:
    known = activity(Conversation().open().frame(0, push(9, "/a")))
    assert known.findings == {"unknown-scope": 1}
    assert known.last_finding is not None
    assert known.last_finding.rule.code == "unknown-scope"


def by_columns(frames: Iterable[Frame]) -> tuple[Activity, int]:
    """The activity in blocks, and how many batches were taken by their columns."""
    out, pipeline, counted = Activity(100), Pipeline(Options()), 0
    with small_blocks(4):
        for _, items in fed_in_blocks(pipeline, frames, out.usual):
            for item in items:
                if isinstance(item, InTurn):
                    item.take()
                    counted += 1
                else:
                    out.take(item)
    for item in pipeline.close():
        out.take(item)
    return out, counted


def told(known: Activity) -> tuple[int, KeyActivity, list[tuple[str, KeyActivity]]]:
    """All that it knows, with the keys in the order in which they spoke last."""
    return known.messages, known.total, [*known.keys.items()]


def test_usual_batches_are_taken_by_columns_with_the_same_result() -> None:
    total = 0
    for frames in (usual_frames(), *(random_conversation(seed).capture.frames for seed in range(8))):
        one_by_one = Activity(100)
        for item in dissect(frames):
            one_by_one.take(item)
        known, counted = by_columns(frames)
        assert told(known) == told(one_by_one)
        total += counted
    assert total > len(usual_frames()) / 2


def test_the_last_value_is_that_of_the_last_message_whatever_its_kind() -> None:
    """A key has messages of several kinds in a block, and others between them that don't come in columns."""
    made = Conversation().open()
    for number in range(30):
        made.frame(0, push("b"), push("a", body=put(b"%d" % number)))
        made.frame(0, push("a", body={"message": "DEL"} if number % 3 else put(b"", encoding={"id": 4})))
    made.frame(0, push("a", body={"message": "DEL"}), push("b"), push("a", body=put(b"end")))
    made.frame(1, request(1, "c")).frame(0, response(1, "c"), push("b", body=put(b"last")))
    known, counted = by_columns(made.capture.frames)
    assert counted
    assert [*known.keys] == ["a", "c", "b"]
    assert (known.keys["a"].value, known.keys["b"].value) == (b"end", b"last")
