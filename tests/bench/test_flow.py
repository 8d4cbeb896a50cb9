"""Frames decoded and segments put in order, a second. Figures to compare between commits, not limits."""

import struct

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from zdissect.flow.link import Decoder
from zdissect.flow.tcp import Streams
from zdissect.records import Frame, Segment

COUNT = 20_000
SIZE = 500


def frames(version: int) -> list[Frame]:
    """One direction of 8 connections in turn, Ethernet, TCP with timestamps, 500 bytes of payload each."""
    made = []
    for number in range(COUNT):
        port, seq = 40000 + number % 8, number // 8 * SIZE
        tcp = struct.pack(">HHIIBBHHH12x", port, 7447, seq, 1, 0x80, 0x18, 512, 0, 0) + bytes(SIZE)
        if version == 4:
            ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 1, 0x4000, 64, 6, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
            data = bytes(12) + b"\x08\0" + ip + tcp
        else:
            data = bytes(12) + b"\x86\xdd" + struct.pack(">IHBB32x", 6 << 28, len(tcp), 6, 64) + tcp
        made.append(Frame("bench", number + 1, number * 10**5, 1, len(data), data))
    return made


def decoded(version: int = 4) -> list[Segment]:
    decoder = Decoder()
    found = [decoder.feed(frame) for frame in frames(version)]
    return [segment for segment in found if isinstance(segment, Segment)]


@pytest.mark.parametrize("version", [4, 6])
def test_frames_decoded(benchmark: BenchmarkFixture, version: int) -> None:
    made = frames(version)

    def decode() -> int:
        feed = Decoder().feed
        return sum(feed(frame) is not None for frame in made)

    assert benchmark(decode) == COUNT


def deliver(segments: list[Segment]) -> int:
    streams = Streams()
    items = 0
    for segment in segments:
        items += len(streams.feed(segment))
    return items + len(streams.close())


def test_segments_in_order(benchmark: BenchmarkFixture) -> None:
    assert benchmark(deliver, decoded()) == COUNT + 16


def test_segments_swapped(benchmark: BenchmarkFixture) -> None:
    segments = decoded()
    for at in range(100, COUNT - 100, 20):  # one segment in twenty changes places with the next of its connection
        segments[at], segments[at + 8] = segments[at + 8], segments[at]
    assert benchmark(deliver, segments) == COUNT + 16


def test_segments_seen_twice(benchmark: BenchmarkFixture) -> None:
    twice = [segment for segment in decoded() for _ in range(2)]
    assert benchmark(deliver, twice) == COUNT + 16


def test_segments_to_a_silent_receiver_with_losses(benchmark: BenchmarkFixture) -> None:
    segments = [segment for number, segment in enumerate(decoded()) if number % 1000]
    assert benchmark(deliver, segments) >= len(segments)
