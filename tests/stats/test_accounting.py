"""Every payload byte is in exactly one class, in every capture there is."""

import pytest

from tests.stats.reports import SAMPLES, SHARED, captures, report
from zdissect.stats.accounting import CLASSES


@pytest.mark.parametrize("path", captures(), ids=lambda path: path.name)
def test_bytes_and_messages_add_up(path):
    found = report(path)
    accounting = found["accounting"]
    assert min(accounting.values()) >= 0
    assert sum(accounting[name] for name in CLASSES) == accounting["captured"]
    of_sessions = sum(end["messages"] for session in found["sessions"] for end in session["ends"])
    assert of_sessions == sum(one["count"] for one in found["messages"] if one["layer"] != "scouting")


def test_an_empty_capture():
    found = report()
    assert set(found["accounting"].values()) == {0}
    assert found["capture"]["frames"] == 0
    assert found["sessions"] == found["messages"] == found["findings"] == []


def test_two_captures_are_one():
    """Rotated captures are read as one; the classes add up over all of them."""
    one, two = report(SAMPLES / "pubsub-tcp.pcap"), report(SAMPLES / "gossip.pcap")
    both = report(SAMPLES / "pubsub-tcp.pcap", SAMPLES / "gossip.pcap")
    for name in ("captured", "decoded"):
        assert both["accounting"][name] == one["accounting"][name] + two["accounting"][name] > 0


@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared captures here")
@pytest.mark.parametrize(
    ("name", "classes"),
    [
        ("11-quic-opaque.pcap", {"opaque"}),
        ("11-tls-opaque.pcap", {"opaque"}),
        ("15-retransmitted-overlapping.pcap", {"decoded", "repeated"}),
        ("15-dropped-in-fragments.pcap", {"decoded", "skipped", "undecoded"}),
        ("15-snaplen-96.pcap", {"decoded", "undecoded"}),
    ],
)
def test_classes(name, classes):
    accounting = report(SHARED / name)["accounting"]
    assert {one for one in CLASSES if accounting[one]} == classes


@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared captures here")
@pytest.mark.parametrize(
    ("name", "ended"),
    [
        (
            "14-max-sessions.pcap",
            [("close", reason) for reason in ("GENERIC", "INVALID", "INVALID", "GENERIC")],
        ),
        ("14-kill9-midstream.pcap", [("fin", None), ("close", "GENERIC")]),
    ],
)
def test_how_sessions_end(name, ended):
    found = report(SHARED / name)["sessions"]
    assert [(one["ended"]["how"], one["ended"]["reason"]) for one in found] == ended


@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared captures here")
def test_a_lease_that_passed():
    links = [link for session in report(SHARED / "14-lease-expiry.pcap")["sessions"] for link in session["links"]]
    assert links[0]["ended"]["how"] == "lease"


@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared captures here")
def test_links_of_one_session_are_one_row():
    (session,) = report(SHARED / "08-multilink.pcap")["sessions"]
    assert len(session["links"]) == 2
