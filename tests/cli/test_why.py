"""`zdissect why`: the steps for people and for programs, against what applications saw."""

import json

import pytest

from tests.cli.listings import SAMPLES, SHARED, listed, refusal, run, sidecar

ROUTER = SAMPLES / "declared-keys-router.pcap"


def asked(key, to, *files):
    """What --json says."""
    done = run("why", "--key", key, "--to", to, "--json", *files)
    assert done.return_value == 0
    return json.loads(done.stdout)


def test_for_people():
    lines = run("why", "--key", "factory/hall-1/cell-7/robot/arm/pose", "--to", "be6c", ROUTER).stdout.splitlines()
    assert lines[0] == "yes      client be6c89fb… is in the capture: session 2 with router 987fe09c…"
    assert lines[-1] == "Nothing is missing on the wire. What the application does with it isn't in a capture."
    missing = run("why", "--key", "office/none", "--to", "be6c", ROUTER).stdout.splitlines()
    assert missing[1].startswith("MISSING  client be6c89fb… declares no subscriber")
    assert missing[-1] == "The first thing that is missing: a subscriber."


def test_what_arrived_is_what_the_applications_counted():
    truth = sidecar("18-robot-fleet")
    key = "fleet/r2/sensor/s12/fast"
    got = truth["observed_summary"]["r1"]["next"]["per_key"][key]
    found = asked(key, truth["roles"]["r1"]["zid"], SHARED / "18-robot-fleet.pcap")
    assert found["verdict"] == "there"
    assert found["steps"][-1]["text"].startswith(f"{got} samples of client")
    assert asked(key, truth["roles"]["r3"]["zid"], SHARED / "18-robot-fleet.pcap")["steps"][-1]["code"] == "subscriber"


@pytest.mark.parametrize("name", ["16-version-1.2.0", "16-version-1.2.1"])
def test_a_release_that_changed_the_key(name):
    truth = sidecar(name)
    to = next(one["node"] for one in truth["operations"] if one["op"] == "subscriber")
    found = asked("ver/t0", truth["roles"][to]["zid"], SHARED / f"{name}.pcap")
    assert found["steps"][-1]["code"] == ("key" if name == "16-version-1.2.0" else "arrival")


ARM = "factory/hall-1/cell-7/robot/arm/pose"


def test_a_node_may_be_its_address():
    """Alone if there is one node there; all are on one machine here."""
    by_zid = run("why", "--key", ARM, "--to", "be6c", ROUTER).stdout
    address = next(row for row in listed("sessions", ROUTER) if row["opener_zid"][:4] == "be6c")["opener_address"]
    assert run("why", "--key", ARM, "--to", address, ROUTER).stdout == by_zid
    several = refusal("why", "--key", ARM, "--to", address.partition(":")[0], ROUTER)
    assert "'127.0.0.1' may be client 2b7a6edb…, router 987fe09c…, client be6c89fb…" in several


def test_names_of_ros_are_no_keys():
    assert "; topic /range of ROS 2 is on */range/**" in refusal("why", "--key", "/range", "--to", "be6c", ROUTER)
    assert "`zdissect ros2 nodes`" in refusal("why", "--key", "a", "--to", "/listener", ROUTER)
    assert "ros2" not in refusal("why", "--key", "a", "--to", "beef", ROUTER)


def test_wrong_use():
    assert "is no node of the capture: there are client 2b7a6edb…" in refusal("why", "--key", "a", "--to", "zz", ROUTER)
    assert "no key expression" in refusal("why", "--key", "a//b", "--to", "be", ROUTER)
    assert "--key" in refusal("why", "--to", "be", ROUTER)
    assert run("why", "--key", "a", "--to", "be", "none.pcap").return_value == 1
