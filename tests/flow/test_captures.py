"""Real captures: what was derived from one capture must give the streams of that capture."""

import json
from pathlib import Path

import pytest

from tests.flow.flow_frames import by_flow, run, segments_of, streams_of
from zdissect.capture.capture_file import open_capture
from zdissect.flow.link import Decoder
from zdissect.flow.unopened import noteworthy
from zdissect.records import Datagram, Gap, Overlap, Segment

REWRITTEN = ("big-endian", "ethernet-padding", "null-loopback", "raw-ip", "reordered", "retransmitted-overlapping")
SAME = [("15-base-rotate.pcap", f"15-{name}.pcap") for name in (*REWRITTEN, "tcp-seq-wrap", "vlan")]
SAME += [
    ("15-base-rotate.pcap", "15-pcapng.pcapng"),
    ("15-base-rotate.pcap", "15-gzip.pcap.gz"),
    ("15-base-mtu1500.pcap", "15-reordered-mtu1500.pcap"),
    ("15-base-mtu1500.pcap", "15-retransmitted-overlapping-mtu1500.pcap"),
    ("03-queries-p2p.pcap", "15-segments-of-7-bytes.pcap"),
]


def segments(path: Path) -> list[Segment]:
    with open_capture(str(path)) as capture:
        return segments_of(capture)


@pytest.mark.parametrize(("base", "derived"), SAME)
def test_derived_captures_give_the_same_streams(captures: Path, base: str, derived: str) -> None:
    mine = segments(captures / derived)
    assert by_flow(mine) == by_flow(segments(captures / base))
    assert not [item for item in run(mine) if isinstance(item, Gap | Overlap)]


def test_two_interfaces_of_different_link_types(captures: Path) -> None:
    mine = by_flow(segments(captures / "15-pcapng-two-interfaces.pcapng"))
    both = by_flow(segments(captures / "15-base-rotate.pcap")) | by_flow(segments(captures / "12-ipv6.pcap"))
    assert mine == both


def test_linux_cooked_captures(captures: Path) -> None:
    for name in ("15-any-sll1.pcap", "15-any-sll2.pcap"):
        items = run(segments(captures / name))
        assert len(streams_of(items)) >= 2
        assert not [item for item in items if isinstance(item, Gap | Overlap)]


def test_a_rotated_capture_is_one(captures: Path) -> None:
    parts = [segment for n in range(4) for segment in segments(captures / f"15-rotated.part{n}.pcap")]
    parts = [segment._replace(frame=segment.frame._replace(number=n)) for n, segment in enumerate(parts)]
    assert by_flow(parts) == by_flow(segments(captures / "15-base-rotate.pcap"))


@pytest.mark.parametrize("name", ["15-dropped-segments", "15-dropped-in-fragments"])
def test_dropped_segments_are_gaps(captures: Path, name: str) -> None:
    sidecar = json.loads((captures / f"{name}.json").read_text())
    mine = segments(captures / f"{name}.pcap")
    removed = sorted(tuple(packet["stream_bytes"]) for packet in sidecar["removed_packets"])
    gaps = [item for item in run(mine) if isinstance(item, Gap)]
    assert sorted((gap.offset, gap.offset + gap.size) for gap in gaps) == removed
    assert {gap.reason for gap in gaps} == {"lost"}
    base = by_flow(segments(captures / sidecar["derived_from"]))
    for ends, data in by_flow(mine).items():
        lost = sum(
            b - a
            for packet in sidecar["removed_packets"]
            for a, b in [packet["stream_bytes"]]
            if packet["flow"] == "127.0.0.1:{} > 127.0.0.1:{}".format(*(end.port for end in ends))
        )
        assert len(data) == len(base[ends]) - lost


def test_a_capture_that_starts_mid_stream(captures: Path) -> None:
    sidecar = json.loads((captures / "15-starts-mid-message.json").read_text())
    base = by_flow(segments(captures / "15-base-mtu1500.pcap"))
    mine = by_flow(segments(captures / "15-starts-mid-message.pcap"))
    for flow, place in sidecar["streams"].items():
        (ends,) = (e for e in base if flow == "127.0.0.1:{} > 127.0.0.1:{}".format(*(end.port for end in e)))
        assert mine.get(ends, b"") == base[ends][place["stream_bytes_before_the_file"] :]


def test_one_direction(captures: Path) -> None:
    base = by_flow(segments(captures / "15-base-rotate.pcap"))
    mine = by_flow(segments(captures / "15-one-direction.pcap"))
    assert mine == {ends: data for ends, data in base.items() if ends[1].port == 7447}


def test_a_snaplen_capture_accounts_for_every_byte(captures: Path) -> None:
    mine = segments(captures / "15-snaplen-96.pcap")
    gaps = [item for item in run(mine) if isinstance(item, Gap)]
    assert {gap.reason for gap in gaps} == {"cut"}
    assert sum(gap.size for gap in gaps) == sum(segment.missing for segment in mine)


def test_ip_fragments_of_udp(captures: Path) -> None:
    decoder = Decoder()
    with open_capture(str(captures / "09-udp-ip-fragments.pcap")) as capture:
        found = [decoder.feed(frame) for frame in capture]
    whole = [item for item in found if isinstance(item, Datagram) and len(item.frames) > 1]
    assert whole
    assert all(item.frames == tuple(sorted(item.frames)) and not item.missing for item in whole)
    decoder.close()
    assert "IP fragments without the others" not in decoder.unopened.total()


def test_no_gap_or_overlap_in_any_lossless_capture(captures: Path) -> None:
    lossless = 0
    for path in sorted(captures.glob("*.pcap")):
        if path.stat().st_size < 1000 or path.name.startswith("15-"):
            continue
        decoder = Decoder()
        with open_capture(str(path)) as capture:
            found = [decoder.feed(frame) for frame in capture]
        items = run(item for item in found if isinstance(item, Segment))
        assert not [item[:5] for item in items if isinstance(item, Gap | Overlap)], path.name
        assert not noteworthy(decoder.unopened.total()), path.name
        lossless += 1
    assert lossless
