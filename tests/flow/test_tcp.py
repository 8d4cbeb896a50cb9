"""TCP streams: one case each, as conversations made by hand."""

import pickle
from itertools import pairwise

import pytest

from tests.flow.flow_frames import (
    ACK,
    CLIENT,
    FIN,
    RST,
    SERVER,
    SYN,
    TcpConnection,
    ends,
    gaps,
    kinds,
    run,
    streams_of,
)
from zdissect.flow import connection, connection_table
from zdissect.flow.tcp import Streams
from zdissect.limits import Limits
from zdissect.records import Chunk, Overlap, StreamEnd


def test_a_conversation() -> None:
    peers = TcpConnection()
    segments = [
        *peers.handshake(),
        peers.segment(0, 0, b"question"),
        peers.segment(1, 0, b"answer", acked=8),
        peers.segment(0, 8, b"more", FIN | ACK, acked=6),
        peers.segment(1, 6, b"", FIN | ACK, acked=13),
        peers.segment(0, 13, acked=7),
    ]
    items = run(segments)
    assert items == [
        Chunk(0, 0, 0, b"question", segments[3].frame, 54),
        Chunk(0, 1, 0, b"answer", segments[4].frame, 54),
        Chunk(0, 0, 8, b"more", segments[5].frame, 54),
        StreamEnd(0, 0, 12, segments[5].frame, "fin"),
        StreamEnd(0, 1, 6, segments[6].frame, "fin"),
    ]


def test_out_of_order_each_piece_names_its_frame() -> None:
    peers = TcpConnection()
    opening = peers.handshake()
    a, b, c = (peers.segment(0, 10 * i, bytes([i]) * 10) for i in range(3))
    items = run([*opening, c, b, a])
    assert [(item.offset, item.frame.number) for item in items if isinstance(item, Chunk)] == [(0, 4), (10, 5), (20, 6)]


def test_retransmissions_exact_split_and_overlapping() -> None:
    peers, text = TcpConnection(), bytes(range(100))
    opening = peers.handshake()
    pieces = [(0, 40), (0, 40), (0, 15), (15, 40), (30, 60), (70, 100), (65, 80), (50, 90), (20, 100), (5, 6)]
    items = run([*opening, *(peers.segment(0, a, text[a:b]) for a, b in pieces)])
    assert streams_of(items) == {(0, 0): text}
    assert kinds(items).count("Overlap") == 0


@pytest.mark.parametrize("buffered", [False, True])
def test_an_overlap_that_differs_first_wins(buffered: bool) -> None:
    peers = TcpConnection()
    opening = peers.handshake()
    first = peers.segment(0, 10, b"abcdefghij")
    other = peers.segment(0, 15, b"fgHIJklm")
    start = peers.segment(0, 0, b"0123456789")
    order = [first, other, start] if buffered else [start, first, other]
    items = run([*opening, *order])
    assert streams_of(items) == {(0, 0): b"0123456789abcdefghijklm"}
    assert [item for item in items if isinstance(item, Overlap)] == [Overlap(0, 0, 15, 5, other.frame)]


@pytest.mark.parametrize(("size", "seen"), [(10, True), (20_000, False)])
def test_how_far_back_overlaps_are_seen(size: int, seen: bool) -> None:
    """As far as memory for their own direction reaches, whatever other connections carry."""
    peers, other = TcpConnection(), TcpConnection()
    mine = [*peers.handshake(), *(peers.segment(0, at * size, bytes(size)) for at in range(5))]
    others = [other.segment(0, at, b"x")._replace(src=SERVER._replace(port=1)) for at in range(3000)]
    items = run([*mine, *others, peers.segment(0, 0, b"\1" * size)])
    assert any(isinstance(item, Overlap) for item in items) is seen


@pytest.mark.parametrize("count", range(8, 40))
def test_the_last_segments_are_always_remembered(count: int) -> None:
    """Small ones, however many came before them."""
    peers = TcpConnection()
    segments = [*peers.handshake(), *(peers.segment(0, at * 10, bytes(10)) for at in range(count))]
    items = run([*segments, peers.segment(0, (count - connection.RECENT_SEGMENTS) * 10, b"\1" * 10)])
    assert [item for item in items if isinstance(item, Overlap)]


def test_an_acknowledgement_that_comes_late_takes_nothing_back() -> None:
    """What the newer one was for, the capture lacks."""
    peers = TcpConnection()
    segments = [*peers.handshake(), peers.segment(1, 0, b"a", acked=9), peers.segment(1, 1, b"b", acked=4)]
    assert gaps(run(segments)) == [(0, 0, 9, "lost")]
    segments = [*peers.handshake(), peers.segment(1, 0, b"a", acked=4), peers.segment(1, 1, b"b", acked=9)]
    assert gaps(run(segments)) == [(0, 0, 9, "lost")]


@pytest.mark.parametrize("size", [10, 3000, 5000, 60_000])
def test_what_a_direction_keeps_is_bounded(size: int) -> None:
    peers, streams = TcpConnection(), Streams()
    for segment in [*peers.handshake(), *(peers.segment(0, at * size, bytes(size)) for at in range(100))]:
        streams.feed(segment)
    kept = [len(data) for half in streams._halves.values() for _, data in half.recent]
    assert 0 < len(kept) <= 2 * connection.RECENT_SEGMENTS
    assert sum(kept) <= 2 * connection.RECENT_BYTES or len(kept) == 1


def test_a_keep_alive_is_no_overlap() -> None:
    peers = TcpConnection()
    items = run([*peers.handshake(), peers.segment(0, 0, b"abc"), peers.segment(0, 2, b"\0"), peers.segment(0, 2)])
    assert streams_of(items) == {(0, 0): b"abc"}
    assert "Overlap" not in kinds(items)


def test_a_zero_window_probe_carries_a_new_byte() -> None:
    peers = TcpConnection()
    items = run([*peers.handshake(), peers.segment(0, 0, b"a"), peers.segment(0, 1, b"b"), peers.segment(0, 1, b"bc")])
    assert streams_of(items) == {(0, 0): b"abc"}


def test_sequence_numbers_wrap() -> None:
    peers, text = TcpConnection(2**32 - 50), bytes(range(200))
    opening = peers.handshake()
    data = [peers.segment(0, a, text[a : a + 30]) for a in range(0, 200, 30)]
    assert streams_of(run(opening + data)) == {(0, 0): text}
    assert streams_of(run(opening + data[::-1])) == {(0, 0): text}


def test_numbers_and_directions_of_several_connections() -> None:
    segments = []
    for port in (1, 2, 3):
        peers = TcpConnection()
        for segment in [*peers.handshake(), peers.segment(1, 0, b"s%d" % port), peers.segment(0, 0, b"c%d" % port)]:
            swap = {CLIENT: CLIENT._replace(port=port), SERVER: SERVER}
            segments.append(segment._replace(src=swap[segment.src], dst=swap[segment.dst]))
    expected = {(n - 1, d): b"%c%d" % ("cs"[d].encode(), n) for n in (1, 2, 3) for d in (0, 1)}
    assert streams_of(run(segments)) == expected
    assert (
        streams_of(run(segments[0::5] + segments[1::5] + segments[2::5] + segments[3::5] + segments[4::5])) == expected
    )


def test_connections_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_table, "CONNECTION_BYTES", Limits().connections // 19)
    streams, items = Streams(), []
    for port in range(100):
        peers = TcpConnection()
        peers.now_ns = port * 10**6
        for segment in [peers.segment(0, 0, flags=SYN), peers.segment(0, 0, b"%03d" % port)]:
            items += streams.feed(segment._replace(src=CLIENT._replace(port=port)))
        assert len(streams._halves) <= 40
    items += streams.close()
    assert streams_of(items) == {(port, 0): b"%03d" % port for port in range(100)}
    assert len(ends(items)) == 200


def test_closed_connections_are_forgotten() -> None:
    streams = Streams()
    for port in range(5000):
        peers = TcpConnection()
        peers.now_ns = port * 10**9
        for segment in [peers.segment(0, 0, flags=SYN), peers.segment(1, 0, flags=SYN | ACK)]:
            ports = {CLIENT: CLIENT._replace(port=port), SERVER: SERVER}
            streams.feed(segment._replace(src=ports[segment.src], dst=ports[segment.dst]))
        reset = peers.segment(0, 0, flags=RST)
        streams.feed(reset._replace(src=CLIENT._replace(port=port)))
    assert len(streams._halves) < 2 * 1000


def test_pickled_at_every_step() -> None:
    peers, streams, items = TcpConnection(), Streams(), []
    opening = peers.handshake()
    data = [peers.segment(side, 10 * i, bytes([i]) * 10) for i in (1, 0, 3, 2) for side in (0, 1)]
    for segment in [*data[:4], *opening, *data[4:]]:
        items += pickle.loads(pickle.dumps(streams)).feed(segment)
        assert pickle.loads(pickle.dumps(streams)).feed(segment) == streams.feed(segment)
    assert streams_of(items) == {(0, d): b"".join(bytes([i]) * 10 for i in range(4)) for d in (0, 1)}


def test_the_offsets_of_a_fragmented_segment_stay_unknown() -> None:
    peers = TcpConnection()
    opening = peers.handshake()
    items = run([*opening, *(peers.segment(0, a, bytes(10))._replace(offset=-1) for a in (15, 0, 5))])
    chunks = [item for item in items if isinstance(item, Chunk)]
    assert {item.frame_offset for item in chunks} == {-1}
    assert all(a.offset + len(a.data) == b.offset for a, b in pairwise(chunks))
