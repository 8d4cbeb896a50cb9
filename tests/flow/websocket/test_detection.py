"""WebSocket connections: which carry Zenoh, and what is said of the others."""

from pathlib import Path
from struct import pack
from typing import Any

import pytest

from tests.conversation import Conversation
from tests.export.tables import converted, rows, write_pcap
from tests.messages import push
from tests.observed import Observed, dissected
from tests.packets import Parties
from zdissect.pipeline import Options

ASKS = (
    b"GET / HTTP/1.1\r\nHost: 10.0.0.2\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
ANSWERS = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: ICX+Yqv66kxgM0FcWaLWlFLwTAI=\r\n\r\n"
)
TEXT, BINARY, CLOSE, PING = 1, 2, 8, 9
INIT = bytes.fromhex("410902080affff")
UPGRADED = "HTTP upgrade to WebSocket"
UNREAD = "WebSocket text message: not Zenoh, whose messages are binary"


def message(side: int, data: bytes, opcode: int) -> bytes:
    """A WebSocket frame; a client's are masked."""
    size = (
        bytes((len(data) | 0x80 * (1 - side),)) if len(data) < 126 else pack(">BH", 126 | 0x80 * (1 - side), len(data))
    )
    mask = b"\x11\x22\x33\x44"
    body = data if side else mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))
    return bytes((0x80 | opcode,)) + size + body


def said(
    *messages: tuple[int, bytes, int], port: int = 7447, options: Options | None = None
) -> tuple[Observed, Any, Conversation]:
    """A connection that becomes a WebSocket one, and its messages."""
    conversation = Conversation(parties=Parties(ports=(40000, port))).raw(0, ASKS).raw(1, ANSWERS)
    for side, data, opcode in messages:
        conversation.raw(side, message(side, data, opcode))
    found, others = dissected(conversation.hang_up().capture, options)
    return found, others, conversation


def reasons(found: Observed) -> list[str]:
    return [skip.reason for skip in found.skips]


@pytest.mark.parametrize("port", [7447, 9000])
def test_text_alone_where_zenoh_is_expected(port: int, tmp_path: Path) -> None:
    """Also where the user says so: HTTP isn't read as batches."""
    options = Options(tcp_ports=frozenset({port}))
    found, others, conversation = said((0, b"/**", TEXT), (1, b"", CLOSE), port=port, options=options)
    assert reasons(found) == [UPGRADED, UPGRADED, UNREAD, "WebSocket close"]
    assert found.codes == ["websocket"]
    assert not others
    assert not found.names
    (tmp_path / "in").mkdir()
    write_pcap(tmp_path / "in" / "one.pcap", conversation.capture.frames)
    if port == 7447:
        converted(tmp_path / "in", tmp_path / "out")
        assert [row["code"] for row in rows(tmp_path / "out", "findings")] == ["websocket"]
        assert not (tmp_path / "out" / "sessions").exists() or not rows(tmp_path / "out", "sessions")


def test_text_alone_elsewhere_is_counted() -> None:
    found, others, _ = said((0, b"/**", TEXT), (1, b"", CLOSE), port=9000)
    assert not found.items
    assert others == {"WebSocket": 1}


def test_text_before_zenoh() -> None:
    found, others, _ = said((0, b"hello", TEXT), (0, b"", PING), (0, INIT, BINARY))
    assert reasons(found) == [UPGRADED, UPGRADED, UNREAD, "WebSocket ping"]
    assert found.names == ["INIT_SYN"]
    assert not others


@pytest.mark.parametrize("port", [7447, 9000, 10000])
@pytest.mark.parametrize(
    "first",
    [
        (0, b'{"Control":"OpenSession"}', TEXT),
        (0, b'{"Control": {"Session": "2f0a"}}', TEXT),
        (1, b'{"Data":{"Sample":[{},"2f0a"]}}', TEXT),
        (0, bytes.fromhex("9900000000"), BINARY),
        (1, bytes.fromhex("810000000024") + b"0e9c0f4b-7f6d-4c52-a0c6-6b1a3f0e7d11", BINARY),
    ],
)
def test_the_remote_api_is_named(first: tuple[int, bytes, int], port: int) -> None:
    """It speaks a protocol of its own, by JSON or by binary messages."""
    found, others, _ = said(first, (0, b"\x0e\x03a/b\x01x", BINARY), port=port)
    assert not found.items
    assert others == {"WebSocket (remote API of zenoh-ts)": 1}


@pytest.mark.parametrize("kind", ["<H", ">H", "<I"])
@pytest.mark.parametrize("port", [7447, 9000])
def test_a_length_in_a_message(kind: str, port: int) -> None:
    found, _, _ = said((0, pack(kind, len(INIT)) + INIT, BINARY), (1, b"\x03\x02", BINARY), port=port)
    assert found.names == ["INIT_SYN", "CLOSE"]
    assert found.codes[0] == "length-prefix"
    assert "which datagrams and messages don't have" in found.findings[0].message


def test_binary_messages_that_fail() -> None:
    found, others, _ = said((0, b"\x1f\x1f", BINARY), (0, INIT, BINARY))
    assert [name or "-" for name in found.names] == ["-", "INIT_SYN"]
    assert found.codes[:1] == ["unknown-message"]
    found, others, _ = said((0, b"\x12\x34", BINARY), port=9000)
    assert not found.items
    assert others == {"not Zenoh": 1}


def test_a_session_has_nothing_to_say_of_what_is_around_it() -> None:
    """Neither of the upgrade nor of pings; what comes first is known, as on other streams."""
    conversation = Conversation(connect=False).open().frame(0, push("a/b"))
    batches = [(int(frame.data[34:36] != b"\x9c\x40"), frame.data[56:]) for frame in conversation.capture.frames]
    found, _, _ = said(*((side, data, BINARY) for side, data in batches), (0, b"", PING), (0, b"\x03\xe8", CLOSE))
    assert found.keys == ["a/b"]
    assert not found.codes
    found, _, _ = said((0, bytes.fromhex("420a000161"), BINARY))
    assert found.codes == ["handshake-order"]


def test_what_breaks_the_protocol_is_shown_where_zenoh_is_expected() -> None:
    conversation = Conversation().raw(0, ASKS).raw(1, ANSWERS).raw(0, message(1, INIT, BINARY))
    found, others = dissected(conversation.hang_up().capture)
    assert [skip.reason.partition(":")[0] for skip in found.skips] == [UPGRADED, UPGRADED, "WebSocket protocol error"]
    assert found.codes == ["websocket"]
    assert not others
