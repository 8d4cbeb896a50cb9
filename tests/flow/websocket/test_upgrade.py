"""The HTTP upgrade to WebSocket: which heads are one, and what is said of the others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.flow.websocket.streams import HEADS, REQUEST, RESPONSE, chunks, run, split
from zdissect.flow.upgrade import MOST_HEAD, is_upgrade

REFUSED = [
    ("HTTP/1.1 400 Bad\r\n\r\nno", "HTTP, but no upgrade"),
    ("GET / HTTP/1.1\r\nHost: b\r\n\r\n", "HTTP, but no upgrade"),
    ("GET / HTTP/1.1\r\nHost: b\r\n", "the stream ends within an HTTP head"),
    ("GET /" + "a" * MOST_HEAD, "an HTTP head of more than"), ("\x16\x03\x01\x02", "the upgrade to WebSocket isn't in"),
]  # fmt: skip


@pytest.mark.parametrize(("head", "reason"), REFUSED)
@pytest.mark.parametrize("sizes", [[], [1] * 40, [1460] * 60])
def test_no_upgrade(head: str, reason: str, sizes: list[int]) -> None:
    found = run(chunks(head.encode("latin-1"), sizes))
    ((offset, size, why),) = split(found)[1]
    assert (offset, size) == (0, len(head))
    assert why.startswith(reason)


def test_an_extension_is_told_of() -> None:
    head = RESPONSE[:-2] + b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
    assert split(run(chunks(head, [], 1)))[1][0][2].endswith("aren't read: permessage-deflate")


def test_is_upgrade() -> None:
    for head in HEADS:
        assert is_upgrade(head + b"more")
        assert [is_upgrade(head[:n]) for n in range(len(head))] == [None] * len(head)
    assert is_upgrade(b"POST / HTTP/1.1\r\n") is False
    assert is_upgrade(RESPONSE.replace(b"101", b"404")) is False
    assert is_upgrade(REQUEST.replace(b"WebSocket\r", b"h2c\r")) is False
    assert is_upgrade(REQUEST.replace(b"WebSocket\r", b"h2c, websocket\r")) is True
    assert is_upgrade(b"GET /" + b"a" * MOST_HEAD) is False
    assert is_upgrade(REQUEST.replace(b"Host: a\r\n", b"")) is True
    assert is_upgrade(REQUEST.replace(b"Host: a", b"Host; a")) is True  # what else is damaged doesn't matter
    assert is_upgrade(REQUEST.replace(b": WebSocket", b": h2c\r\nupgrade: websocket")) is True


@given(st.sampled_from(HEADS), st.integers(0, 130), st.integers(0, 9), st.binary(max_size=9))
def test_any_bytes_are_an_upgrade_or_none(head: bytes, at: int, size: int, change: bytes) -> None:
    assert is_upgrade(head[:at] + change + head[at + size :]) in (True, False, None)
