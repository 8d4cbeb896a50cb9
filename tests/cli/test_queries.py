"""`zdissect queries`: who asked what, and what came back when."""

import json
from collections import Counter

import pytest

from tests.cli.listings import EXPECTED, SAMPLES, SHARED, listed, messages, refusal, run, sidecar

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
    head, first, *_ = run("queries", "--table", ROUTER).stdout.splitlines()
    assert head.split()[:3] == ["Frame", "Time", "Key"]
    assert first.split() == [
        "37", "21:44:40.696422", "svc/x", "client", "6defa3dd…", "3", "1", "42", "42", "1", "0", "0.720", "ms",
        "0.720", "ms", "answered", "2",
    ]  # fmt: skip


TRUTHFUL = [
    "03-queries-router", "03-queries-p2p", "06-lowlatency", "07-compression-mixed-sessions", "08-multilink",
    "09-udp-unicast", "10-gossip", "10-scouting-multicast", "11-websocket", "12-ipv6", "13-auth-usrpwd",
    "15-segments-of-7-bytes",
    "16-mixed-versions", "16-version-1.0.0", "16-version-1.2.0", "16-version-1.9.0", "17-shared-memory-automatic",
    "17-source-info", "17-timestamp-stack", "18-robot-fleet", "18-ros2-style-talker-listener",
]  # fmt: skip
"""Captures of which all is captured that applications got: no part of it, and nothing that a node answers itself."""


@pytest.mark.parametrize("name", TRUTHFUL)
def test_what_isn_t_dropped_is_what_the_application_got(name):
    """The values of the replies that the asker keeps, of each query; but for those that came too late."""
    asked = [one for one in sidecar(name)["operations"] if one["op"] == "get"]
    rows = listed("queries", SHARED / f"{name}.pcap")
    assert len(asked) == len(rows)
    for row, one in zip(sorted(rows, key=lambda row: row["ts_ns"]), asked, strict=True):
        kept = [
            answer["payload_len"] or 0
            for hop in row["hops"]
            if hop["passes_on_frame"] is None
            for answer in hop["answers"]
            if answer["fate"] is None
        ]
        got = [reply.get("ok") or reply["err"] for reply in one["result"]["replies"]]
        sizes = [(value["payload"] or {"len": 0})["len"] for value in got]
        late = row["ended"] == "asker timeout"
        assert late or sorted(kept) == sorted(sizes), row["request_frame"]


def test_the_tree_for_people():
    """Every request, answer and end once, with its frame; what is passed on is below what it passes on."""
    out = run("queries", ROUTER).stdout
    tree = out.split("\n\n")[1].splitlines()
    assert [line.split()[0] for line in tree] == ["44", "44", "45", "47", "47", "46", "48", "48", "50", "51", "53"]
    assert tree[0].endswith("answered: 2 replies after 1.047 ms, end after 1.230 ms  svc/x")
    assert "client 6defa3dd… asks router 31bc87a1…  session 3 id 2  All  timeout 5.00 s" in tree[1]
    assert "├─ router 31bc87a1… passes it on to client 30f9b475…" in tree[2]
    assert tree[2].endswith("[held 0.083 ms, likely]")
    assert "│  ├─ REPLY  13 B" in tree[3]
    assert "drops it" in tree[8]
    assert "[that of frame 48, held 0.201 ms]" in tree[9]
    assert "ended by the timeout of the asker, 6defa3dd…: it isn't on the wire" in out
    assert "Timeout: no answer from 4cc0fe66…" in out


def test_the_numbers_of_all():
    report = json.loads(run("queries", "--summary", "--json", ROUTER).stdout)
    keys = {key["key_expr"]: key for key in report["keys"]}
    assert keys["svc/x"]["queries"] == 13
    assert keys["svc/x"]["first_ns"]["median"] == 461_000
    hops = {(hop["from"][:4], hop["to"][:4]): hop["requests"] for hop in report["hops"]}
    assert hops == {("6def", "31bc"): 20, ("31bc", "30f9"): 16, ("31bc", "4cc0"): 12}
    nodes = {node["node"][:4]: node for node in report["nodes"]}
    assert nodes["31bc"]["forwarding_ns"]["count"] == 28
    assert nodes["4cc0"]["forwarding_ns"] is None
    shown = run("queries", "--summary", ROUTER).stdout
    assert shown.startswith("By key\n")
    assert "\nInside nodes\n" in shown


@pytest.mark.parametrize("form", ["--table", "--csv"])
def test_numbers_of_all_exclude_rows(form):
    assert "--summary" in refusal("queries", "--summary", form, ROUTER)
