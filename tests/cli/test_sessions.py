"""`zdissect sessions`: who talked to whom, how much, and how it ended."""

from collections import Counter

import pytest

from tests.cli.listings import EXPECTED, SAMPLES, SHARED, listed, messages, run, sidecar


def test_both_ends_of_each_session():
    rows = listed("sessions", SAMPLES / "query-router.pcap")
    assert [(row["session"], row["opener_role"], row["acceptor_role"], row["ended"]) for row in rows] == [
        (1, "client", "router", "close"), (2, "client", "router", "close"), (3, "client", "router", "close"),
    ]  # fmt: skip
    first = rows[0]
    assert first["opener_zid"] == "30f9b475074ff3702a9dd8634e86b6fd"
    assert first["acceptor_address"] == "127.0.0.1:7447"
    assert (first["ended_by"], first["close_reason"]) == ("opener", "GENERIC")
    assert (first["version"], first["batch_size"], first["sn_bits"], first["patch"]) == (9, 49152, 32, 1)
    assert first["options"] == ["qos", "shm"]


def test_what_was_negotiated():
    rows = listed("sessions", SAMPLES / "compression-mixed.pcap")
    assert sorted("compression" in row["options"] for row in rows) == [False, True]
    (low,) = listed("sessions", SAMPLES / "low-latency.pcap")[:1]
    assert "low_latency" in low["options"]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_messages_each_way_are_those_of_the_message_table(name):
    counted = Counter((row["flow_id"], row.get("src_zid")) for row in messages(name) if row["layer"] != "scouting")
    for row in listed("sessions", SAMPLES / name):
        if row["opener_zid"] is None or row["acceptor_zid"] is None:
            continue
        sent = sum(counted[flow, row["opener_zid"]] for flow in row["flow_ids"])
        received = sum(counted[flow, row["acceptor_zid"]] for flow in row["flow_ids"])
        unnamed = sum(counted[flow, None] for flow in row["flow_ids"])
        assert row["opener_messages"] + row["acceptor_messages"] == sent + received + unnamed
        assert sent <= row["opener_messages"]
        assert received <= row["acceptor_messages"]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_findings_are_counted_by_session(name):
    flows = Counter(row["flow_id"] for row in listed("findings", SAMPLES / name))
    for row in listed("sessions", SAMPLES / name):
        assert row["findings"] == sum(flows[flow] for flow in row["flow_ids"])


def test_the_nodes_are_those_that_the_applications_were():
    roles = sidecar("08-multilink")["roles"].values()
    rows = listed("sessions", SHARED / "08-multilink.pcap")
    assert {zid for row in rows for zid in (row["opener_zid"], row["acceptor_zid"])} <= {one["zid"] for one in roles}
    assert max(len(row["flow_ids"]) for row in rows) > 1
    assert any("multilink" in row["options"] for row in rows)


def test_the_table_for_people():
    head, *lines = run("sessions", SAMPLES / "query-router.pcap").stdout.splitlines()
    assert " ".join(head.split()) == (
        "Session Opener ZenohID Address Acceptor ZenohID Address Link Flows First Lasted Sent Bytes Received Bytes "
        "Findings Batch Options End By Reason"
    )
    assert lines[0].split()[:7] == [
        "1", "client", "30f9b475…", "127.0.0.1:56292", "router", "31bc87a1…", "127.0.0.1:7447",
    ]  # fmt: skip
