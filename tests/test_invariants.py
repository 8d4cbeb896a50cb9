"""Invariants of the whole pipeline: how a capture is cut into files, and how TCP was cut into segments, doesn't
matter (design 7: split and order)."""

from functools import cache
from random import Random
from struct import pack_into

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.captures.expectations import SAMPLES, frames_of
from tests.observed import Observed, content, observed
from zdissect.records import Frame

TCP = ("declared-keys-router.pcap", "query-router.pcap", "compression-mixed.pcap", "low-latency.pcap", "gossip.pcap")
WINDOW = 24
"""Places that a frame may be moved by; streams wait for longer than that."""
FAST = (Phase.explicit, Phase.generate)
"""A counter-example is a seed; making it smaller takes long and shows nothing."""
LONGEST_NS = 500_000_000
"""Time that a frame may be moved by."""


@cache
def capture(name: str) -> list[Frame]:
    return list(frames_of([SAMPLES / name]))


@cache
def messages(name: str) -> list[tuple[tuple[str, str], ...]]:
    """What the capture says, in any order."""
    rows = observed(capture(name)).rows
    assert rows
    return sorted(content(rows))


def renumbered(frames: list[Frame]) -> list[Frame]:
    """The frames as a capture would hold them in this order, their times ascending."""
    times = sorted(frame.ts_ns for frame in frames)
    return [frame._replace(number=n + 1, ts_ns=times[n]) for n, frame in enumerate(frames)]


def same(frames: list[Frame], name: str) -> None:
    assert sorted(content(observed(renumbered(frames)).rows)) == messages(name)


def segment(frame: Frame) -> tuple[int, int] | None:
    """(place of the TCP header, of the payload) in an Ethernet frame with IPv4 and TCP; None for any other."""
    data = frame.data
    if data[12:14] != b"\x08\x00" or data[23] != 6:
        return None
    tcp = 14 + (data[14] & 15) * 4
    return tcp, tcp + (data[tcp + 12] >> 4) * 4


def is_syn(frame: Frame) -> bool:
    return segment(frame) is not None and bool(frame.data[47] & 2)


def split(frame: Frame, at: int) -> list[Frame]:
    """A segment as two, of which the first has `at` bytes of payload."""
    places = segment(frame)
    if places is None or not 0 < at < len(frame.data) - places[1] or frame.data[places[0] + 13] & 7:
        return [frame]
    tcp, start = places
    seq = int.from_bytes(frame.data[tcp + 4 : tcp + 8])
    out = []
    for offset, payload in ((0, frame.data[start : start + at]), (at, frame.data[start + at :])):
        data = bytearray(frame.data[:start] + payload)
        pack_into(">H", data, 16, len(data) - 14)
        pack_into(">I", data, tcp + 4, seq + offset & 0xFFFFFFFF)
        out.append(frame._replace(data=bytes(data), wire_len=len(data)))
    return out


def shuffled(frames: list[Frame], random: Random, window: int) -> list[Frame]:
    """Each frame moved by less than a window, and by less than half a second; SYNs stay, as they say which side
    opened."""
    out: list[Frame] = []
    group: list[Frame] = []
    for frame in [*frames, None]:
        full = len(group) >= window or (group and frame and frame.ts_ns - group[0].ts_ns > LONGEST_NS)
        if frame is None or is_syn(frame) or full:
            random.shuffle(group)
            out += group
            group = []
        if frame is not None:
            (out if is_syn(frame) else group).append(frame)
    return out


def delayed(frames: list[Frame], random: Random) -> list[Frame]:
    """A frame lost on the way, and sent again a little later."""
    at = random.randrange(len(frames))
    frame = frames[at]
    if segment(frame) is None or frame.data[47] & 7:
        return frames
    rest = frames[:at] + frames[at + 1 :]
    last = max(n for n, other in enumerate(frames[: at + WINDOW]) if other.ts_ns - frame.ts_ns <= LONGEST_NS)
    to = random.randint(at, last)
    return [*rest[:to], frame, *rest[to:]]


@given(st.sampled_from([*TCP, "udp-small-batch.pcap", "scouting-multicast.pcap"]), st.data())
@settings(max_examples=25, phases=FAST)
def test_any_split_into_files_gives_the_same_rows(name: str, data: st.DataObject) -> None:
    frames = capture(name)
    cuts = data.draw(st.lists(st.integers(0, len(frames)), max_size=5).map(sorted), "cuts")
    parts = [frames[a:b] for a, b in zip([0, *cuts], [*cuts, len(frames)], strict=True)]
    files = [
        one._replace(source=f"part{n}", number=m + 1) for n, part in enumerate(parts) for m, one in enumerate(part)
    ]
    assert content(observed(files).rows) == content(observed(frames).rows) != []
    assert observed(files).codes == observed(frames).codes


@pytest.mark.parametrize("name", TCP)
def test_in_order_pieces_give_the_same_messages(name: str) -> None:
    """Every segment cut in two, at every tenth of its bytes."""
    for tenth in range(1, 10):
        pieces = [piece for frame in capture(name) for piece in split(frame, len(frame.data[66:]) * tenth // 10)]
        same(pieces, name)


@given(st.sampled_from(TCP), st.randoms(use_true_random=False), st.integers(2, WINDOW))
@settings(max_examples=30, phases=FAST)
def test_segments_in_any_order_give_the_same_messages(name: str, random: Random, window: int) -> None:
    same(shuffled(capture(name), random, window), name)


@given(st.sampled_from(TCP), st.randoms(use_true_random=False))
@settings(max_examples=30, phases=FAST)
def test_segments_split_duplicated_and_shuffled_give_the_same_messages(name: str, random: Random) -> None:
    frames = [piece for frame in capture(name) for piece in split(frame, random.randrange(1, 200))]
    for _ in range(len(frames) // 4):
        at = random.randrange(len(frames))
        frames.insert(at + 1, frames[at])
    same(shuffled(frames, random, WINDOW // 2), name)


@given(st.sampled_from(TCP), st.randoms(use_true_random=False))
@settings(max_examples=30, phases=FAST)
def test_segments_lost_and_sent_again_give_the_same_messages(name: str, random: Random) -> None:
    """A loss on the way: the segment is seen late only."""
    frames = capture(name)
    for _ in range(5):
        frames = delayed(frames, random)
    same(frames, name)


def test_a_capture_without_zenoh_says_nothing() -> None:
    assert observed([]) == Observed([])
