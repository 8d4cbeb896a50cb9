"""Gaps in TCP streams: what is lost and for how long it is waited for, and what the capture cut."""

from tests.flow.flow_frames import ACK, FIN, MS, TcpConnection, ends, gaps, kinds, run, streams_of
from zdissect.flow import connection
from zdissect.flow.tcp import Streams
from zdissect.records import StreamItem


def with_gap(acked: int, after: int, step_ns: int = MS) -> list[StreamItem]:
    """A gap of 10 bytes at 10, and `after` segments behind it."""
    peers, streams = TcpConnection(step_ns=step_ns), Streams()
    segments = [*peers.handshake(), peers.segment(0, 0, bytes(10)), peers.segment(0, 20, bytes(10))]
    segments += [peers.segment(1, 0, acked=acked)]
    segments += [peers.segment(0, 30 + i, b"x") for i in range(after)]
    return [item for segment in segments for item in streams.feed(segment)]


def test_an_acknowledged_gap_is_given_up_after_a_grace() -> None:
    assert kinds(with_gap(30, connection.GRACE_SEGMENTS - 1)) == ["Chunk"]
    items = with_gap(30, connection.GRACE_SEGMENTS)
    assert gaps(items) == [(0, 10, 10, "lost")]
    assert len(streams_of(items)[0, 0]) == 20 + connection.GRACE_SEGMENTS


def test_a_gap_that_nobody_acknowledged_stays_open() -> None:
    assert kinds(with_gap(10, 10 * connection.GRACE_SEGMENTS)) == ["Chunk"]
    assert gaps(with_gap(10, 11, 10**9)) == [(0, 10, 10, "lost")]  # but not for ever


def test_an_acknowledgement_before_its_data() -> None:
    peers = TcpConnection()
    opening = [*peers.handshake(), peers.segment(1, 0, acked=30)]
    data = [peers.segment(0, 10 * i, bytes([i]) * 10) for i in (2, 0, 1)]
    assert gaps(run([*opening, *data])) == []


def test_a_later_gap_gets_its_own_grace() -> None:
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


def test_too_much_behind_a_gap() -> None:
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
