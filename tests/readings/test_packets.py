"""Whole packets, as tcpdump -X and Wireshark show them."""

from pathlib import Path

import pytest

from zdissect.capture import open_capture
from zdissect.readings import read_as, readings

SAMPLES = Path(__file__).parents[2] / "samples"
IP = 14


def packets(name: str) -> list[bytes]:
    with open_capture(str(SAMPLES / name)) as capture:
        return [bytes(frame.data) for frame in capture]


def test_tcp_with_and_without_the_ethernet_header():
    data = next(one for one in packets("pubsub-tcp.pcap") if readings(one)[0].messages)
    whole, bare = readings(data)[0], readings(data[IP:])[0]
    assert whole.name == bare.name == "packet"
    assert whole.title == bare.title
    assert whole.title.startswith("a TCP packet 1")
    assert whole.title.endswith(": a batch with its length prefix (stream)")
    assert whole.messages == bare.messages == ["INIT_SYN"]
    assert whole.units[0].base - bare.units[0].base == IP


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("scouting-multicast.pcap", "(scouting)"),
        ("udp-small-batch.pcap", "(datagram)"),
        ("low-latency.pcap", "(lowlatency)"),
        ("compression-mixed.pcap", "(compressed)"),
    ],
)
def test_payloads(name, word):
    titles = [readings(data)[0].title for data in packets(name)]
    assert any(title.endswith(word) for title in titles)


def test_without_payload():
    reading = readings(packets("pubsub-tcp.pcap")[0])[0]
    assert (reading.name, reading.units, reading.title[-17:]) == ("packet", (), ", without payload")


def test_without_tcp_or_udp():
    icmp = bytes.fromhex("4500001c 0001 0000 40 01 7cde 7f000001 7f000001 0800 f7ff 0000 0000")
    assert readings(icmp)[0].title == "a packet without TCP or UDP (ICMP)"


def test_every_packet_of_the_samples_is_one():
    for name in ("pubsub-tcp.pcap", "scouting-multicast.pcap", "udp-small-batch.pcap", "gossip.pcap"):
        assert {readings(data)[0].name for data in packets(name)} == {"packet"}


def test_packets_in_tunnels_and_raw_ethernet():
    found = [readings(data)[0] for data in packets("tunnels.pcap")]
    assert [one.name for one in found[:25]] == ["packet"] * 25
    assert found[7].title.startswith("a TCP packet 10.42.0.5:40000 > 10.42.1.7:7447: ")
    assert found[22].title.startswith("a frame of raw Ethernet 02:00:00:00:00:01 > 01:00:5e:00:00:01: ")
    assert found[24].messages == ["FRAME"]
    assert found[24].units[0].base == 20


def test_what_only_looks_like_raw_ethernet():
    data = packets("tunnels.pcap")[22]
    for changed in (data + b"\1", data[:15] + b"\xff" + data[16:], data[:20], data[:12] + b"\xe0\x73" + data[14:]):
        assert readings(changed)[0].name != "packet"


def test_what_is_no_packet():
    assert read_as(b"\x04", "packet") == (
        "packet", "not a whole packet with its IP or Ethernet header", (), 0.0, False,
        "no IP header where there could be one",
    )  # fmt: skip


def test_any_cut_packet():
    some = packets("pubsub-tcp.pcap")[:12]
    assert len(some) == 12
    for data in some:
        for size in range(0, len(data), 7):
            assert readings(data[:size])
