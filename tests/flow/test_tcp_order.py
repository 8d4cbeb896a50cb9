"""Invariant 8: segments cut, shuffled in a window, duplicated or retransmitted give the same streams."""

import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.flow.flow_frames import ACK, FIN, RST, SYN, TcpConnection, run, streams_of
from zdissect.flow.tcp import Streams
from zdissect.records import Chunk, Endpoint, Frame, Gap, Overlap, Segment, StreamEnd


def conversation(
    draw: random.Random, connection: TcpConnection, sizes: tuple[int, int], closing: str, opening: bool
) -> list[Segment]:
    """Both sides' bytes, cut at random, in order; each side acknowledges what the other has sent."""
    texts = [bytes(draw.randrange(256) for _ in range(size)) for size in sizes]
    sent = [0, 0]
    segments = connection.handshake() if opening else []
    while sent != list(sizes):
        side = draw.randrange(2)
        size = min(draw.choice((1, 7, 50)), sizes[side] - sent[side])
        if size:
            payload = texts[side][sent[side] : sent[side] + size]
            segments.append(connection.segment(side, sent[side], payload, acked=sent[1 - side]))
            sent[side] += size
    if closing == "rst":
        segments.append(connection.segment(0, sizes[0], flags=RST | ACK, acked=sizes[1]))
    if closing == "fin":
        segments += [connection.segment(side, sizes[side], flags=FIN | ACK, acked=sizes[1 - side]) for side in (0, 1)]
    return segments


def retransmitted(draw: random.Random, connection: TcpConnection, segments: list[Segment]) -> list[Segment]:
    """Adds copies, and segments that span several others, somewhere after what they repeat."""
    streams: dict[Endpoint, dict[int, int]] = {}
    result: list[Segment] = []
    for segment in segments:
        result.append(segment)
        known = streams.setdefault(segment.src, {})
        for i, byte in enumerate(segment.payload):
            known[segment.seq + i & 0xFFFFFFFF] = byte
        if draw.random() < 0.3 and segment.payload:
            seq = segment.seq - draw.randrange(60) & 0xFFFFFFFF
            while seq not in known:
                seq = seq + 1 & 0xFFFFFFFF
            payload = bytearray()
            while seq + len(payload) & 0xFFFFFFFF in known and len(payload) < draw.randrange(1, 80):
                payload.append(known[seq + len(payload) & 0xFFFFFFFF])
            copy = connection.segment(0, 0, bytes(payload))
            result.append(copy._replace(src=segment.src, dst=segment.dst, seq=seq, ack=segment.ack))
    return result


def shuffled(draw: random.Random, segments: list[Segment], window: int) -> list[Segment]:
    """No segment moves by more than `window` places; capture times stay ascending, as a capture has them."""
    order = sorted(range(len(segments)), key=lambda i: i + draw.random() * window)
    times = [segment.frame.ts_ns for segment in segments]
    return [
        segments[i]._replace(frame=segments[i].frame._replace(ts_ns=ts)) for i, ts in zip(order, times, strict=True)
    ]


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    sizes=st.tuples(st.integers(1, 400), st.integers(0, 400)),
    isn=st.one_of(st.integers(0, 2**32 - 1), st.integers(2**32 - 300, 2**32 - 1)),
    window=st.integers(0, 20),
    closing=st.sampled_from(["", "fin", "rst"]),
    opening=st.booleans(),
)
def test_the_same_streams(
    seed: int, sizes: tuple[int, int], isn: int, window: int, closing: str, opening: bool
) -> None:
    draw = random.Random(seed)
    connection = TcpConnection(isn, (isn * 7 + 5) % 2**32)
    segments = conversation(draw, connection, sizes, closing, opening)
    plain = run(segments)
    mixed = run(shuffled(draw, retransmitted(draw, connection, segments), window))
    if not opening:  # who spoke first is then what the capture shows first
        assert Counter(streams_of(mixed).values()) == Counter(streams_of(plain).values())
        return
    assert streams_of(mixed) == streams_of(plain)
    assert [item for item in mixed if isinstance(item, Gap | Overlap)] == []
    assert {item[:3] for item in mixed if isinstance(item, StreamEnd)} == {
        item[:3] for item in plain if isinstance(item, StreamEnd)
    }


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(50, 2000), window=st.integers(0, 10))
def test_lost_segments_are_gaps_of_the_right_size(seed: int, size: int, window: int) -> None:
    draw = random.Random(seed)
    connection = TcpConnection(draw.randrange(2**32), 9)
    segments = conversation(draw, connection, (size, 0), "fin", True)
    payloads = [segment for segment in segments if segment.payload]
    lost = {segment.frame.number for segment in payloads if draw.random() < 0.2}
    items = run(shuffled(draw, [segment for segment in segments if segment.frame.number not in lost], window))
    kept = b"".join(segment.payload for segment in payloads if segment.frame.number not in lost)
    assert streams_of(items).get((0, 0), b"") == kept
    missing = sum(len(segment.payload) for segment in payloads if segment.frame.number in lost)
    assert sum(item.size for item in items if isinstance(item, Gap)) == missing


SEGMENT = st.builds(
    Segment,
    st.builds(Frame, st.just("x"), st.integers(1, 9), st.integers(0, 2 * 10**10), st.just(1), st.just(0), st.just(b"")),
    st.sampled_from([Endpoint(b"a", 1), Endpoint(b"b", 2)]),
    st.sampled_from([Endpoint(b"a", 1), Endpoint(b"b", 2)]),
    st.one_of(st.integers(0, 60), st.integers(0, 2**32 - 1)),
    st.one_of(st.integers(0, 60), st.integers(0, 2**32 - 1)),
    st.one_of(st.sampled_from([ACK, SYN, SYN | ACK, FIN | ACK, RST]), st.integers(0, 255)),
    st.binary(max_size=20),
    st.sampled_from([0, 0, 0, 5]),
    st.just(-1),
)


@settings(max_examples=300, deadline=None)
@given(segments=st.lists(SEGMENT, max_size=40))
def test_any_segments_at_all(segments: list[Segment]) -> None:
    """Never raises; each direction's offsets follow each other; nothing comes after its end, and an end comes once."""
    streams = Streams()
    items = [item for segment in segments for item in streams.feed(segment)] + streams.close()
    streams_of(items)
    ended: set[tuple[int, int]] = set()
    for item in items:
        key = item.stream, item.direction
        if isinstance(item, Chunk | Gap):
            assert key not in ended
            assert item.data if isinstance(item, Chunk) else item.size > 0
        elif isinstance(item, StreamEnd):
            assert key not in ended
            ended.add(key)
    assert ended == {(stream, direction) for stream, _ in ended for direction in (0, 1)}
    assert streams.close() == []
