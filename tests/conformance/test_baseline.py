"""What was known before doesn't count, in whatever capture, and what is gone is said."""

import json

import pytest

from tests.conformance.judged import judged, violations
from tests.conversation import OTHER_ROUTER, PEER, Conversation, Node
from tests.messages import push, request, response_final
from zdissect.conformance.baseline import BaselineError, read, written


def faulty(client: Node = PEER, scope: int = 9, times: int = 1) -> Conversation:
    conversation = Conversation(nodes=(client, OTHER_ROUTER)).open()
    for _ in range(times):
        conversation.frame(0, push(scope, "/a"))
    return conversation


def test_the_same_fault_is_known_with_other_ids_frames_and_times():
    known = read(json.dumps(written(violations(judged(faulty())))))
    other = faulty(Node(b"\x07\x08", "peer"), scope=12, times=5)
    report = judged(other, known=known)
    assert (report["verdict"], report["counts"]["known"], report["counts"]["error"]) == ("passed", 1, 0)
    assert [one["known"] for one in violations(report)] == [True]
    assert report["fixed"] == []


def test_another_role_side_or_rule_is_new():
    known = read(json.dumps(written(violations(judged(faulty())))))
    for other in (
        Conversation().open().frame(0, push(9, "/a")),
        Conversation(nodes=(PEER, OTHER_ROUTER)).open().frame(1, push(9, "/a")),
        Conversation(nodes=(PEER, OTHER_ROUTER))
        .open()
        .frame(0, request(1))
        .frame(1, response_final(1), response_final(1)),
    ):
        report = judged(other, known=known)
        assert report["verdict"] == "failed"
        assert [one["rule"] for one in report["fixed"]] == ["unknown-scope"]


def test_a_baseline_has_each_once_in_an_order_that_stays():
    found = violations(judged(faulty(times=3)))
    assert len(written([*found, *found])["violations"]) == 1
    entry = written(found)["violations"][0]
    assert {name: entry[name] for name in ("rule", "side", "role", "message", "field")} == {
        "rule": "unknown-scope", "side": "opener", "role": "peer", "message": "PUSH PUT", "field": "zenoh.push.scope",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it isn't JSON"),
        ("[" * 100_000, "it isn't JSON"),
        ("[]", "it isn't a baseline"),
        ('{"format": "zdissect-baseline", "version": 2}', "its version is 2"),
        ('{"format": "zdissect-baseline", "version": 1}', "`violations` isn't a list"),
        (
            '{"format": "zdissect-baseline", "version": 1, "violations": [{"rule": "sn-gap"}]}',
            "`violations` isn't a list",
        ),
    ],
)
def test_what_is_no_baseline_is_refused(text, why):
    with pytest.raises(BaselineError, match=why):
        read(text)
