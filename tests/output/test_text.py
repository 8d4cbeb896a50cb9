"""Data of a capture never reaches the terminal as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zdissect.output.text import count, hexdump, opaque, payload, prose, quoted, readable, safe, unresolved


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a/b", "a/b"),
        ("é€\U0001f600", "é€\U0001f600"),
        ('say "no"', 'say \\"no\\"'),
        ("back\\slash", "back\\\\slash"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\r\n\tb", "a\\r\\n\\tb"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        (b"\xff\x00".decode(errors="surrogateescape"), "\\xff\\x00"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_safe(text: str, shown: str) -> None:
    assert safe(text) == shown
    assert quoted(text) == f'"{shown}"'


@given(st.text())
def test_nothing_unprintable_is_left(text: str) -> None:
    assert safe(text).isprintable()


@given(st.text())
def test_prose_keeps_quotes_and_backslashes(text: str) -> None:
    assert prose(text).isprintable()
    assert prose('say "no"\nback\\slash \x1b[m\r') == 'say "no"\\nback\\slash \\x1b[m\\r'


@given(st.binary(), st.sampled_from(["", "text/plain", "application/json", "application/cdr", "zenoh/bytes"]))
def test_nor_in_payloads(data: bytes, encoding: str) -> None:
    assert payload(data, encoding, 16).isprintable()


@pytest.mark.parametrize(
    ("data", "encoding", "shown"),
    [
        (b"", "text/plain", "0 bytes"),
        (b"text", "text/plain;utf-8", '4 bytes  "text"'),
        (b'{"a":1}', "application/json", '7 bytes  "{\\"a\\":1}"'),
        (b"a\nb", "text/plain", '3 bytes  "a\\nb"'),
        (b"a\nb", "", "3 bytes  61 0a 62"),
        (b"a", "zenoh/bytes", '1 byte  "a"'),
        (b"\x00\x01\xff", "zenoh/bytes", "3 bytes  00 01 ff"),
        (b"\xff\xfe", "text/plain", "2 bytes  ff fe"),
        (b"0123456789", "text/plain", '10 bytes  "01234567" ... (the first 8 bytes)'),
        (bytes(10), "", "10 bytes  00 00 00 00 00 00 00 00 ... (the first 8 bytes)"),
    ],
)
def test_payload(data: bytes, encoding: str, shown: str) -> None:
    assert payload(data, encoding, 8) == shown


def test_a_character_cut_at_the_limit_is_left_out() -> None:
    assert payload("aaaaaaa€".encode(), "text/plain", 8) == '10 bytes  "aaaaaaa" ... (the first 8 bytes)'


def _pieces() -> st.SearchStrategy[bytes]:
    """Bytes as they are in binary data, and in text and its neighbourhood."""
    return st.lists(st.binary(max_size=3) | st.sampled_from(["a", "ü", "€", "\U0001f600", "\x9b"]).map(str.encode)).map(
        b"".join
    )


@given(_pieces(), st.booleans())
def test_what_is_no_text_is_found_out_quickly_and_rightly(data: bytes, cut: bool) -> None:
    """Without looking for bytes that no text has."""
    try:
        text: str | None = data.decode()
    except UnicodeDecodeError as error:
        text = data[: error.start].decode() if cut and len(data) - error.start <= 3 else None
    assert readable(data, "text/plain", cut) == text
    assert readable(data, "", cut) == (text if text is not None and text.isprintable() else None)


def test_opaque_bytes_are_hex_even_if_they_look_like_text() -> None:
    assert opaque(b"abcdef", 4) == "6 bytes  61 62 63 64 ... (the first 4 bytes)"
    assert opaque(b"", 4) == "0 bytes"


def test_unresolved() -> None:
    assert unresolved({"key_scope": 9, "key_suffix": "/q"}) == "?9/q"
    assert unresolved({"key_scope": 29}) == "?29"
    assert unresolved({"key_scope": 0, "key_suffix": "a\x1b"}) == "a\\x1b"


def test_count() -> None:
    assert [count(number) for number in (0, 1, 2)] == ["0 bytes", "1 byte", "2 bytes"]


def test_hexdump() -> None:
    lines = hexdump(b"0123456789abcdef\x00~", "  ").splitlines()
    assert lines == [
        "  0000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  0123456789abcdef",
        "  0010  00 7e                                             .~",
    ]
