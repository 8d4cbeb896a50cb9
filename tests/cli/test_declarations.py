"""`zdissect declarations`: who has declared what, from when to when."""

from collections import Counter

import pytest

from tests.cli.listings import EXPECTED, SAMPLES, SHARED, listed, messages, run, sidecar

_KINDS = {"key": "KEYEXPR", "subscriber": "SUBSCRIBER", "queryable": "QUERYABLE", "token": "TOKEN"}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_as_many_as_were_counted_independently(name):
    """What is said twice is one declaration, so there may be fewer."""
    rows, network = listed("declarations", SAMPLES / name), EXPECTED[name]["network"]
    for kind, body in _KINDS.items():
        mine = [row for row in rows if row["kind"] == kind]
        assert len(mine) <= network.get(f"DECLARE.D_{body}", 0)
        assert bool(mine) == bool(network.get(f"DECLARE.D_{body}", 0))
        ended = sum(row["ended"] == "undeclared" for row in mine)
        assert ended <= network.get(f"DECLARE.U_{body}", 0)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_frames_are_those_of_the_message_table(name):
    told = {
        (row["frame_number"], row["body"], row["entity_id"] if row["expr_id"] is None else row["expr_id"])
        for row in messages(name) if row["message"] == "DECLARE"
    }  # fmt: skip
    for row in listed("declarations", SAMPLES / name):
        if row["kind"] == "interest":
            continue
        body = _KINDS[row["kind"]]
        assert (row["frame"], f"D_{body}", row["id"]) in told
        if row["ended"] == "undeclared":
            assert (row["until_frame"], f"U_{body}", row["id"]) in told
            assert row["lasted_ns"] >= 0
        assert (row["until_frame"] is None) == (row["ended"] in ("session", "open", "reply"))


def test_a_queryable_and_its_options():
    rows = [row for row in listed("declarations", SAMPLES / "query-router.pcap") if row["kind"] == "queryable"]
    assert [(row["key_expr"], row["options"], row["frame"], row["until_frame"]) for row in rows] == [
        ("svc/**", ["complete"], 29, 189), ("svc/*", [], 30, 191), ("slow/q", ["complete"], 31, 191),
        ("silent/q", [], 33, 191),
    ]  # fmt: skip


def test_queryables_are_those_that_the_applications_declared():
    made = [one for one in sidecar("03-queries-router")["operations"] if one["op"] == "queryable"]
    rows = [row for row in listed("declarations", SHARED / "03-queries-router.pcap") if row["kind"] == "queryable"]
    assert [row["key_expr"] for row in rows] == [one["key"] for one in made]
    assert [row["options"] == ["complete"] for row in rows] == [one.get("complete", False) for one in made]


def test_tokens_and_interests():
    rows = listed("declarations", SAMPLES / "liveliness.pcap")
    interests = [row for row in rows if row["kind"] == "interest"]
    assert {row["options"][0] for row in interests} <= {"Current", "Future", "CurrentFuture"}
    assert all("tokens" in row["options"] for row in interests)
    assert {row["key_expr"] for row in rows if row["kind"] == "token"} == {
        f"group1/member/{name}" for name in ("alice", "bob", "carol", "dave")
    }
    once = [row for row in rows if row["ended"] == "reply"]
    asked = {row["frame"]: row["options"][0] for row in interests}
    assert all(asked[row["interest_frame"]] == "Current" for row in once)
    answered = [row for row in interests if row["answered_frame"]]
    finals = Counter(row["body"] for row in messages("liveliness.pcap"))["D_FINAL"]
    assert len(answered) <= finals
    assert answered


def test_what_lives_when_a_part_of_the_capture_ends():
    rows = listed("declarations", "-c", "100", SAMPLES / "query-router.pcap")
    assert {row["ended"] for row in rows} == {"open"}


def test_the_table_for_people():
    head, first, *_ = run("declarations", SAMPLES / "query-router.pcap").stdout.splitlines()
    assert " ".join(head.split()) == "Kind Id Key Options By ZenohID To Session Frame Time Until Lasted End"
    assert first.split() == [
        "key",
        "1",
        "svc",
        "client",
        "30f9b475…",
        "31bc87a1…",
        "1",
        "29",
        "21:44:40.191487",
        "session",
    ]
