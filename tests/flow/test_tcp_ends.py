"""How TCP streams end: FIN, RST, and what comes after them."""

from tests.flow.flow_frames import ACK, FIN, RST, SYN, TcpConnection, ends, gaps, kinds, run, streams_of
from zdissect.flow import connection
from zdissect.flow.tcp import Streams
from zdissect.records import StreamEnd


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
