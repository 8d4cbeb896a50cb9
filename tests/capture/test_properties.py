"""What holds for any file: cut anywhere, damaged anywhere, or random."""

import gzip
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

KINDS = ["pcap", "pcap-big", "pcapng", "pcapng-big"]


@pytest.fixture(scope="module")
def samples(build) -> dict[str, list[bytes]]:
    """For every kind, the pieces of a file: its header, then one frame each (with what comes before it)."""
    data = [b"first", b"", bytes(300), b"fourth frame"]
    samples = {}
    for order, suffix in ("<", ""), (">", "-big"):
        samples["pcap" + suffix] = [build.pcap_header(order)] + [build.pcap_record(one, order=order) for one in data]
        section, interface = build.section(order), build.interface(order=order)
        packets = [
            build.packet(data[0], options=build.option(1, b"comment", order), order=order),
            build.simple_packet(data[1], order=order),
            build.old_packet(data[2], order=order),
            build.packet(data[3], order=order),
        ]
        samples["pcapng" + suffix] = [section, interface + packets[0], *packets[1:]]
    return samples


def frames_before(pieces: list[bytes], end: int) -> int:
    """How many pieces after the header lie wholly before offset `end`."""
    total, count = len(pieces[0]), 0
    for piece in pieces[1:]:
        total += len(piece)
        count += total <= end
    return count


@pytest.mark.parametrize("kind", KINDS)
def test_any_cut_gives_the_frames_before_it_and_then_an_error(samples, read, kind):
    pieces = samples[kind]
    whole = b"".join(pieces)
    all_frames, error = read(whole)
    assert (len(all_frames), error) == (4, "")
    boundaries = {len(b"".join(pieces[: i + 1])) for i in range(5)}
    if kind.startswith("pcapng"):
        boundaries.add(len(pieces[0]) + 20)  # after the description of the interface
    for end in range(len(whole)):
        frames, error = read(whole[:end])
        assert frames == all_frames[: frames_before(pieces, end)]
        assert (error == "") == (end in boundaries)


@pytest.mark.parametrize("kind", KINDS)
def test_any_cut_of_a_packed_file_is_an_error_after_good_frames(samples, read, kind):
    whole = b"".join(samples[kind])
    all_frames, _ = read(whole)
    packed = gzip.compress(whole)
    counts = []
    for end in range(1, len(packed)):
        frames, error = read(packed[:end])
        assert frames == all_frames[: len(frames)]
        assert error
        counts.append(len(frames))
    assert counts == sorted(counts)
    assert counts[-1] == 4


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(KINDS), st.booleans(), st.integers(0, 2**32), st.integers(1, 8))
def test_damage_never_raises_anything_else(samples, read, kind, packed, seed, changes):
    whole = b"".join(samples[kind])
    content = bytearray(gzip.compress(whole) if packed else whole)
    chance = random.Random(seed)
    for _ in range(changes):
        content[chance.randrange(len(content))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    read(bytes(content))


HEADS = [
    b"",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
    b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a",
]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([*HEADS, b"\x1f\x8b\x08\0"]), st.binary(max_size=200))
def test_random_bytes_never_raise_anything_else(read, head, data):
    read(head + data)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 8), st.binary(max_size=60)), max_size=6))
def test_random_blocks_never_raise_anything_else(build, read, blocks):
    read(build.section() + build.interface() + b"".join(build.block(kind, body) for kind, body in blocks))
