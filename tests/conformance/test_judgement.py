"""Who broke which rule, with which bytes, what the other side did then; and what no rule could see."""

import pytest

from tests.conformance.judged import broken, judged, violations
from tests.conversation import Conversation
from tests.messages import interest, push, request, response, response_final

OPENER, ACCEPTOR = "aa01", "bb02"


def close(side: int, reason: int) -> dict[str, object]:
    return {"message": "CLOSE", "reason": reason}


def test_a_healthy_session_passes():
    conversation = Conversation().open().frame(0, push()).frame(0, request(1)).frame(1, response(1), response_final(1))
    report = judged(conversation)
    assert (report["verdict"], broken(report)) == ("passed", [])
    (session,) = report["captures"][0]["sessions"]
    assert session["unseen"] == []
    assert [(end["side"], end["role"], end["zid"]) for end in session["ends"]] == [
        ("opener", "client", OPENER),
        ("acceptor", "router", ACCEPTOR),
    ]


def test_repeats_are_one_violation_with_the_bytes_of_the_first():
    conversation = Conversation().open()
    for _ in range(12):
        conversation.frame(0, push(9, "/a"))
    conversation.frame(1, push(7, "/b"))
    report = judged(conversation)
    assert report["verdict"] == "failed"
    assert broken(report) == [("error", "unknown-scope", "opener", 12), ("error", "unknown-scope", "acceptor", 1)]
    mine, other = violations(report)
    assert (mine["zid"], mine["role"], mine["message"], mine["field"]) == (
        OPENER,
        "client",
        "PUSH PUT",
        "zenoh.push.scope",
    )
    assert (mine["bytes"], mine["length"], mine["buffer"]) == ("09", 1, "tcp")
    assert len(mine["frames"]) == 10
    assert mine["last_frame"] == mine["frames"][0] + 11
    assert mine["docs"] == "docs/rules.md#unknown-scope"
    assert (other["bytes"], other["zid"]) == ("07", ACCEPTOR)


def test_what_the_other_side_did_then():
    conversation = Conversation().open().frame(0, push(9, "/a")).frame(1, push()).frame(1, push())
    conversation.batch(1, close(1, 2))
    (one,) = violations(judged(conversation, fail_on="note", part=OPENER))
    first = one["frames"][0]
    assert one["then"] == {
        "what": "closed", "message": "PUSH PUT", "frame": first + 1, "after_ns": 1_000_000, "messages": 3,
        "end_frame": first + 3, "end_after_ns": 3_000_000, "reason": "INVALID",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("more", "what", "messages"),
    [
        (lambda one: one, "nothing", 0),
        (lambda one: one.frame(0, push()), "nothing", 0),
        (lambda one: one.frame(1, push()), "went on", 1),
        (lambda one: one.segment(1, b"", 17), "hung up", 0),
        (lambda one: one.segment(0, b"", 17), "nothing", 0),
    ],
)
def test_what_else_it_may_do(more, what, messages):
    conversation = Conversation().open().frame(0, push(9, "/a"))
    more(conversation)
    (one,) = violations(judged(conversation))
    assert (one["then"]["what"], one["then"]["messages"]) == (what, messages)


@pytest.mark.parametrize("seen_at", ["asker", "answerer", "nobody"])
@pytest.mark.parametrize(
    ("ask", "rule"), [(request(1), "no-final"), (interest(1, "Current", T=1, R=0), "interest-unanswered")]
)
@pytest.mark.parametrize("asker", [0, 1])
def test_who_leaves_a_question_unanswered_is_the_one_who_was_asked(asker, ask, rule, seen_at):
    """Whichever message shows it, or none: of that, no bytes are shown."""
    conversation = Conversation().open().frame(asker, ask)
    conversation.capture.now_ns += 12 * 10**9
    if seen_at == "nobody":
        conversation.segment(0, b"")
        conversation.segment(1, b"")
    else:
        conversation.frame(asker if seen_at == "asker" else 1 - asker, push())
    found = [one for one in violations(judged(conversation)) if one["rule"] == rule]
    assert [(one["side"], one["duty"], one["message"], one["buffer"]) for one in found] == [
        (("acceptor", "opener")[asker], "receiver", None, None)
    ]


@pytest.mark.parametrize(
    ("part", "rules"),
    [
        ("", {"unknown-scope", "second-final"}),
        ("sender", {"unknown-scope"}),
        ("receiver", {"second-final"}),
        (OPENER, {"unknown-scope"}),
        ("BB0", {"second-final"}),
    ],
)
def test_whose_part_is_judged(part, rules):
    conversation = Conversation().open().frame(0, push(9, "/a"), request(1))
    conversation.frame(1, response_final(1), response_final(1))
    assert {one["rule"] for one in violations(judged(conversation, part=part))} == rules


@pytest.mark.parametrize(
    ("profile", "verdict", "found"),
    [
        ("spec", "passed", [("warning", "vle-overlong", "opener", 1)]),
        ("rust-1.10", "passed", [("note", "vle-overlong", "opener", 1)]),
    ],
)
def test_a_profile_says_how_much_counts(profile, verdict, found):
    conversation = Conversation().open()
    data = conversation.bytes(0, conversation.framed(0, push()))
    long = data.replace(b"\x7d\x00", b"\x7d\x80\x00")
    assert long != data
    conversation.raw(0, (len(long) - 2).to_bytes(2, "little") + long[2:])
    report = judged(conversation, profile)
    assert (report["verdict"], broken(report)) == (verdict, found)


def test_what_the_capture_lacks_blames_nobody():
    conversation = Conversation().open().frame(0, push())
    lost = conversation.bytes(0, conversation.framed(0, push()))
    conversation.lose(0, lost).frame(0, push()).frame(1, push())
    report = judged(conversation)
    assert (report["verdict"], broken(report)) == ("passed", [])
    (session,) = report["captures"][0]["sessions"]
    assert [one["what"] for one in session["unseen"]] == ["tcp-gap"]
    assert report["captures"][0]["waived"] == {"sn-gap-captured": 1}


def test_a_session_from_the_middle_and_from_one_side():
    conversation = Conversation().open()
    whole = len(conversation.capture.frames)
    for _ in range(5):
        conversation.frame(0, push())
    del conversation.capture.frames[:whole]
    (session,) = judged(conversation)["captures"][0]["sessions"]
    assert [one["what"] for one in session["unseen"]] == ["handshake", "one-direction"]


def test_another_version_is_not_judged_by_the_rules_of_this_one():
    """What it seems to break isn't a rule of its own."""
    conversation = Conversation()
    conversation.init_syn(version=8).init_ack(version=8).open_syn().open_ack().frame(0, push(9, "/a"))
    report = judged(conversation)
    assert report["verdict"] == "not judged"
    assert {one["rule"] for one in violations(report)} == {"version"}
    assert report["captures"][0]["sessions"][0]["verdict"] == "not judged"


def test_nothing_is_no_pass():
    conversation = Conversation()
    assert judged(conversation)["verdict"] == "not judged"


def test_who_was_silent_for_longer_than_its_lease():
    """Whether it shows at the silent side's next message, or at the other's CLOSE."""
    own = Conversation().open().frame(0, push())
    own.capture.now_ns += 12 * 10**9
    own.frame(0, push())
    found = [one for one in violations(judged(own)) if one["rule"] == "lease-exceeded"]
    assert [one["side"] for one in found if one["zid"] == OPENER] == ["opener"]
    others = Conversation().open().frame(0, push())
    for _ in range(5):
        others.capture.now_ns += 3 * 10**9
        others.frame(1, push())
    others.batch(1, close(1, 5))
    assert [(one["side"], one["message"]) for one in violations(judged(others)) if one["rule"] == "lease-exceeded"] == [
        ("opener", None)
    ]


def test_a_node_that_only_scouts_may_be_judged():
    from tests.captures.test_receivers import refused_locator

    report = judged(refused_locator(), part="61")
    assert broken(report) == [("warning", "locator", None, 1)]
    assert judged(refused_locator(), "rust-1.10")["verdict"] == "failed"


def test_a_handshake_that_was_refused_is_not_missing():
    conversation = Conversation().init_syn().init_ack().open_syn().batch(1, close(1, 2))
    (session,) = judged(conversation)["captures"][0]["sessions"]
    assert {one["rule"] for one in session["violations"]} == {"close-reason", "handshake-refused"}
    assert session["unseen"] == []
    whole = Conversation().init_syn().init_ack().open_syn()
    (session,) = judged(whole)["captures"][0]["sessions"]
    assert [one["what"] for one in session["unseen"]] == ["handshake"]
