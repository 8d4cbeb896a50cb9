"""`zdissect samples`: where samples go, how long they take, and who didn't get them."""

import json
from collections import Counter

from tests.cli.listings import SAMPLES, SHARED, listed, run, sidecar

ROUTER = SAMPLES / "declared-keys-router.pcap"
STACK = SAMPLES / "timestamp-stack.pcapng"


def test_every_sample_of_a_fleet_reached_whom_the_applications_say():
    """As many of each key as each robot counted, without its own, which don't leave it."""
    truth = sidecar("18-robot-fleet")
    rows = listed("samples", SHARED / "18-robot-fleet.pcap")
    assert {row["state"] for row in rows} == {"delivered"}
    names = {one["zid"]: role for role, one in truth["roles"].items()}
    got = Counter((names[node], row["key_expr"]) for row in rows for node in row["receivers"])
    seen = {
        (robot, key): number
        for robot, subscribers in truth["observed_summary"].items()
        for counts in subscribers.values()
        for key, number in counts["per_key"].items()
        if key.split("/")[1] != robot
    }
    assert got == seen


def test_what_reached_a_client_is_what_its_subscribers_saw():
    """Each subscriber whose key fits saw each sample that reached its node; what it sent itself isn't on the wire."""
    truth = sidecar("02-client-router-client")
    zids = {role: one["zid"] for role, one in truth["roles"].items()}
    got = Counter(
        (node, row["key_expr"])
        for row in listed("samples", SHARED / "02-client-router-client.pcap")
        for node in row["receivers"]
    )
    seen = Counter((one["node"], one["by"], one["key"]) for one in truth["observed"] if one["event"] == "sample")
    for (role, _, key), number in seen.items():
        assert number <= got[zids[role], key] + (key.endswith(("cmd/go", "cmd/stop")) and role == "C2")
    for (zid, key), number in got.items():
        if zid in zids.values() and zid != zids["R"]:
            assert number == max(count for (role, _, name), count in seen.items() if (zids[role], name) == (zid, key))


def test_numbers_come_first_and_trees_if_asked_for():
    out = run("samples", ROUTER).stdout
    assert out.startswith("By key\n")
    assert "router 987fe09c…  client be6c89fb…       22" in out
    tree = run("samples", "--trees", ROUTER).stdout.splitlines()
    assert "delivered after 0.387 ms  PUT factory/hall-1/cell-7/robot/arm/pose  26 B" in tree[0]
    assert any("└─ router 987fe09c… → client be6c89fb…  session 2" in line for line in tree)
    assert any("no subscriber  PUT office/none" in line for line in tree)
    assert run("samples", "--table", ROUTER).stdout.splitlines()[0].split()[:3] == ["Frame", "Time", "Key"]


def test_stamps_of_a_stack():
    rows = {row["frame"]: row for row in listed("samples", STACK)}
    (stamp, second) = next(row["hops"][1]["stamps"] for row in rows.values() if len(row["hops"][1]["stamps"]) == 2)
    assert (stamp["point"], second["point"]) == ("routed", "routed")
    assert second["ts_ns"] > stamp["ts_ns"]
    assert [row["hops"][1]["confidence"] for row in rows.values() if row["timestamp_ns"]] != []


def test_a_filter_selects_samples_as_a_whole():
    (row,) = listed("samples", "-Y", 'key_expr == "office/none"', ROUTER)
    assert (row["state"], row["pushes"]) == ("no subscriber", 1)
    report = json.loads(run("samples", "--json", "--summary", "-Y", "src_role == router", ROUTER).stdout)
    assert sum(key["samples"] for key in report["keys"]) == 24
