"""`zdissect queries`: who asked what, and what came back when."""

from collections import Counter

import pytest

from tests.cli.listings import EXPECTED, SAMPLES, SHARED, listed, messages, run, sidecar

ROUTER = SAMPLES / "query-router.pcap"


def test_a_query_that_several_answer():
    row = listed("queries", ROUTER)[1]
    assert (row["request_frame"], row["response_frame"], row["final_frame"]) == (44, 50, 53)
    assert (row["replies"], row["errors"], row["state"], row["requests"]) == (2, 0, "answered", 3)
    assert (row["asker_role"], row["asker"]) == ("client", "6defa3dd509d6943a8d4189807de5795")
    assert (row["session"], row["flow_id"], row["request_id"], row["target"]) == (3, "tcp.2", 2, "All")
    assert row["hops"][0]["frame"] == 44
    assert {hop["session"] for hop in row["hops"]} == {1, 2, 3}
    assert all(hop["final_frame"] for hop in row["hops"])


def test_states():
    states = {row["request_frame"]: row["state"] for row in listed("queries", ROUTER)}
    assert states[141] == "no answer"
    assert states[147] == "error"
    assert Counter(states.values()) == {"answered": 17, "no answer": 2, "error": 1}


def test_what_is_open_when_the_capture_ends():
    last = listed("queries", "-c", "49", ROUTER)[-1]
    assert (last["request_frame"], last["state"], last["final_frame"]) == (44, "open", None)
    assert listed("queries", "-c", "51", ROUTER)[-1]["state"] == "unfinished"
    assert listed("queries", "-c", "152", ROUTER)[-1]["state"] in ("open", "timed out")


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_hops_are_the_requests_of_the_message_table(name):
    requests = sorted((row["frame_number"], row["request_id"]) for row in messages(name) if row["message"] == "REQUEST")
    rows = listed("queries", SAMPLES / name)
    assert sorted((hop["frame"], hop["request_id"]) for row in rows for hop in row["hops"]) == requests
    assert all(row["requests"] == len(row["hops"]) for row in rows)


def test_the_queries_are_those_that_the_application_made():
    """What it asked, in its order; how many replies it got where nothing is consolidated; and how long it took."""
    asked = [one for one in sidecar("03-queries-router")["operations"] if one["op"] == "get"]
    rows = listed("queries", SHARED / "03-queries-router.pcap")
    selectors = [row["key_expr"] + ("?" + row["parameters"] if row["parameters"] else "") for row in rows]
    assert selectors == [one["selector"] for one in asked]
    for row, one in zip(rows, asked, strict=True):
        got = [reply for reply in one["result"]["replies"] if "ok" in reply]
        assert len(got) <= row["replies"]
        assert bool(one["result"]["replies"]) == bool(row["replies"] + row["errors"])
        assert abs(row["final_time_ns"] / 1e9 - one["result"]["took_s"]) < 0.05


def test_the_table_for_people():
    head, first, *_ = run("queries", ROUTER).stdout.splitlines()
    assert head.split()[:3] == ["Frame", "Time", "Key"]
    assert first.split() == [
        "37", "21:44:40.696422", "svc/x", "client", "6defa3dd…", "3", "1", "42", "42", "1", "0", "0.720", "ms",
        "0.720", "ms", "answered", "2",
    ]  # fmt: skip
