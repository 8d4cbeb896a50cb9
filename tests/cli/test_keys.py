"""`zdissect keys`: what was sent to which key, and asked on it."""

from collections import Counter
from itertools import pairwise

import pytest
from scapy.layers.inet import IP, UDP
from scapy.utils import wrpcap

from tests.cli.listings import EXPECTED, SAMPLES, listed, messages, run


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_puts_are_those_that_were_counted_independently(name):
    puts = {row["key_expr"]: row["puts"] for row in listed("keys", SAMPLES / name) if row["resolved"] and row["puts"]}
    assert puts == EXPECTED[name].get("push_puts_per_key", {})
    deletes = {row["key_expr"]: row["deletes"] for row in listed("keys", SAMPLES / name) if row["deletes"]}
    assert deletes == EXPECTED[name].get("push_deletes_per_key", {})


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_bytes_publishers_and_encodings_are_those_of_the_message_table(name):
    sizes, queries, sources, encodings = Counter(), Counter(), {}, {}
    for row in messages(name):
        key = row["key_expr"]
        if key is None:
            continue
        if row["message"] == "REQUEST":
            queries[key] += 1
        if row["message"] == "PUSH" or row["body"] == "REPLY":
            sizes[key] += row["payload_len"] or 0
            if row["src_zid"]:
                sources.setdefault(key, set()).add(row["src_zid"])
            if row["encoding"]:
                encodings.setdefault(key, set()).add(row["encoding"])
    for row in listed("keys", SAMPLES / name):
        if row["resolved"]:
            key = row["key_expr"]
            assert (row["bytes"], row["queries"]) == (sizes[key], queries[key])
            assert {source for source in row["sources"] if ":" not in source} == sources.get(key, set())
            assert set(row["encodings"]) == encodings.get(key, set())


def test_first_last_and_the_longest_gap():
    (row,) = [row for row in listed("keys", SAMPLES / "query-router.pcap") if row["key_expr"] == "slow/q"]
    assert (row["first_frame"], row["last_frame"], row["queries"], row["replies"]) == (147, 177, 4, 2)
    (row,) = [row for row in listed("keys", SAMPLES / "query-router.pcap") if row["key_expr"] == "svc/x"]
    assert row["gap_frame"] == 186
    times = [
        one["ts_ns"] for one in messages("query-router.pcap")
        if one["key_expr"] == "svc/x" and one["message"] == "RESPONSE" and one["body"] == "REPLY"
        and one["flow_id"] == "tcp.0"
    ]  # fmt: skip
    assert row["longest_gap_ns"] == max(b - a for a, b in pairwise(times))


def test_a_key_whose_declaration_is_not_there():
    rows = listed("keys", SAMPLES / "duplicate-sn.pcap")
    assert [(row["key_expr"][0], row["resolved"]) for row in rows] == [("?", False)]


def test_the_table_for_people():
    head, first, *_ = run("keys", SAMPLES / "query-router.pcap").stdout.splitlines()
    assert head.startswith("Key  ")
    assert first.split()[:5] == ["svc/x", "40", "0", "0", "40"]


def test_keys_with_names_of_severities_are_sorted_as_text(tmp_path):
    """Only the column of severities is sorted by their weight."""
    capture = tmp_path / "keys.pcap"
    puts = [b"\x25\x01\x3d\x00" + bytes([len(key)]) + key + b"\x01\x011" for key in (b"note", b"x", b"error")]
    wrpcap(str(capture), [IP() / UDP(sport=9999, dport=7447) / put for put in puts])
    assert [row["key_expr"] for row in listed("keys", capture, "--sort", "key_expr")] == ["error", "note", "x"]
