"""Samples hop by hop: which PUSHes are one sample, how long it took, and who should have got it and didn't."""

import pytest

from tests.messages import declare, gone, push, put
from tests.packets import MS, START_NS
from tests.reach.star import Star
from zdissect.listing import SampleListing


@pytest.fixture
def star():
    return Star()


def sample(payload=b"1", key="demo/x", **values):
    return push(key, body=put(payload, **values))


def at(seconds):
    """A timestamp."""
    return {"T": 1, "timestamp": {"time": (START_NS // 10**9 + seconds) << 32, "id": b"\x02\xbb"}}


def rows(star):
    return star.listed(SampleListing())


def test_a_sample_and_the_time_in_the_router(star):
    star.subscribe(star.two, "demo/*")
    star.one.frame(0, sample())
    star.capture.now_ns += 3 * MS
    star.two.frame(1, sample(**at(1)))
    listing = SampleListing()
    star.wait()
    (row,) = star.listed(listing)
    sent, passed = row["hops"]
    assert (row["state"], row["latency_ns"], row["pushes"]) == ("delivered", 4 * MS, 2)
    assert (sent["confidence"], passed["confidence"]) == (None, "likely")
    assert (passed["passes_on_frame"], passed["held_ns"]) == (sent["frame"], 4 * MS)
    assert row["receivers"] == [passed["to"]]
    assert row["timestamp_ns"] == START_NS + 10**9
    assert passed["since_stamp_ns"] == passed["ts_ns"] - row["timestamp_ns"]
    (node,) = listing.summary()["nodes"]
    assert (node["node"], node["forwarding_ns"]["max"]) == (sent["to"], 4 * MS)


def test_equal_samples_are_told_apart_by_their_timestamps(star):
    """Also where they are passed on in another order."""
    for second in (1, 2):
        star.one.frame(0, sample(**at(second)))
    for second in (2, 1):
        star.two.frame(1, sample(**at(second)))
    found, last = rows(star), len(star.capture.frames)
    assert [[last - hop["frame"] for hop in row["hops"]] for row in found] == [[3, 0], [2, 1]]
    assert {row["hops"][1]["confidence"] for row in found} == {"certain"}


def test_equal_samples_without_one_are_taken_in_their_order(star):
    star.one.frame(0, sample()).frame(0, sample())
    star.two.frame(1, sample()).frame(1, sample())
    found, last = rows(star), len(star.capture.frames)
    assert [[last - hop["frame"] for hop in row["hops"]] for row in found] == [[3, 1], [2, 0]]
    assert {row["hops"][1]["confidence"] for row in found} >= {"ambiguous"}


def test_of_equal_samples_that_are_rare_the_last_one_is_passed_on(star):
    """The first one was dropped: else the second would seem to take as long as the time between the two."""
    star.one.frame(0, sample())
    star.capture.now_ns += 100 * MS
    star.one.frame(0, sample())
    star.two.frame(1, sample())
    assert [row["latency_ns"] for row in rows(star)] == [None, MS]


def test_a_subscriber_that_is_left_out(star):
    """The router has its declaration, and sends the sample to another one only."""
    star.subscribe(star.two, "demo/*")
    declared = star.capture.frames[-1].number
    star.subscribe(star.three, "demo/**")
    star.one.frame(0, sample())
    star.three.frame(1, sample())
    star.wait()
    listing = SampleListing()
    (row,) = star.listed(listing)
    assert (row["state"], row["left_out"]) == ("left out", ["ff06"])
    (missing,) = row["missing"]
    assert (missing["subscriber_frame"], missing["subscriber_key"]) == (declared, "demo/*")
    assert missing["certain"]
    report = listing.summary()
    assert [(key["key_expr"], key["samples"], key["left_out"]) for key in report["keys"]] == [("demo/x", 1, 1)]
    assert {hop["to"]: hop["left_out"] for hop in report["hops"]} == {"bb02": 0, "aa07": 0, "ff06": 1}


def test_nobody_is_left_out_who_doesn_t_subscribe_any_more_or_not_yet(star):
    star.subscribe(star.two, "demo/*")
    star.two.frame(0, declare(gone("SUBSCRIBER", 1)))
    star.one.frame(0, sample())
    star.subscribe(star.three, "demo/*")
    star.wait()
    (row,) = rows(star)
    assert (row["state"], row["left_out"]) == ("no subscriber", [])


def test_nobody_is_left_out_whose_session_is_over(star):
    star.subscribe(star.two, "demo/*")
    star.two.batch(0, {"message": "CLOSE", "reason": 0, "S": 1})
    star.one.frame(0, sample())
    star.wait()
    assert [(row["state"], row["left_out"]) for row in rows(star)] == [("no subscriber", [])]


def test_the_source_and_the_end_of_the_capture(star):
    """Who sent it doesn't get it back; and what comes last may just not have been passed on yet."""
    star.subscribe(star.one, "demo/*")
    star.subscribe(star.two, "demo/*")
    star.one.frame(0, sample())
    assert [row["left_out"] for row in rows(star)] == [[]]


def test_a_peer_may_get_it_another_way(star):
    star.subscribe(star.peer, "demo/*")
    star.one.frame(0, sample())
    star.wait()
    assert [row["state"] for row in rows(star)] == ["perhaps left out"]


def test_who_may_have_got_it_in_bytes_that_the_capture_lacks(star):
    star.subscribe(star.two, "demo/*")
    star.one.frame(0, sample())
    star.two.lose(1, star.two.bytes(1, star.two.framed(1, sample())))
    star.two.frame(1, sample(key="other")).frame(0, sample(key="more"))
    star.wait()
    assert {row["key_expr"]: row["state"] for row in rows(star)}["demo/x"] == "perhaps left out"


def test_memory_is_bounded(star, monkeypatch):
    monkeypatch.setattr("zdissect.reach.sample_hops.MOST_OPEN", 5)
    for number in range(20):
        star.one.frame(0, sample(b"%d" % number))
    listing = SampleListing()
    assert len(star.listed(listing)) == 20
    samples = listing.watch.samples
    assert not samples.open
    assert not samples.alike
    assert not samples.passed
    assert not listing.watch.expected
