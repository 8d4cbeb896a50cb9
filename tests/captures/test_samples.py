"""The captures in samples/ hold what their expectations say, and healthy ones give no warning."""

import json

import pytest

from tests.captures.expectations import SAMPLES, agrees, read, severe

EXPECTED = json.loads((SAMPLES / "expected.json").read_text())
FAULTY = {"trailing-byte.pcap": ["vle-overlong", "truncated"], "duplicate-sn.pcap": ["sn-duplicate", "sn-gap"]}
each = pytest.mark.parametrize("name", sorted(EXPECTED))


def test_every_sample_has_an_expectation() -> None:
    assert {path.name for path in SAMPLES.glob("*.pcap*")} == EXPECTED.keys()


@each
def test_counts_and_keys(name: str) -> None:
    agrees(read(SAMPLES / name), EXPECTED[name])


@each
def test_no_warning_where_nothing_is_wrong(name: str) -> None:
    found = read(SAMPLES / name)
    assert severe(found) == FAULTY.get(name, []), found.located
    assert found.names


@each
def test_every_message_has_its_place(name: str) -> None:
    """Frames are named, messages are numbered in their frame, and lie in their buffer."""
    seen = set()
    for row in read(SAMPLES / name).rows:
        place = row["frame_number"], row["message_index"]
        assert place not in seen
        seen.add(place)
        assert row["offset"] >= 0
        assert row["length"] > 0
    assert seen
