"""TCP streams: one case each, as conversations made by hand."""

import pickle
from itertools import pairwise

import pytest
from flow_frames import ACK, CLIENT, FIN, MS, RST, SERVER, SYN, TcpConnection, run, streams_of

from zdissect.flow import connection, tcp
from zdissect.flow.tcp import Streams
from zdissect.records import Chunk, Gap, Overlap, StreamEnd, StreamItem


def kinds(items: list[StreamItem]) -> list[str]:
    return [type(item).__name__ for item in items]


def gaps(items: list[StreamItem]) -> list[tuple[int, int, int, str]]:
    return [(item.direction, item.offset, item.size, item.reason) for item in items if isinstance(item, Gap)]


def ends(items: list[StreamItem]) -> list[tuple[int, int, int, str]]:
    return [(item.stream, item.direction, item.offset, item.reason) for item in items if isinstance(item, StreamEnd)]


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


def test_syn_ack_first_its_receiver_opened() -> None:
    peers = TcpConnection()
    syn, syn_ack, _ = peers.handshake()
    data = [peers.segment(1, 0, b"server"), peers.segment(0, 0, b"client")]
    for order in ([syn_ack, syn, *data], [syn_ack, *data], [data[0], syn_ack, syn, data[1]], [*data, syn_ack, syn]):
        assert streams_of(run(order)) == {(0, 0): b"client", (0, 1): b"server"}


def test_data_before_the_syn_waits_for_it() -> None:
    peers = TcpConnection()
    opening = peers.handshake()
    data = [peers.segment(1, 0, b"abc"), peers.segment(0, 3, b"def"), peers.segment(0, 0, b"xyz")]
    assert streams_of(run([*data, *opening])) == {(0, 0): b"xyzdef", (0, 1): b"abc"}


def test_a_capture_that_starts_mid_stream() -> None:
    peers = TcpConnection()
    segments = [peers.segment(1, 500, b"abc"), peers.segment(0, 700, b"xyz"), peers.segment(1, 503, b"def")]
    assert streams_of(run(segments)) == {(0, 0): b"abcdef", (0, 1): b"xyz"}
    assert streams_of(run([segments[2], segments[1], segments[0]])) == {(0, 0): b"abcdef", (0, 1): b"xyz"}


def test_mid_stream_data_comes_after_the_wait_and_late_bytes_are_counted() -> None:
    peers, streams = TcpConnection(), Streams()
    assert streams.feed(peers.segment(0, 500, b"abc")) == []
    peers.now_ns += connection.GRACE_NS
    assert streams_of(streams.feed(peers.segment(0, 503, b"def"))) == {(0, 0): b"abcdef"}
    assert streams.feed(peers.segment(0, 490, b"0123456789")) == []
    assert streams.ignored == {"before the start": 1}


def test_mid_stream_a_side_that_speaks_later_starts_where_its_acknowledgements_said() -> None:
    peers = TcpConnection()
    segments = [peers.segment(0, 500, b"a" * 10), peers.segment(1, 900)]
    peers.now_ns += connection.GRACE_NS
    segments += [peers.segment(0, 510, b"b"), peers.segment(1, 903, b"def"), peers.segment(1, 900, b"abc")]
    assert streams_of(run(segments)) == {(0, 0): b"a" * 10 + b"b", (0, 1): b"abcdef"}


def test_a_syn_sent_again_is_the_same_connection() -> None:
    peers = TcpConnection()
    segments = [
        peers.segment(0, 0, flags=SYN),
        *peers.handshake(),
        peers.segment(0, 0, b"abc"),
        peers.segment(0, 0, flags=SYN),
    ]
    assert streams_of(run([*segments, peers.segment(0, 3, b"def")])) == {(0, 0): b"abcdef"}


@pytest.mark.parametrize("late", [False, True])
def test_where_a_stream_begins_is_known_by_its_syn(late: bool) -> None:
    """Not by one that comes after the wait for it is over, when what came before the first bytes is lost."""
    peers, streams = TcpConnection(step_ns=2 * connection.GRACE_NS), Streams()
    opening, data = peers.segment(0, 0, flags=SYN), [peers.segment(0, 10 * late + at, b"x") for at in range(3)]
    items = [item for one in ([*data, opening] if late else [opening, *data]) for item in streams.feed(one)]
    assert [item.offset for item in items if isinstance(item, Chunk)] == [0, 1, 2]
    assert streams.begins(0, 0) is not late
    assert not streams.begins(0, 1)
    assert not streams.begins(7, 0)


def test_data_in_the_syn() -> None:
    peers = TcpConnection()
    syn = peers.segment(0, 0, b"early", flags=SYN)
    rest = [peers.segment(1, 0, flags=SYN | ACK, acked=5), peers.segment(0, 5, b" late"), peers.segment(0, 0, b"early")]
    assert streams_of(run([syn, *rest])) == {(0, 0): b"early late"}
    assert streams_of(run([rest[0], rest[1], syn])) == {(0, 0): b"early late"}


def test_simultaneous_open() -> None:
    peers = TcpConnection()
    segments = [peers.segment(0, 0, flags=SYN), peers.segment(1, 0, flags=SYN)]
    segments += [peers.segment(1, 0, flags=SYN | ACK), peers.segment(0, 0, flags=SYN | ACK)]
    segments += [peers.segment(1, 0, b"b"), peers.segment(0, 0, b"a")]
    assert streams_of(run(segments)) == {(0, 0): b"a", (0, 1): b"b"}


def test_the_same_ports_again() -> None:
    first, second = TcpConnection(), TcpConnection(10**9, 2 * 10**9)
    segments = [*first.handshake(), first.segment(0, 0, b"old"), *second.handshake(), second.segment(0, 0, b"new")]
    items = run(segments)
    assert streams_of(items) == {(0, 0): b"old", (1, 0): b"new"}
    assert ends(items)[:2] == [(0, 0, 3, "reused"), (0, 1, 0, "reused")]


def test_the_same_ports_again_after_the_end_data_before_the_syn() -> None:
    first, second = TcpConnection(), TcpConnection(10**9, 2 * 10**9)
    segments = [
        *first.handshake(),
        first.segment(0, 0, b"old", FIN | ACK),
        first.segment(1, 0, b"", FIN | ACK, acked=4),
    ]
    opening = second.handshake()
    items = run([*segments, second.segment(0, 0, b"new"), *opening, second.segment(1, 0, b"answer")])
    assert streams_of(items) == {(0, 0): b"old", (1, 0): b"new", (1, 1): b"answer"}
    assert [end[3] for end in ends(items)] == ["fin", "fin", "capture", "capture"]


def test_the_same_ports_again_without_a_syn_in_the_capture() -> None:
    first, second = TcpConnection(), TcpConnection(2**31 + 2**30)
    segments = [*first.handshake(), first.segment(0, 0, b"old")]
    segments += [second.segment(0, 5, b"lost"), second.segment(0, 9, b"new")]
    assert streams_of(run(segments)) == {(0, 0): b"old", (1, 0): b"new"}


def test_one_stray_segment_harms_nobody() -> None:
    peers, stray, streams = TcpConnection(), TcpConnection(2**31 + 2**30), Streams()
    segments = [
        *peers.handshake(),
        peers.segment(0, 0, b"abc"),
        stray.segment(0, 0, b"???"),
        peers.segment(0, 3, b"def"),
    ]
    items = [item for segment in segments for item in streams.feed(segment)]
    assert streams_of(items) == {(0, 0): b"abcdef"}
    assert streams.ignored == {"outside the window": 1}


# Holes


def with_hole(acked: int, after: int, step_ns: int = MS) -> list[StreamItem]:
    """A hole of 10 bytes at 10, and `after` segments behind it."""
    peers, streams = TcpConnection(step_ns=step_ns), Streams()
    segments = [*peers.handshake(), peers.segment(0, 0, bytes(10)), peers.segment(0, 20, bytes(10))]
    segments += [peers.segment(1, 0, acked=acked)]
    segments += [peers.segment(0, 30 + i, b"x") for i in range(after)]
    return [item for segment in segments for item in streams.feed(segment)]


def test_an_acknowledged_hole_is_given_up_after_a_grace() -> None:
    assert kinds(with_hole(30, connection.GRACE_SEGMENTS - 1)) == ["Chunk"]
    items = with_hole(30, connection.GRACE_SEGMENTS)
    assert gaps(items) == [(0, 10, 10, "lost")]
    assert len(streams_of(items)[0, 0]) == 20 + connection.GRACE_SEGMENTS


def test_a_hole_that_nobody_acknowledged_stays_open() -> None:
    assert kinds(with_hole(10, 10 * connection.GRACE_SEGMENTS)) == ["Chunk"]
    assert gaps(with_hole(10, 11, 10**9)) == [(0, 10, 10, "lost")]  # but not for ever


def test_an_acknowledgement_before_its_data() -> None:
    peers = TcpConnection()
    opening = [*peers.handshake(), peers.segment(1, 0, acked=30)]
    data = [peers.segment(0, 10 * i, bytes([i]) * 10) for i in (2, 0, 1)]
    assert gaps(run([*opening, *data])) == []


def test_a_later_hole_gets_its_own_grace() -> None:
    peers, streams = TcpConnection(), Streams()
    segments = [*peers.handshake(), peers.segment(0, 10, bytes(10)), peers.segment(1, 0, acked=20)]
    segments += [peers.segment(0, 0, bytes(10))]  # filled
    segments += [peers.segment(0, 20 + i, b"x") for i in range(200)]
    segments += [peers.segment(0, 230, bytes(10)), peers.segment(1, 0, acked=240), peers.segment(0, 220, bytes(10))]
    assert gaps([item for segment in segments for item in streams.feed(segment)]) == []


def test_an_idle_connection_is_looked_at_when_time_passes_elsewhere() -> None:
    peers, other, streams = TcpConnection(), TcpConnection(), Streams()
    for segment in [*peers.handshake(), peers.segment(0, 10, bytes(10)), peers.segment(1, 0, acked=20)]:
        streams.feed(segment)
    elsewhere = [s._replace(src=s.src._replace(port=s.src.port + 1)) for s in [other.handshake()[0]]]
    later = elsewhere[0].frame._replace(ts_ns=3 * connection.GRACE_NS)
    items = streams.feed(elsewhere[0]._replace(frame=later))
    assert gaps(items) == [(0, 0, 10, "lost")]
    assert kinds(items) == ["Gap", "Chunk"]


def test_too_much_behind_a_hole() -> None:
    peers, streams = TcpConnection(step_ns=1), Streams()
    segments = [
        *peers.handshake(),
        *(peers.segment(0, 5 + i, b"x") for i in range(connection.MAX_BUFFERED_SEGMENTS + 1)),
    ]
    assert gaps([item for segment in segments for item in streams.feed(segment)]) == [(0, 0, 5, "lost")]
    peers, streams = TcpConnection(step_ns=1), Streams()
    segments = [*peers.handshake(), *(peers.segment(0, 5 + i * 10**6, bytes(10**6)) for i in range(5))]
    assert gaps([item for segment in segments for item in streams.feed(segment)]) == [(0, 0, 5, "lost")]


def test_close_gives_up_what_is_open() -> None:
    peers = TcpConnection()
    segments = [
        *peers.handshake(),
        peers.segment(0, 5, b"abc"),
        peers.segment(0, 10, b"def"),
        peers.segment(1, 0, acked=20),
    ]
    items = run(segments)
    assert gaps(items) == [(0, 0, 5, "lost"), (0, 8, 2, "lost"), (0, 13, 7, "lost")]
    assert ends(items) == [(0, 0, 20, "capture"), (0, 1, 0, "capture")]


def test_an_acknowledged_fin_that_is_not_in_the_capture_is_no_lost_byte() -> None:
    peers = TcpConnection()
    assert gaps(run([*peers.handshake(), peers.segment(0, 0, b"abc"), peers.segment(1, 0, acked=4)])) == []


# Cut by the capture


def test_snaplen() -> None:
    peers = TcpConnection()
    items = run([*peers.handshake(), peers.segment(0, 0, b"abc", missing=7), peers.segment(0, 10, b"def", missing=1)])
    assert streams_of(items) == {(0, 0): b"abcdef"}
    assert gaps(items) == [(0, 3, 7, "cut"), (0, 13, 1, "cut")]


def test_snaplen_of_zero_payload() -> None:
    peers = TcpConnection()
    items = run([*peers.handshake(), peers.segment(0, 0, missing=7), peers.segment(0, 7, missing=5, flags=FIN | ACK)])
    assert gaps(items) == [(0, 0, 7, "cut"), (0, 7, 5, "cut")]
    assert ends(items)[0] == (0, 0, 12, "fin")


def test_a_retransmission_holds_what_was_cut() -> None:
    peers = TcpConnection()
    opening = peers.handshake()
    cut, whole, first = (
        peers.segment(0, 5, b"56", missing=8),
        peers.segment(0, 9, b"9abc"),
        peers.segment(0, 0, b"01234"),
    )
    items = run([*opening, cut, whole, first])
    assert streams_of(items) == {(0, 0): b"01234569abc"}
    assert gaps(items) == [(0, 7, 2, "cut"), (0, 13, 2, "cut")]
    again = run([*opening, first, peers.segment(0, 5, b"56789abcde"), cut])
    assert gaps(again) == []


# Ends


def test_fin_before_its_data() -> None:
    peers = TcpConnection()
    opening = peers.handshake()
    data, fin = peers.segment(0, 0, b"abc"), peers.segment(0, 3, b"def", FIN | ACK)
    items = run([*opening, fin, data, fin])
    assert kinds(items) == ["Chunk", "Chunk", "StreamEnd", "StreamEnd"]
    assert ends(items) == [(0, 0, 6, "fin"), (0, 1, 0, "capture")]


def test_half_closed() -> None:
    peers = TcpConnection()
    segments = [*peers.handshake(), peers.segment(0, 0, b"get", FIN | ACK)]
    segments += [peers.segment(1, i, b"x", acked=4) for i in range(100)]
    assert streams_of(run(segments)) == {(0, 0): b"get", (0, 1): b"x" * 100}


def test_a_hole_before_the_fin_is_given_up() -> None:
    peers, streams = TcpConnection(), Streams()
    segments = [*peers.handshake(), peers.segment(0, 0, b"abc"), peers.segment(0, 8, b"", FIN | ACK)]
    segments += [peers.segment(1, i, b"x") for i in range(connection.GRACE_SEGMENTS)]
    items = [item for segment in segments for item in streams.feed(segment)]
    assert gaps(items) == [(0, 3, 5, "lost")]
    assert ends(items) == [(0, 0, 8, "fin")]


def test_data_after_the_fin_is_counted() -> None:
    peers, streams = TcpConnection(), Streams()
    for segment in [*peers.handshake(), peers.segment(0, 0, b"abc", FIN | ACK), peers.segment(0, 3, b"??")]:
        streams.feed(segment)
    assert streams.ignored == {"after the end": 1}


def test_rst_lets_in_what_was_on_its_way() -> None:
    peers = TcpConnection()
    opening = peers.handshake()
    data, answer, rst = peers.segment(0, 0, b"abc"), peers.segment(1, 0, b"xyz"), peers.segment(0, 3, flags=RST | ACK)
    for order in ([data, answer, rst], [rst, data, answer], [rst, answer, data], [answer, rst, data, rst]):
        items = run([*opening, *order])
        assert streams_of(items) == {(0, 0): b"abc", (0, 1): b"xyz"}
        assert sorted(ends(items)) == [(0, 0, 3, "rst"), (0, 1, 3, "rst")]
        assert {item.frame for item in items if isinstance(item, StreamEnd)} == {rst.frame}


def test_a_refused_connection() -> None:
    peers = TcpConnection()
    syn, rst = peers.segment(0, 0, flags=SYN), peers.segment(1, 0, flags=RST | ACK)
    assert sorted(ends(run([syn, rst._replace(seq=0)]))) == [(0, 0, 0, "rst"), (0, 1, 0, "rst")]


def test_late_retransmissions_after_both_fins_open_nothing() -> None:
    peers = TcpConnection()
    segments = [*peers.handshake(), peers.segment(0, 0, b"abc", FIN | ACK), peers.segment(1, 0, b"xyz", FIN | ACK)]
    late = [peers.segment(0, 0, b"abc"), peers.segment(1, 0, b"xyz", FIN | ACK), peers.segment(0, 4)]
    items = run(segments + late)
    assert streams_of(items) == {(0, 0): b"abc", (0, 1): b"xyz"}
    assert len(ends(items)) == 2


# State


def test_connections_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp, "MAX_CONNECTIONS", 20)
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
