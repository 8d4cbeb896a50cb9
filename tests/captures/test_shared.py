"""Recorded captures, where they are there: counts, keys, silence; and rewritten ones give what their base gives."""

import json
from pathlib import Path

import pytest

from tests.captures.expectations import SHARED, agrees, counts, read, severe
from tests.observed import content

CAPTURES = SHARED / "captures"
pytestmark = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no ../shared/captures here")
PARTS = [CAPTURES / f"15-rotated.part{n}.pcap" for n in range(4)]
DAMAGED = tuple(
    f"15-{what}" for what in ("dropped", "snaplen", "truncated", "header", "zero", "not", "starts", "mid", "one")
)
EMPTY = {"15-header-cut", "15-header-only", "15-not-a-capture", "15-zero-bytes"}
"""Files without a single frame."""
SPECIAL = {
    "14-connect-to-self": ["same-zid"],
    "14-lease-expiry": ["lease-exceeded"],
    "16-version-0.11.0": None,  # version 8: other bodies
    "18-robot-fleet": None,  # half a minute; see the benchmarks
}
OPAQUE = ("11-tls", "11-quic", "11-websocket")


def files() -> list[Path]:
    """One file for each capture."""
    return sorted(path for path in CAPTURES.glob("*.pcap*") if ".part" not in path.name and "fleet" not in path.name)


def stem(path: Path) -> str:
    return path.name.removesuffix(".gz").rsplit(".", 1)[0]


def sidecar(path: Path) -> dict:
    return json.loads((CAPTURES / f"{stem(path)}.json").read_text())


COUNTED = [path for path in files() if "wire_counts" in sidecar(path) and not stem(path).startswith(OPAQUE)]
HEALTHY = [path for path in files() if SPECIAL.get(stem(path), []) is not None and not stem(path).startswith(DAMAGED)]
SAME = [
    (base, f"15-{name}")
    for base, names in (
        ("15-base-rotate.pcap", (
            "big-endian.pcap", "ethernet-padding.pcap", "gzip.pcap.gz", "null-loopback.pcap", "pcapng.pcapng",
            "raw-ip.pcap", "reordered.pcap", "retransmitted-overlapping.pcap", "tcp-seq-wrap.pcap", "vlan.pcap",
        )),
        ("15-base-mtu1500.pcap", ("reordered-mtu1500.pcap", "retransmitted-overlapping-mtu1500.pcap")),
        ("03-queries-p2p.pcap", ("segments-of-7-bytes.pcap",)),
    )
    for name in names
]  # fmt: skip


@pytest.mark.parametrize("path", COUNTED, ids=stem)
def test_counts_and_keys(path: Path) -> None:
    if stem(path) == "16-version-0.11.0":
        pytest.skip("bodies of version 8 are another language")
    agrees(read(path), sidecar(path)["wire_counts"])


@pytest.mark.parametrize("path", HEALTHY, ids=stem)
def test_no_warning_where_nothing_is_wrong(path: Path) -> None:
    found = read(path)
    assert severe(found) == SPECIAL.get(stem(path), []), found.located


@pytest.mark.parametrize(("base", "derived"), SAME)
def test_a_rewritten_capture_gives_the_same_messages(base: str, derived: str) -> None:
    assert sorted(content(read(CAPTURES / derived).rows)) == sorted(content(read(CAPTURES / base).rows)) != []


def test_two_interfaces_are_two_captures_in_one() -> None:
    both = content(read(CAPTURES / "15-base-rotate.pcap").rows) + content(read(CAPTURES / "12-ipv6.pcap").rows)
    assert sorted(content(read(CAPTURES / "15-pcapng-two-interfaces.pcapng").rows)) == sorted(both) != []


def test_parts_that_follow_each_other_are_one_capture() -> None:
    assert content(read(*PARTS).rows) == content(read(CAPTURES / "15-base-rotate.pcap").rows) != []


@pytest.mark.parametrize("name", ["15-dropped-in-fragments", "15-dropped-segments"])
def test_holes_lose_what_was_in_them_and_nothing_else(name: str) -> None:
    path = CAPTURES / f"{name}.pcap"
    told = sidecar(path)
    found, base = read(path), read(CAPTURES / told["derived_from"])
    assert [finding.rule.group for finding in found.findings if finding.rule.severity == "error"] == []
    now, before = counts(found), counts(base)
    lost = sum(before["network"].values()) - sum(now["network"].values())
    fragmented = before["messages_reassembled_from_fragments"] - now["messages_reassembled_from_fragments"]
    assert lost == len(told["effect"]["messages_in_touched_batches"]) + fragmented
    assert sum(skip.size for skip in found.skips if not skip.data) == sum(
        stop - start for start, stop in (packet["stream_bytes"] for packet in told["removed_packets"])
    )


@pytest.mark.parametrize("path", [path for path in files() if stem(path).startswith(DAMAGED)], ids=stem)
def test_damaged_captures_are_never_called_malformed(path: Path) -> None:
    found = read(path)
    bad = [finding for finding in found.findings if finding.rule.severity == "error"]
    assert bool(found.names) is (stem(path) not in EMPTY)
    assert not bad, [(finding.rule.code, finding.message) for finding in bad]
