"""`zdissect findings`: each with its frame."""

import json
from collections import Counter

import pytest

from tests.cli.listings import EXPECTED, SAMPLES, SHARED, listed, messages, run


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_as_many_of_each_as_stats_has(name):
    counted = {
        one["code"]: one["count"] for one in json.loads(run("stats", "--json", SAMPLES / name).stdout)["findings"]
    }
    assert Counter(row["code"] for row in listed("findings", SAMPLES / name)) == counted


def test_one_of_a_compressed_batch_is_listed_once():
    name = SHARED / "15-mid-session-compressed.pcap"
    if not name.exists():
        pytest.skip("needs the shared captures")
    rows = listed("findings", name)
    assert [(row["code"], row["message"]) for row in rows] == [("guessed-framing", "FRAME")]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_those_of_messages_are_those_of_the_message_table(name):
    told = Counter(
        (row["frame_number"], finding["code"], finding["offset"], finding["message"], row["key_expr"])
        for row in messages(name) for finding in row["findings"] or ()
    )  # fmt: skip
    rows = [row for row in listed("findings", SAMPLES / name) if row["message"]]
    unresolved = [row for row in rows if (row["key_expr"] or "").startswith("?")]
    for row in unresolved:
        row["key_expr"] = None
    assert Counter((row["frame"], row["code"], row["offset"], row["text"], row["key_expr"]) for row in rows) == told


def test_one_says_where_it_is():
    rows = listed("findings", SAMPLES / "duplicate-sn.pcap")
    assert [(row["frame"], row["severity"], row["code"], row["message"], row["text"]) for row in rows] == [
        (4, "warning", "sn-duplicate", "FRAME", "sn 181514 is repeated"),
        (5, "warning", "sn-gap", "FRAME", "sn 181516, expected 181515: 1 missing"),
    ]
    assert {(row["flow_id"], row["session"], row["src"]) for row in rows} == {("udp.0", 1, "10.0.0.1:50000")}


def test_the_table_for_people():
    head, first, *_ = run("findings", SAMPLES / "query-router.pcap").stdout.splitlines()
    assert " ".join(head.split()) == "Frame Time Severity Finding Session Flow From Message Key Meaning"
    assert "svc/** has a wildcard" in first
