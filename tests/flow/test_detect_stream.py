"""Streams from their first byte: what is said of them where the capture holds their SYN, and where it doesn't."""

from struct import pack
from typing import Any

import pytest

from tests.conversation import Conversation
from tests.messages import push
from tests.observed import Observed, dissected, observed
from tests.packets import Parties
from zdissect.pipeline import Options

INIT = bytes.fromhex("410902080affff")
ACK = bytes.fromhex("610902090affff0161")
KEEP_ALIVE, SCOUT, CLOSE = b"\x04", bytes.fromhex("010907"), b"\x03\x02"
PUT = bytes.fromhex("25c8017d00036b2f610103313131")
STRANGE = [bytes((0xB8 + number, number, 3, 4)) for number in range(8)]


def framed(data: bytes, kind: str = "<H") -> bytes:
    """Bytes with their length in front."""
    return pack(kind, len(data)) + data


def said(*pieces: tuple[int, bytes], port: int = 7447, **options: Any) -> tuple[Observed, dict[str, int]]:
    """What both sides say, each piece in a segment; then they hang up."""
    conversation = Conversation(parties=Parties(ports=(40000, port)), **options)
    for side, data in pieces:
        conversation.raw(side, data)
    return dissected(conversation.hang_up().capture)


def test_a_first_batch_that_is_malformed() -> None:
    """Version and role are swapped; the capture doesn't start in the middle."""
    found, others = said((0, bytes.fromhex("0a00413209010203040affff")))
    (number, names, codes), *rest = found.summaries
    assert (number, names, codes[0]) == (4, "INIT_SYN", "version")
    assert found.rows[0]["version"] == 0x32
    assert [codes for *_, codes in rest] == [["handshake-refused"]]
    assert not found.skips
    assert not others


def test_an_open_as_first_message() -> None:
    found, _ = said((0, framed(bytes.fromhex("420a000461626364"))))
    assert found.names == ["OPEN_SYN"]
    assert found.codes == ["handshake-order"]
    found, _ = said((0, framed(bytes.fromhex("420a000461626364"))), connect=False)
    assert not found.codes


@pytest.mark.parametrize("data", [b"\xff", b"\x1f\x1f", bytes(3), b"\x41", INIT[:4], b"\x00\xff\x00", b"\x26"])
@pytest.mark.parametrize("pieces", [1, 20])
def test_whatever_comes_first_is_shown(data: bytes, pieces: int) -> None:
    """And what follows is read."""
    conversation = Conversation().raw(0, framed(data), pieces).open().frame(0, push("a/b"))
    found = observed(conversation)
    assert found.keys == ["a/b"]
    assert not found.skips
    assert [item.frame.number for item in found.items[:1]] == [4 if pieces == 1 else 5 + len(data)]


@pytest.mark.parametrize("port", [7447, 9000])
def test_bytes_in_front_of_the_first_batch(port: int) -> None:
    """Said in true words: the capture doesn't start in the middle."""
    good = framed(INIT) + framed(KEEP_ALIVE) * 2 + framed(PUT)
    found, _ = said((0, b"xyz"), (0, good), port=port)
    assert [(skip.data, skip.reason) for skip in found.skips] == [
        (b"xyz", "the stream doesn't begin with a batch, up to the first one")
    ]
    assert found.names == ["INIT_SYN", "KEEP_ALIVE", "KEEP_ALIVE", "FRAME", "PUSH"]
    found, _ = said((0, b"xyz"), (0, good), port=port, connect=False)
    assert [skip.reason for skip in found.skips] == ["the capture starts in the middle of a batch"]


@pytest.mark.parametrize("port", [7447, 9000])
@pytest.mark.parametrize("sides", [(0,), (0, 1), (1,)])
def test_batches_of_another_protocol(port: int, sides: tuple[int, ...]) -> None:
    """Said once; on a port where nobody expects Zenoh it takes lengths that chain over the whole stream."""
    pieces = [(side, framed(data)) for data in STRANGE for side in sides]
    found, others = said(*pieces, port=port)
    assert not others
    assert found.codes[:2] == ["other-protocol", "unknown-message"]
    assert found.codes.count("other-protocol") == 1
    assert len([item for item in found.items if item.frame.number < 4 + len(pieces)]) >= len(pieces)


def test_a_malformed_batch_before_others_on_any_port() -> None:
    good = framed(KEEP_ALIVE) * 2 + framed(PUT)
    found, _ = said((0, framed(b"\xff\xee")), (0, good), port=9000)
    assert [name or "-" for name in found.names] == ["-", "KEEP_ALIVE", "KEEP_ALIVE", "FRAME", "PUSH"]
    assert not found.skips


@pytest.mark.parametrize("port", [7447, 9000])
def test_an_empty_batch_comes_first(port: int) -> None:
    found, _ = said((0, bytes(2)), (0, framed(INIT) + framed(KEEP_ALIVE) * 2), port=port)
    assert found.names == ["INIT_SYN", "KEEP_ALIVE", "KEEP_ALIVE"]
    assert not found.skips


def test_lengths_that_dont_chain_to_the_end() -> None:
    pieces = [(0, framed(data)) for data in STRANGE]
    found, others = said(*pieces, (0, b"\xff\x00abc"), port=9000)
    assert not found.items
    assert others == {"not Zenoh": 1}


def test_few_batches_of_another_protocol() -> None:
    one = (0, framed(b"\xff\xee"))
    found, others = said(one)
    assert found.codes == ["other-protocol", "unknown-message"]
    assert not others
    found, others = said(one, port=9000)
    assert not found.items
    assert others == {"not Zenoh": 1}


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"SSH-2.0-OpenSSH_9.2p1\r\n", "SSH"),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP"),
        (bytes.fromhex("100f00044d5154540402003c000361626364"), "MQTT"),
        (bytes.fromhex("16030100c8010000c40303"), "TLS"),
    ],
)
def test_other_protocols_are_named(data: bytes, name: str) -> None:
    """Also on a port that the user names."""
    for port in (7447, 9000):
        conversation = Conversation(parties=Parties(ports=(40000, port))).raw(0, data).raw(1, b"whatever")
        found, others = dissected(conversation.capture, Options(tcp_ports=frozenset({9000})))
        assert not found.items
        assert others == {name: 1}


def test_other_streams_stay_what_they_are() -> None:
    """On other ports: text, lengths of two bytes in network order, lengths of four."""
    for data in (b"foo.bar:1|c\n" * 200, framed(b"abcd", ">H") * 50, framed(b"abcd", "<I") * 50, bytes(1000)):
        found, others = said((0, data), (1, data), port=9000)
        assert not found.items
        assert others == {"not Zenoh": 1}


WRONG = {
    "no": "no length in front: on streams each batch has one, of two bytes",
    ">H": "the length in front is big endian, of two bytes; before OPEN it has two bytes, little endian",
    "<I": "the length in front is of four bytes; before OPEN it has two bytes, little endian",
    ">I": "the length in front is big endian, of four bytes; before OPEN it has two bytes, little endian",
}


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("pieces", [1, 7])
def test_lengths_that_are_wrong(kind: str, pieces: int) -> None:
    """What is framed otherwise is read to its end and said once for each side, however it is cut."""

    def wrong(data: bytes) -> bytes:
        return data if kind == "no" else framed(data, kind)

    conversation = (
        Conversation().raw(0, wrong(INIT), pieces).raw(1, wrong(ACK)).raw(0, wrong(bytes.fromhex("420a000161")))
    )
    found = observed(conversation.raw(1, wrong(bytes.fromhex("620a00"))).raw(0, wrong(PUT)).raw(0, wrong(KEEP_ALIVE)))
    assert found.names == ["INIT_SYN", "INIT_ACK", "OPEN_SYN", "OPEN_ACK", "FRAME", "PUSH", "KEEP_ALIVE"]
    assert [finding.message for finding in found.findings if finding.rule.code == "length-prefix"] == [WRONG[kind]] * 2
    assert not found.skips


def test_a_side_alone_leaves_lengths_out() -> None:
    found, _ = said((0, INIT), (1, framed(CLOSE)))
    assert found.names == ["INIT_SYN", "CLOSE"]
    assert found.codes[:1] == ["length-prefix"]
    assert found.codes.count("length-prefix") == 1


def test_a_hole_where_lengths_are_left_out() -> None:
    conversation = Conversation().raw(0, INIT).lose(0, b"ab").raw(0, KEEP_ALIVE)
    found = observed(conversation)
    assert found.names == ["INIT_SYN", "KEEP_ALIVE"]
    assert [skip.size for skip in found.skips] == [2]


@pytest.mark.parametrize("zid", [b"\x01\xaa", b"\xb4\x01", b"\xa4\x01"], ids=bytes.hex)
def test_an_init_is_no_scouting_whatever_its_zid(zid: bytes) -> None:
    """The last two would be a SCOUT with an extension 4."""
    found, _ = said((0, framed(b"\x81\x09\x12" + zid + b"\x81\x27\x01")))
    assert [row["message"] for row in found.rows] == ["INIT_SYN"]
    assert "misplaced-message" not in found.codes


@pytest.mark.parametrize("data", [SCOUT, framed(SCOUT)])
def test_scouting_in_a_stream(data: bytes) -> None:
    found, _ = said((0, data))
    assert [row["layer"] for row in found.rows] == ["scouting"]
    assert found.codes == ["misplaced-message"]
