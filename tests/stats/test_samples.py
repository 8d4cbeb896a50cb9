"""The numbers of the samples are those that were counted when they were recorded."""

import json
from collections import Counter

import pytest

from tests.stats.reports import SAMPLES, report

MORE = {
    "trailing-byte.pcap": {"OAM": 1},  # what the byte too many is read as, with a finding
}
"""What is read beyond what was counted."""

EXPECTED = json.loads((SAMPLES / "expected.json").read_text())


def _kinds(found: dict, *layers: str) -> dict[str, int]:
    """Messages by kind as expected.json names them: PUSH.PUT, RESPONSE.PUT, REQUEST."""
    out: Counter[str] = Counter()
    for one in found["messages"]:
        if one["layer"] in layers:
            body = one["reply_body"] or (one["body"] if one["body"] != "QUERY" else None)
            out[f"{one['message']}.{body}" if body else one["message"]] += one["count"]
    return dict(out)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_messages_by_kind(name):
    found, expected = report(SAMPLES / name), EXPECTED[name]
    assert _kinds(found, "network") == expected["network"]
    assert Counter(_kinds(found, "transport", "scouting")) == Counter(expected["transport"]) + Counter(MORE.get(name))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_keys(name):
    found, expected = report(SAMPLES / name)["keys"], EXPECTED[name]
    listed = [key for key in found["listed"] if key["resolved"]]
    puts = {key["key_expr"]: key["puts"] for key in listed if key["puts"]}
    assert puts == expected["push_puts_per_key"]
    deletes = {key["key_expr"]: key["deletes"] for key in listed if key["deletes"]}
    assert deletes == expected.get("push_deletes_per_key", {})
    assert found["distinct"] == len(found["listed"])
    assert found["others"] is None


def test_a_key_that_is_not_known():
    (key,) = report(SAMPLES / "duplicate-sn.pcap")["keys"]["listed"]
    assert key["key_expr"].startswith("?29")
    assert not key["resolved"]
    assert key["puts"] == 6


def test_a_key_through_a_router():
    """A sample is seen on both hops: both send it, and the rate is that of one hop."""
    listed = report(SAMPLES / "declared-keys-router.pcap")["keys"]["listed"]
    pose = next(key for key in listed if key["key_expr"].endswith("arm/pose"))
    assert (pose["messages"], len(pose["sources"])) == (26, 2)
    assert 5 < pose["rate_hz"] < 15


def test_queries():
    found = report(SAMPLES / "query-router.pcap")["queries"]
    assert (found["queries"], found["requests"], found["replies"], found["errors"]) == (20, 48, 28, 3)
    assert (found["unanswered"], found["without_reply"], found["stray_answers"]) == (0, 2, 0)
    assert found["silent"] == {"count": 2, "frames": [141, 143]}
    assert found["final_time_ns"]["count"] == 20
    times = found["response_time_ns"]
    assert times["count"] == 20 - 2
    assert 0 < times["min"] <= times["median"] <= times["p95"] <= times["max"] < 3e9
    assert sum(key["queries"] for key in found["keys"]) == 20
    slow = next(key for key in found["keys"] if key["key_expr"] == "slow/q")
    assert (slow["queries"], slow["requests"], slow["replies"], slow["errors"]) == (2, 4, 1, 2)


def test_sessions():
    (session,) = report(SAMPLES / "pubsub-tcp.pcap")["sessions"]
    opener, other = session["ends"]
    assert (opener["role"], other["role"], opener["version"], opener["lease_ms"]) == ("peer", "peer", 9, 10_000)
    assert session["handshake"] == "complete"
    assert session["negotiated"]["qos"]
    assert not session["negotiated"]["compression"]
    assert session["ended"]["how"] == "close"
    assert session["ended"]["reason"] == "GENERIC"
    assert session["links"][0]["flow_id"] == "tcp.0"
    assert opener["bytes"] + other["bytes"] == 721
    assert opener["messages"] + other["messages"] == 37


def test_a_flow_without_a_handshake():
    found = report(SAMPLES / "duplicate-sn.pcap")
    (session,) = found["sessions"]
    assert session["handshake"] == "none"
    assert session["negotiated"] is None
    assert session["ended"] == {"how": "open", "by": None, "reason": None}
    codes = {one["code"]: one for one in found["findings"]}
    assert codes["sn-duplicate"]["count"] == 1
    assert codes["sn-duplicate"]["first_frame"] == 4


def test_compressed_bytes_count_once():
    accounting = report(SAMPLES / "compression-mixed.pcap")["accounting"]
    assert accounting["decoded"] == accounting["captured"] == 15057
    assert accounting["decompressed"] == 9114
