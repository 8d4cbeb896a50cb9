"""Usual messages take over what was found out about their like, and nothing that has changed since."""

from collections import Counter

import pytest

from tests.conversation import DATA, Conversation
from tests.in_blocks import dissections, in_blocks, with_templates
from tests.messages import Values, d_keyexpr, declare, interest, push, pushed, put, request, u_keyexpr
from tests.packets import SECOND
from tests.random_traffic import random_conversation
from zdissect.dissection import Dissection, findings
from zdissect.engine.lazy_messages import LazyTape
from zdissect.engine.messages import Row
from zdissect.pipeline import dissect

START_NS = 1_700_000_000 * SECOND


def stamp(second: int) -> Values:
    """A timestamp of so many seconds after the start of the capture."""
    return {"timestamp": {"time": (START_NS // SECOND + second) << 32, "id": b"\x01\xaa"}, "T": 1}


def items(conversation: Conversation) -> list[Dissection]:
    return dissections(in_blocks(conversation.capture.frames))


def by_all_rules(conversation: Conversation) -> list[Dissection]:
    return dissections(dissect(conversation.capture.frames))


def told(found: list[Dissection]) -> tuple[list[Row], list[tuple[str, str, int, int]]]:
    """All rows and findings."""
    rows = [message.row for item in found for message in item.messages]
    return rows, [(one.rule.code, one.message, one.start, one.stop) for item in found for one in findings(item)]


def last(conversation: Conversation) -> tuple[Row, list[str]]:
    """The last row, and the codes of its findings."""
    rows, _ = told(items(conversation))
    return rows[-1], [one["code"] for one in rows[-1].get("findings", ())]


@pytest.fixture
def conversation() -> Conversation:
    """A session in which pushes to scope 1 and to demo/x are usual from the second on."""
    conversation = Conversation().open().frame(0, declare(d_keyexpr(1, "demo")))
    for _ in range(4):
        conversation.frame(0, push(1, "/a"), push())
    return conversation


def test_they_are_usual(conversation: Conversation) -> None:
    found = items(conversation)
    assert with_templates(found) == 3 * 3  # all but those of the first FRAME
    rows, _ = told(found)
    assert [row["key_expr"] for row in rows if row["message"] == "PUSH"] == ["demo/a", "demo/x"] * 4
    assert [row["key_frame"] for row in rows if row.get("key_scope")] == [8, 8, 8, 8]


def test_a_scope_that_is_freed_and_declared_anew(conversation: Conversation) -> None:
    conversation.frame(0, declare(u_keyexpr(1))).frame(0, push(1, "/a"))
    assert last(conversation)[1] == ["scope-undeclared"]
    conversation.frame(0, declare(d_keyexpr(1, "other"))).frame(0, push(1, "/a")).frame(0, push(1, "/a"))
    row, codes = last(conversation)
    assert (row["key_expr"], codes) == ("other/a", [])


def test_a_number_that_does_not_come_next(conversation: Conversation) -> None:
    conversation.skip(0, 2)
    conversation.frame(0, push())
    rows, found = told(items(conversation))
    assert [code for code, *_ in found if code.startswith("sn")] == ["sn-gap"]
    assert [one["code"] for one in rows[-2]["findings"]] == ["sn-gap"]


def test_an_older_sample(conversation: Conversation) -> None:
    for second in (1, 2, 3, 4):
        conversation.frame(0, push(body=put(**stamp(second))))
    assert with_templates(items(conversation)) == 3 * 3 + 4 + 3  # FRAMEs, and all with a time but the first
    conversation.frame(0, push(body=put(**stamp(1))))
    assert last(conversation)[1] == ["timestamp-older"]
    conversation.frame(0, push(body=put(**stamp(7300))))
    assert last(conversation)[1] == ["timestamp-far"]


@pytest.mark.parametrize("late", [-7300, 7300])
def test_a_sender_whose_clock_is_wrong(late: int) -> None:
    """Its samples are usual but for their times; each has its finding, at the time itself."""
    conversation = Conversation().open().frame(0, declare(d_keyexpr(1, "demo")))
    for second in range(20):
        body = put(**stamp(late + second - 8 * (second % 5 == 4)))
        conversation.frame(0, push(1, "/a", body=body), push(body=body))
    rows, found = told(items(conversation))
    assert (rows, found) == told(by_all_rules(conversation))
    codes = Counter(code for code, *_ in found)
    assert (codes["timestamp-far"], codes["timestamp-older"]) == (40, 8)
    assert {stop - start for *_, start, stop in found} == {9}
    made = [item.tape.made for item in items(conversation) if isinstance(item.tape, LazyTape)]
    assert made == [None] * 20, "a tape was made for a finding"


def test_a_request_that_nobody_ends(conversation: Conversation) -> None:
    conversation.frame(1, request(9, timeout=1000))
    conversation.wait(4)
    conversation.frame(0, push())
    assert last(conversation)[1] == ["no-final"]


def test_after_a_close(conversation: Conversation) -> None:
    conversation.batch(0, {"message": "CLOSE", "S": 1, "reason": 0}).frame(0, push())
    codes = [code for code, *_ in told(items(conversation))[1]]
    assert "after-close" in codes


def test_a_frame_ends_a_broken_chain(conversation: Conversation) -> None:
    """What comes behind it without a first piece is a new fault, not the rest of the old one."""
    conversation.fragment(0, b"one", first=True)
    conversation.skip(0)
    conversation.fragment(0, b"three")
    conversation.frame(0, push()).frame(0, push())
    conversation.fragment(0, b"four")
    assert last(conversation)[1] == ["fragment-no-first"]


def test_a_number_left_out_behind_a_frame(conversation: Conversation) -> None:
    """Behind fragments a sender may leave one out; once a FRAME has come instead, it may not."""
    conversation.fragment(0, pushed("demo/x", b"whole"), first=True, last=True)
    conversation.frame(0, push()).skip(0)
    conversation.frame(0, push())
    assert [code for code, *_ in told(items(conversation))[1]] == ["sn-gap"]


def test_r_is_inverted_twice(conversation: Conversation) -> None:
    """What comes between is usual, and ends the first time."""
    for _ in range(3):
        conversation.frame(0, push(), reliable=False)
    for time in range(2):
        conversation.frame(0, push(), reliable=False, sn=conversation.next[0, True, DATA])
        conversation.skip(0)
        conversation.frame(0, push(), reliable=False, sn=conversation.initial(0) + 3 + time)
    _, found = told(items(conversation))
    assert [code for code, *_ in found] == ["sn-other-channel"] * 2


def test_numbers_start_again() -> None:
    conversation = Conversation().open(sn=8)
    for _ in range(300):
        conversation.frame(0, push())
    found = items(conversation)
    assert with_templates(found) > 500
    assert told(found)[1] == []


def test_numbers_of_frames_with_something_new_start_again() -> None:
    conversation = Conversation().open(sn=8)
    for number in range(300):
        conversation.frame(0, push(0, f"demo/{number}"))
    found = items(conversation)
    assert with_templates(found) == 299  # all FRAMEs but the first, each around the first message of its kind
    assert told(found)[1] == []


def test_an_interest_that_nobody_answers(conversation: Conversation) -> None:
    conversation.frame(0, interest(1, "Current"))
    for _ in range(12):
        conversation.wait(1).frame(0, push())
    assert "interest-unanswered" in [code for code, *_ in told(items(conversation))[1]]


def test_a_hole_makes_unknown_scopes_harmless() -> None:
    conversation = Conversation().open().frame(0, push(7)).frame(0, push(7))
    rows, found = told(items(conversation))
    assert [code for code, *_ in found] == ["unknown-scope"] * 2
    assert "key_expr" not in rows[-1]


@pytest.mark.parametrize("block", range(6))
def test_whatever_comes_between(block: int) -> None:
    """All rows and findings are those of a reader that looks at each message."""
    some = total = 0
    for seed in range(block * 8, block * 8 + 8):
        conversation = random_conversation(seed)
        found = items(conversation)
        some += with_templates(found)
        total += sum(len(item.messages) for item in found)
        assert told(found) == told(by_all_rules(conversation))
    assert some > total / 3
