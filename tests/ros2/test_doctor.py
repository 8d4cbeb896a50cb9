"""Each kind of problem, in a conversation that has it, and not where all is well."""

import pytest

from tests.conversation import OTHER_PEER, PEER, Conversation
from tests.messages import interest, response, response_final
from tests.packets import SECOND, START_NS
from tests.ros2.robots import (
    ADD,
    CHATTER,
    CLIENT_ZID,
    HASH,
    ROUTER_ZID,
    attachment,
    ended,
    kinds,
    report,
    request_of,
    sample,
    string,
    token,
    tokens,
)  # fmt: skip
from zdissect.ros2.problem import KINDS, few, listed

TALKER = (token("NN", "talker", id=0), token("MP", "talker", "/chatter"))
LISTENER = (token("NN", "listener", zid=ROUTER_ZID, id=0), token("MS", "listener", "/chatter", zid=ROUTER_ZID))
NOW = START_NS + SECOND
"""About the time of the samples."""


def talking(*more, own=TALKER, other=LISTENER):
    """A talker that the client is, and a listener that the router is."""
    conversation = Conversation().open(patch=1)
    conversation.frame(0, *tokens(*own))
    conversation.frame(1, *tokens(*other))
    for message in more:
        conversation.frame(0, message)
    return conversation


def published(*numbers, **others):
    return [sample(seq, ts_ns=START_NS, **others) for seq in numbers]


def problem(kind, *conversations):
    (found,) = [one for one in report(*conversations)["problems"] if one["kind"] == kind]
    return found


def test_nothing_is_wrong_with_a_talker_and_a_listener():
    assert kinds(talking(*published(1, 2, 3)).close(0)) == []


def test_names_that_differ_in_case():
    other = (token("NN", "listener", zid=ROUTER_ZID), token("MS", "listener", "/Chatter", zid=ROUTER_ZID))
    assert kinds(talking(other=other)) == ["name-mismatch", "name-mismatch"]


def test_nobody_publishes():
    assert problem("no-publisher", talking(own=TALKER[:1]))["topic"] == "/chatter"


def test_all_who_get_nothing_are_named():
    second = (token("NN", "recorder", zid=ROUTER_ZID, id=2), token("MS", "recorder", "/chatter", zid=ROUTER_ZID, id=3))
    told = problem("no-publisher", talking(own=TALKER[:1], other=(*LISTENER, *second)))
    assert told["text"] == "/listener and /recorder subscribe to /chatter, and nobody publishes it"


@pytest.mark.parametrize("name", ["/robot1/chatter", "/chattr"], ids=["namespace", "typo"])
def test_a_name_that_was_perhaps_meant(name):
    """Of the same type, and alone as well."""
    own = (TALKER[0], token("MP", "talker", name))
    found = report(talking(own=own))["problems"]
    texts = {one["kind"]: one["text"] for one in found}
    question = "of the same type, likewise alone: is one of the names or namespaces wrong?"
    assert texts["no-publisher"] == (
        f"/listener subscribes to /chatter, and nobody publishes it; /talker publishes {name}, {question}"
    )
    assert texts["no-subscriber"].endswith(f"no message is sent; /listener subscribes to /chatter, {question}")
    assert [len(one["frames"]) for one in found] == [2, 2]


@pytest.mark.parametrize(
    "own",
    [
        (TALKER[0], token("MP", "talker", "/odometry")),
        (TALKER[0], token("MP", "talker", "/robot1/chatter", f"std_msgs::msg::dds_::Int32_/{HASH}")),
        (TALKER[0], token("MP", "talker", "/robot1/chatter"), token("MS", "talker", "/robot1/chatter", id=2)),
    ],
    ids=["another name", "another type", "has a partner"],
)
def test_a_name_that_was_not_meant(own):
    assert problem("no-publisher", talking(own=own))["text"].endswith(" and nobody publishes it")


def test_nobody_subscribes_but_to_topics_of_each_node():
    own = (*TALKER, token("MP", "talker", "/rosout", id=2), token("MP", "talker", "/parameter_events", id=3))
    assert problem("no-subscriber", talking(own=own, other=LISTENER[:1]))["topic"] == "/chatter"


def test_nobody_is_said_to_be_missing_where_something_arrives():
    """A subscriber whose token isn't in the capture: else nothing would be sent."""
    assert kinds(talking(*published(1), other=LISTENER[:1])) == []


def test_nobody_is_said_to_be_missing_in_a_part_of_a_conversation():
    conversation = Conversation(connect=False)
    conversation.frame(0, *tokens(*TALKER))
    assert kinds(conversation) == []


def test_an_action_without_a_server_is_one_problem():
    goal = "example_interfaces::action::dds_::Fibonacci"
    parts = [
        token("SC", "pilot", f"/go/_action/{part}", f"{goal}_{made_of}_/{HASH}", id=number)
        for number, (part, made_of) in enumerate((("send_goal", "SendGoal"), ("get_result", "GetResult")), 1)
    ]
    parts.append(token("MS", "pilot", "/go/_action/feedback", f"{goal}_FeedbackMessage_/{HASH}", id=3))
    found = report(talking(own=(token("NN", "pilot", id=0), *parts), other=()))["problems"]
    assert [(one["kind"], one.get("action")) for one in found] == [("action-no-server", "/go")]


def test_loss_is_what_is_missing_while_somebody_subscribes():
    found = problem("loss", talking(*published(1, 2, 5, 6)))
    assert (found["missing"], found["topic"]) == ([3, 4], "/chatter")
    assert kinds(talking(*published(1, 2, 3, 2, 4, 4))) == []


def test_what_nobody_asked_for_isnt_lost():
    """The numbers go on while there is no subscription, and nothing is sent."""
    conversation = talking(*published(1, 2))
    conversation.frame(1, ended(2))
    conversation.wait(1).frame(1, *tokens(LISTENER[1], first=3))
    for message in published(8, 9):
        conversation.frame(0, message)
    assert kinds(conversation) == []


def test_clocks_that_disagree():
    ahead = [sample(seq, ts_ns=START_NS + 60 * SECOND) for seq in (1, 2, 3)]
    assert "60 s before" in problem("clock-skew", talking(*ahead))["text"]
    behind = [sample(seq, ts_ns=START_NS - 60 * SECOND) for seq in (1, 2, 3)]
    assert problem("clock-skew", talking(*behind))["topic"] == "/chatter"


def test_attachments_of_releases_that_dont_go_together():
    mixed = [*published(1), sample(1, told=attachment(1, START_NS, bytes([7] * 16), named=True))]
    assert kinds(talking(*mixed)) == ["attachment-mismatch"]


def test_samples_without_an_attachment():
    assert problem("no-attachment", talking(sample(1, told=None)))["topic"] == "/chatter"
    assert kinds(talking(sample(1, told=b"something else"))) == ["no-attachment"]


def test_a_node_that_goes_without_a_word():
    gone = talking(*published(1)).idle(5).hang_up()
    assert problem("node-gone", gone)["node"] == "/talker"
    assert kinds(talking(*published(1)).idle(5).close(0).hang_up()) == []


def test_nodes_of_the_same_name():
    twin = (token("NN", "talker", zid=ROUTER_ZID, id=0), *LISTENER)
    assert problem("duplicate-node", talking(other=twin))["node"] == "/talker"
    conversation = talking(other=LISTENER)
    conversation.frame(0, ended(1))
    conversation.frame(1, *tokens(token("NN", "talker", zid=ROUTER_ZID, id=5), first=9))
    assert "duplicate-node" not in kinds(conversation)


def test_a_node_that_never_hears_of_another():
    """It asks for all tokens of its domain, and isn't told of one that others are told of."""
    first = talking(asked(3))
    second = Conversation(first.capture, (PEER, OTHER_PEER), parties=first.parties._replace(ports=(50_001, 7447)))
    second.open(patch=1)
    second.frame(0, *tokens(token("NN", "hidden", zid="cc03", id=0)))
    first.idle(4)
    second.idle(1)
    assert "never hears of /hidden" in problem("discovery-missing", first, second)["text"]


def asked(ident, domain=0):
    """An interest in the tokens of a domain."""
    return {**interest(ident, T=1, K=1), "R": 1, "N": 1, "M": 1, "scope": 0, "suffix": f"@ros2_lv/{domain}/**"}


def test_no_router():
    conversation = Conversation(nodes=(PEER, OTHER_PEER)).open(patch=1)
    conversation.frame(0, *tokens(token("NN", "talker", zid="cc03")))
    assert kinds(conversation) == ["no-router"]


def test_tokens_of_old_releases():
    old = f"@ros2_lv/0/{CLIENT_ZID}/NN/_/talker"
    assert kinds(talking(own=(old,), other=())) == ["old-tokens"]


SERVER = (token("NN", "adder", zid=ROUTER_ZID, id=0), token("SS", "adder", "/add", ADD, zid=ROUTER_ZID))
CALLER = (token("NN", "caller", id=0), token("SC", "caller", "/add", ADD))
SUM = b"\0\1\0\0" + (5).to_bytes(8, "little")


def called(answers=(), **others):
    conversation = talking(request_of(1, f"0/add/{ADD}", seq=1, **others), own=CALLER, other=SERVER)
    for answer in answers:
        conversation.frame(1, answer)
    return conversation


def reply(told=None, payload=SUM):
    body = {"message": "PUT", "payload": payload}
    if told is not None:
        body["extensions"] = [{"ext": "attachment", "value": told}]
    return response(1, f"0/add/{ADD}", body={"message": "REPLY", "body": body})


def test_calls_that_are_answered():
    entry = report(called([reply(attachment(1, NOW)), response_final(1)]))
    assert entry["problems"] == []
    assert [call["state"] for call in entry["services"]] == ["answered"]


def test_calls_that_are_answered_late_or_never():
    late = called(timeout=1000)
    late.idle(2).frame(1, reply(attachment(1, NOW)))
    assert problem("service-late", late)["service"] == "/add"
    assert problem("service-timeout", called([response_final(1)]))["service"] == "/add"
    assert kinds(called(timeout=1000).idle(3)) == ["service-timeout"]
    assert kinds(called(timeout=60_000).idle(3)) == []


def test_calls_that_end_with_an_error():
    error = {**response(1, f"0/add/{ADD}"), "body": {"message": "ERR", "payload": b"no"}}
    assert '"no"' in problem("service-error", called([error, response_final(1)]))["text"]
    over = {**response(1, f"0/add/{ADD}"), "body": {"message": "ERR", "payload": b"Timeout"}}
    assert kinds(called([over, response_final(1)])) == ["service-timeout"]


def test_two_servers_answer():
    answers = [reply(attachment(1, NOW)), reply(attachment(1, NOW + 5)), response_final(1)]
    assert kinds(called(answers)) == ["service-two-servers"]
    assert kinds(called([reply(attachment(1, NOW))] * 2)) == []  # a copy of one


def test_every_kind_has_a_severity_and_a_place_in_the_docs():
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "ros2.md").read_text(encoding="utf-8")
    assert not [kind for kind in KINDS if f"`{kind}`" not in page]


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["/a"], "/a"), (["/a", "/b"], "/a and /b"), (["/a", "/b", "/c"], "/a, /b and /c"),
     (list("abcdef"), "a, b, c, d and 2 more"), (["/a", "/a"], "/a")],
)  # fmt: skip
def test_names_in_a_sentence(names, text):
    assert listed(names) == text


def test_evidence_is_bounded():
    assert few(range(100, 0, -1)) == tuple(range(1, 17))


def test_contents_are_no_condition():
    """Without the library all but contents is there."""
    found = report(talking(sample(1, payload=string("x"), key=CHATTER)))
    (message,) = found["messages"]
    assert (message["content"], message["topic"], message["node"]) == (None, "/chatter", "/talker")
