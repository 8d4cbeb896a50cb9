"""What differs between two captures of the same session, and what differs every time and isn't told."""

from typing import Any

import pytest

from tests.conversation import CLIENT, PEER, ROUTER, Conversation, Node
from tests.messages import d_keyexpr, declare, entity, push, put, request, response, response_final
from tests.packets import Parties
from zdissect.comparison import Recording, compare
from zdissect.comparison.recording import MOST_COMPARED, Compared
from zdissect.comparison.varying import COUNTED, NUMBERED, SECRET
from zdissect.grammar.registry import wire_fields
from zdissect.pipeline import Options, Pipeline

Report = dict[str, Any]
OTHER_CLIENT, OTHER = Node(b"\x11" * 12, "client"), Node(b"\x22" * 12, "router")
CLOCKS = (b"\x11" * 12, b"\x01\xaa")


def recorded(*conversations: Conversation) -> list[Compared]:
    pipeline, recording = Pipeline(Options(history=True)), Recording()
    frames = [frame for one in conversations for frame in one.capture.frames]
    for frame in frames:
        recording.frame(frame)
        for item in pipeline.feed(frame):
            recording.feed(item)
    for item in pipeline.close():
        recording.feed(item)
    return recording.sessions_of(pipeline)


def compared(a: Conversation, b: Conversation, **options: Any) -> Report:
    return compare(recorded(a), recorded(b), **options)


def told(report: Report) -> list[tuple[Any, ...]]:
    """(side, message, key, field, text in A, text in B), or (..., messages in A, messages in B)."""
    out = []
    for session in report["sessions"]:
        for one in session["differences"]:
            where = one["side"], one["message"], one["key"]
            if "field" in one:
                out.append((*where, one["field"], *(one[name] and one[name]["text"] for name in "ab")))
            else:
                out.append((*where, one["messages"]["a"], one["messages"]["b"]))
    return out


def session(other: bool = False, qos: int = 5, payload: bytes = b"x") -> Conversation:
    """A session with everything that differs every time."""
    nodes = (OTHER_CLIENT, OTHER) if other else (CLIENT, ROUTER)
    parties = Parties(("10.9.9.9", "10.9.9.8"), (1234, 7448)) if other else Parties()
    conversation = Conversation(nodes=nodes, parties=parties)
    conversation.init_syn().init_ack(cookie=b"other" if other else b"cookie")
    conversation.open_syn(cookie=b"other" if other else b"cookie").open_ack()
    stamp = {"time": 77 + other, "id": CLOCKS[not other]}
    exts = [{"ext": "qos", "value": qos}]
    ident = 7 if other else 1
    conversation.frame(0, declare(d_keyexpr(ident, "demo")), declare(entity("SUBSCRIBER", ident, "demo/**")))
    conversation.frame(0, push(ident, "/a", body=put(payload, T=1, timestamp=stamp), extensions=exts))
    conversation.frame(0, request(ident, "demo/q"))
    return conversation.frame(1, response(ident, "demo/q"), response_final(ident))


def test_ids_numbers_times_zenohids_and_cookies_are_no_differences():
    report = compared(session(), session(other=True))
    assert (told(report), report["same"], report["only"]) == ([], True, [])
    assert [(one["a"], one["b"], one["order"]) for one in report["sessions"]] == [(1, 1, [])]


def test_a_value_is_told_with_its_bytes_and_frames():
    report = compared(session(), session(other=True, payload=b"yy"))
    assert told(report) == [("opener", "PUSH PUT", "demo/a", "put.payload", '1 byte  "x"', '2 bytes  "yy"')]
    (one,) = report["sessions"][0]["differences"]
    assert (one["count"], one["a"]["bytes"], one["b"]["bytes"]) == (1, "0178", "027979")
    assert one["a"]["frame"] == one["b"]["frame"]
    assert not report["same"]


def test_bits_are_told_one_by_one():
    assert told(compared(session(), session(qos=13))) == [
        ("opener", "PUSH PUT", "demo/a", "push.ext_qos.d", "0 may be dropped", "1 don't drop")
    ]


def test_a_missing_extension_is_told_once():
    with_patch, without = Conversation().open(patch=1), Conversation().open(patch=0)
    assert told(compared(with_patch, without)) == [
        ("opener", "INIT_SYN", None, "init.ext_patch", "present", None),
        ("acceptor", "INIT_ACK", None, "init.ext_patch", "present", None),
    ]
    assert told(compared(without, with_patch))[0] == ("opener", "INIT_SYN", None, "init.ext_patch", None, "present")


def test_an_unknown_extension_goes_by_its_header():
    one = Conversation().open().batch(0, {"message": "CLOSE", "reason": 0})
    other = Conversation().open().batch(0, {"message": "CLOSE", "reason": 0, "extensions": [{"ext": 14}]})
    assert told(compared(one, other)) == [("opener", "CLOSE", None, "ext 0x0e", None, "present")]


@pytest.mark.parametrize("shuffled", [False, True])
def test_declarations_in_another_order_are_no_differences(shuffled):
    kinds = [entity("SUBSCRIBER", 1, "a"), entity("QUERYABLE", 2, "b"), entity("TOKEN", 3, "c")]
    one, other = Conversation().open(), Conversation().open()
    for kind in kinds:
        one.frame(0, declare(kind))
    for kind in kinds[::-1] if shuffled else kinds:
        other.frame(0, declare(kind))
    report = compared(one, other)
    assert (report["same"], told(report)) == (True, [])
    assert len(report["sessions"][0]["order"]) == (2 if shuffled else 0)


def test_messages_that_one_side_lacks():
    one, other = Conversation().open(), Conversation().open()
    for conversation, times in ((one, 3), (other, 2)):
        for number in range(times):
            conversation.frame(0, push("k", body=put(str(number).encode())))
    assert told(compared(one, other)) == [("opener", "PUSH PUT", "k", 3, 2)]
    assert told(compared(other.frame(1, push("z")), one)) == [
        ("opener", "PUSH PUT", "k", 2, 3),
        ("acceptor", "PUSH PUT", "z", 1, 0),
    ]


def test_one_message_less_does_not_shift_the_others():
    """The rest are aligned by their content."""
    one, other = Conversation().open(), Conversation().open()
    for number in range(20):
        one.frame(0, push("k", body=put(b"%d" % number)))
        if number != 4:
            other.frame(0, push("k", body=put(b"%d" % number)))
    assert told(compared(one, other)) == [("opener", "PUSH PUT", "k", 20, 19)]


def test_a_key_with_an_id_is_told_once():
    one = Conversation().open().frame(0, declare(d_keyexpr(1, "demo"))).frame(0, push(1, "/a"))
    other = Conversation().open().frame(0, declare(d_keyexpr(1, "demo"))).frame(0, push("demo/a"))
    assert told(compared(one, other)) == [("opener", "PUSH PUT", "demo/a", "push.scope", "<declared id>", "0")]


def test_a_long_payload_differs_behind_what_is_shown():
    one, other = (Conversation().open().frame(0, push("k", body=put(b"a" * 90 + end))) for end in (b"x", b"y"))
    (difference,) = compared(one, other)["sessions"][0]["differences"]
    assert difference["field"] == "put.payload"


def test_zenohids_in_keys_are_those_of_the_session():
    def with_key(client: Node) -> Conversation:
        zid = client.wire_zid[::-1].hex()
        return Conversation(nodes=(client, ROUTER)).open().frame(0, push(f"@/{zid}/state"))

    nodes = (Node(b"\x31" * 8, "client"), Node(b"\x32" * 8, "client"))
    report = compared(*map(with_key, nodes))
    assert report["same"], told(report)


def test_the_same_difference_is_told_once_with_its_number():
    one, other = Conversation().open(), Conversation().open()
    for conversation, reliable in ((one, True), (other, False)):
        for number in range(7):
            conversation.frame(0, push("k", body=put(b"%d" % number)), reliable=reliable)
    (difference,) = compared(one, other)["sessions"][0]["differences"]
    assert (difference["field"], difference["count"]) == ("[reliability]", 7)
    assert (difference["a"]["text"], difference["b"]["text"]) == ("reliable", "best_effort")


def test_fields_and_sessions_can_be_chosen():
    one, other = session(), session(other=True, payload=b"yy")
    assert compared(one, other, ignored=["put.payload"])["same"]
    assert compared(one, other, ignored=["zenoh.put.*"])["same"]
    assert not compared(one, other, ignored=["put.encoding"])["same"]


def test_what_a_message_has_of_its_frame_can_be_ignored_by_its_name():
    """Although brackets are wildcards."""
    one = Conversation().open().frame(0, push("demo"))
    other = Conversation().open().frame(0, push("demo"), reliable=False)
    assert told(compared(one, other)) == [("opener", "PUSH PUT", "demo", "[reliability]", "reliable", "best_effort")]
    assert compared(one, other, ignored=["[reliability]"])["same"]
    assert not compared(one, other, ignored=["[sent]"])["same"]
    report = compared(one, other, chosen=[(1, 1)])
    assert [(row["a"], row["b"]) for row in report["sessions"]] == [(1, 1)]


def test_any_key_compares_messages_of_different_keys():
    one, other = (Conversation().open().frame(0, push(name, body=put(name.encode()))) for name in ("a/b", "c/d/e"))
    assert len(told(compared(one, other))) == 2
    assert [row[3] for row in told(compared(one, other, any_key=True))] == ["put.payload"]


def test_sessions_belong_together_by_their_roles():
    def peers(number: int) -> Conversation:
        parties = Parties(("10.0.0.7", "10.0.0.8"), (2000 + number, 7447))
        return Conversation(nodes=(PEER, Node(b"\x05\x06", "peer")), parties=parties).open()

    a, b = recorded(session(), peers(1)), recorded(peers(2), session(other=True))
    report = compare(a, b)
    assert [(one["a"], one["b"]) for one in report["sessions"]] == [(1, 2), (2, 1)]
    assert report["same"]
    alone = compare(a, recorded(session(other=True)))
    assert alone["only"] == [{"capture": "a", "session": 2, "title": "peer 10.0.0.7:2001 → peer 10.0.0.8:7447"}]
    assert not alone["same"]
    lone = compare(recorded(peers(1)), recorded(session()))
    assert [(one["a"], one["b"]) for one in lone["sessions"]] == [(1, 1)]
    assert ("opener", "INIT_SYN", None, "init.whatami", "1 peer", "2 client") in told(lone)


def test_many_messages_are_counted_in_full_and_compared_in_part():
    one, other = Conversation().open(), Conversation().open()
    for conversation, last in ((one, b"x"), (other, b"y")):
        for _ in range(MOST_COMPARED + 5):
            conversation.frame(0, push("k", body=put(b"0")))
        conversation.frame(0, push("k", body=put(last)))
    assert told(compared(one, other)) == []
    assert told(compared(one, Conversation().open())) == [("opener", "PUSH PUT", "k", MOST_COMPARED + 6, 0)]


def test_the_names_of_what_varies_exist():
    fields = wire_fields().values()
    assert {field.column for field in fields} >= NUMBERED
    assert {field.name for field in fields} >= COUNTED | SECRET


def test_whose_table_means_nothing_without_an_id():
    """Notes 1.6: Rust writes 1 then, zenoh-pico 0 or 1."""
    one, other = (Conversation().open().frame(0, push("demo/a", mapping=mapping)) for mapping in (0, 1))
    assert compared(one, other)["same"]
    scoped = [Conversation().open().frame(1 - side, declare(d_keyexpr(1, "demo"))) for side in (0, 1)]
    for mapping, conversation in enumerate(scoped):
        conversation.frame(0, push(1, "/a", mapping=mapping))
    assert ("opener", "PUSH PUT", "demo/a", "push.m") in [row[:4] for row in told(compared(*scoped))]
