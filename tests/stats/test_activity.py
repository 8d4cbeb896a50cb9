"""Rates of keys, their last values, and how many of them are kept."""

from tests.conversation import Conversation
from tests.messages import push, put, request, response
from tests.packets import SECOND
from zdissect.pipeline import dissect
from zdissect.stats.activity import Activity


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
