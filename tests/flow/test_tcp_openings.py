"""Where TCP streams begin: handshakes, captures that start later, and ports that are used again."""

import pytest

from tests.flow.flow_frames import ACK, FIN, SYN, TcpConnection, ends, run, streams_of
from zdissect.flow import connection
from zdissect.flow.tcp import Streams
from zdissect.records import Chunk


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
