"""What is said of TCP segments beside their bytes."""

import pytest

from tests.flow.flow_frames import ACK, CLIENT, FIN, RST, SERVER, SYN, TcpConnection, frame
from zdissect.flow import tcp_analysis
from zdissect.flow.tcp_analysis import TcpAnalysis
from zdissect.records import Segment

Sent = list[tuple[int, bytes]]


def said(sent: Sent, first: int = 1000) -> list[str]:
    """What is said of segments of the client: (stream offset, payload)."""
    connection, one = TcpConnection(client_isn=first), TcpAnalysis()
    return [one.feed(connection.segment(0, offset, payload)) for offset, payload in sent]


@pytest.mark.parametrize("first", [1000, 0xFFFFFFFA])
def test_bytes(first: int) -> None:
    assert said([(0, b"abc"), (3, b"def"), (6, b"")], first) == ["", "", ""]
    assert said([(0, b"abc"), (3, b"def"), (0, b"abc")], first)[2] == "TCP retransmission of 3 bytes, first in frame 1"
    assert said([(0, b"abc"), (3, b"def"), (0, b"abcdef")], first)[2] == (
        "TCP retransmission of 6 bytes, first in frames 1, 2"
    )
    assert said([(0, b"abc"), (3, b"d"), (2, b"cdef")], first)[2] == (
        "TCP retransmission of 2 of these 4 bytes, first in frames 1, 2"
    )
    assert said([(0, b"abc"), (4, b"e"), (3, b"d"), (5, b"f")], first) == [
        "",
        "TCP segment out of order: 1 byte before it haven't arrived yet",
        "TCP segment out of order, or a retransmission of what isn't in the capture: 1 byte",
        "",
    ]
    assert said([(0, b"abc"), (3, b"d"), (2, b"c"), (4, b"e")], first)[3] == ""


def test_a_segment_of_somewhere_else_changes_nothing() -> None:
    assert said([(0, b"abc"), (1 << 31, b"x"), (3, b"def")])[1:] == ["TCP segment outside the window: 1 byte", ""]


def test_a_segment_that_the_capture_cut_counts_whole() -> None:
    connection, one = TcpConnection(), TcpAnalysis()
    assert not one.feed(connection.segment(0, 0, b"ab", missing=8))
    assert not one.feed(connection.segment(0, 10, b"k"))


def test_opening_and_end() -> None:
    connection, one = TcpConnection(), TcpAnalysis()
    assert [one.feed(segment) for segment in connection.handshake()] == [
        "TCP SYN: a connection is opened", "TCP SYN ACK: the connection is accepted", "",
    ]  # fmt: skip
    assert not one.feed(connection.segment(0, 0, b"abc"))
    assert one.feed(connection.segment(0, 3, b"d", FIN | ACK)) == "TCP FIN: this side has nothing more to send"
    assert one.feed(connection.segment(1, 0, flags=RST)) == "TCP RST: the connection is reset"


def test_a_syn_again_and_a_new_connection() -> None:
    connection, one = TcpConnection(), TcpAnalysis()
    first = connection.segment(0, 0, flags=SYN)
    assert one.feed(first) == "TCP SYN: a connection is opened"
    assert one.feed(first) == "TCP SYN: a connection is opened, again"
    one.feed(connection.segment(0, 0, b"abc"))
    connection.isn = (77, 5000)
    assert one.feed(connection.segment(0, 0, flags=SYN)) == "TCP SYN: a connection is opened"
    assert not one.feed(connection.segment(0, 0, b"abc"))


def test_its_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp_analysis, "MOST_DIRECTIONS", 4)
    one = TcpAnalysis()
    for port in range(100):
        one.feed(Segment(frame(b""), CLIENT._replace(port=port), SERVER, 1, 0, ACK, b"x", 0, 0))
    assert len(one.directions) <= 4
