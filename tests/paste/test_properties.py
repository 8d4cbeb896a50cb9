"""Any bytes, printed in any form, come back; any text at all gives pieces or a `PasteError`; time is linear."""

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zdissect.paste import PasteError, parse_paste

# Bytes whose ASCII column may look like hex, spaces, bars and offsets.
LOOKALIKE = st.binary(min_size=1, max_size=70) | st.lists(
    st.sampled_from(list(b"0123456789abcdefABCDEF |><:x*.")), min_size=1, max_size=70
).map(bytes)


def ascii_column(row: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)


def rows(data: bytes, width: int = 16) -> list[tuple[int, bytes]]:
    return [(at, data[at : at + width]) for at in range(0, len(data), width)]


def xxd(data: bytes, group: int = 2) -> str:
    area = 32 + 16 // group
    return "\n".join(f"{at:08x}: {row.hex(' ', -group):<{area}} {ascii_column(row)}" for at, row in rows(data))


def hexdump_c(data: bytes) -> str:
    lines, before = [], b""
    for at, row in rows(data):
        if row == before and len(row) == 16:
            lines += ["*"] if lines[-1] != "*" else []
            continue
        area = f"{row[:8].hex(' '):<23}  {row[8:].hex(' '):<23}"
        lines.append(f"{at:08x}  {area}  |{ascii_column(row)}|")
        before = row
    return "\n".join([*lines, f"{len(data):08x}"])


def hexdump(data: bytes) -> str:
    lines = []
    for at, row in rows(data):
        padded = row + bytes(len(row) % 2)
        words = [padded[i : i + 2][::-1].hex() for i in range(0, len(padded), 2)]
        lines.append(f"{at:07x} {' '.join(words):<39}")
    return "\n".join([*lines, f"{len(data):07x}"])


def od(data: bytes) -> str:
    return "\n".join([*(f"{at:07o} {row.hex(' ')}" for at, row in rows(data)), f"{len(data):07o}"])


def od_z(data: bytes) -> str:
    return "\n".join(
        [*(f"{at:06x} {row.hex(' '):<47}  >{ascii_column(row)}<" for at, row in rows(data)), f"{len(data):06x}"]
    )


def tcpdump(data: bytes) -> str:
    lines = [f"\t0x{at:04x}:  {row.hex(' ', -2):<39}  {ascii_column(row)}" for at, row in rows(data)]
    return "\n".join(["12:00:00.000001 IP6 ::1.7447 > ::1.40000: Flags [P.], length 9", *lines])


def wireshark(data: bytes) -> str:
    return "\n".join(f"{at:04x}   {row.hex(' '):<47}   {ascii_column(row)}" for at, row in rows(data))


def java(data: bytes) -> str:
    return str([byte - 256 if byte > 127 else byte for byte in data])


FORMS: dict[str, Callable[[bytes], str]] = {
    "plain": bytes.hex,
    "upper": lambda data: data.hex(":").upper(),
    "0x": lambda data: " ".join(f"0x{byte:02x}" for byte in data),
    "wrapped": lambda data: "\n".join(re.findall(r".{1,7}", data.hex())),
    "xxd": xxd,
    "xxd -g1": lambda data: xxd(data, 1),
    "hexdump -C": hexdump_c,
    "hexdump": hexdump,
    "od": od,
    "od z": od_z,
    "tcpdump": tcpdump,
    "wireshark": wireshark,
    "escapes": lambda data: '"' + "".join(f"\\x{byte:02x}" for byte in data) + '"',
    "rust": lambda data: str(list(data)),
    "rust, pretty": lambda data: "[\n" + "".join(f"    {byte},\n" for byte in data) + "]",
    "c": lambda data: "uint8_t b[] = {" + ", ".join(f"0x{byte:02x}" for byte in data) + "};",
    "java": java,
}


@pytest.mark.parametrize("form", FORMS)
@given(LOOKALIKE)
@example(b"ab cd 12" * 4)
@example(bytes(80))
@example(b"0000: 12 34 56 78")
def test_rendered_bytes_come_back(form: str, data: bytes) -> None:
    assert [piece.data for piece in parse_paste(FORMS[form](data))] == [data]


@given(LOOKALIKE.filter(lambda data: re.search(rb"[^0-9a-fA-F\s:,;._-]", data) is not None))
def test_python_literal_comes_back(data: bytes) -> None:
    assert [piece.data for piece in parse_paste(repr(data))] == [data]


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=4))
def test_dumps_one_after_the_other_are_pieces(parts: list[bytes]) -> None:
    for render in (xxd, tcpdump, wireshark):
        assert [piece.data for piece in parse_paste("\n\n".join(map(render, parts)))] == parts


PIECES = st.sampled_from(
    [
        *(
            "0000",
            "0010",
            "00000000",
            ": ",
            "  ",
            " ",
            "\t",
            "\n",
            "*",
            "1d",
            "61 ",
            "0x",
            "[",
            "]",
            "{",
            "}",
            "(",
            ")",
        ),
        *(",", "-", "\\", "\\x1d", '"', "'", "b'", "|", ">", "<", "#", "//", "/*", "*/", "h", "u8", "0b", "%1d"),
        *("base64:", "=", "5", "256", "a", "\ud800", "\u0661", "\x1f", "\r", "x:", "\\u{", "}"),
    ]
)


@given(st.text(max_size=60) | st.lists(PIECES, max_size=30).map("".join))
def test_any_text_gives_pieces_or_a_paste_error(text: str) -> None:
    try:
        pieces = parse_paste(text)
    except PasteError as error:
        shown, caret = error.excerpt().split("\n")
        pieces, fits = [], len(caret) <= len(shown) + 1
    else:
        fits = bool(pieces)
    assert fits
    assert all(piece.data for piece in pieces)


SIZE = 400_000
HOSTILE = {
    "plain hex": "1d" * SIZE,
    "spaced hex": "1d " * SIZE,
    "spaces": "0000: 61" + " " * SIZE + "x",
    "unclosed comments": "1d /*" * (SIZE // 5) + "[1, 2]",
    "unclosed quotes": "'\\'" * (SIZE // 3),
    "open brackets": "[" * SIZE,
    "small arrays": "[1][2, 3]" * (SIZE // 9),
    "bars": "1d|" * (SIZE // 3),
    "letters": "aaaaaaaa" + " " * SIZE + "!",
    "label": "x" * SIZE,
    "escapes": "\\x1d a" * (SIZE // 6),
    "short dumps": "0000  61\n" * (SIZE // 9),
    "long line of a dump": "0000: " + "61 " * (SIZE // 3) + "\n",
    "one array": str([29] * (SIZE // 4)),
    "array with an error at its end": str([29] * (SIZE // 4))[:-1] + ", zz]",
    "huge number": "[1, " + "9" * SIZE + "]",
    "a log line of bytes": "[00:00:01] rx: " + "1d " * (SIZE // 3) + "zz",
    "a log line of words": "[00:00:01] rx: " + "1d1d1d1d1d1d z " * (SIZE // 15),
    "a log with a wide column": "rx: 1d 00 61 |" + " " * SIZE + "z",
    "log lines": "[00:00:01] rx: 1d 00 61\n" * (SIZE // 24),
    "open JSON": '"tcp.payload":[' * (SIZE // 15),
    "open tags": '<field name="tcp.payload" ' * (SIZE // 26),
    "columns": "z\t" * (SIZE // 2) + "1d",
    "xxd": xxd(bytes(SIZE // 4)),
    "hexdump": hexdump(bytes(SIZE // 4)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear(name: str) -> None:
    start = time.process_time()
    try:
        parse_paste(HOSTILE[name])
    except PasteError as error:
        error.excerpt()
    assert time.process_time() - start < 3  # a quadratic step takes minutes
