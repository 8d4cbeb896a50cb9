"""Every form of pasted bytes: the text as the tools print it, the bytes, and how the form is named."""

import pytest

from zdissect.paste import Piece, parse_paste

# 24 bytes whose printable part looks like hex: `ab cd 12 34`.
DATA = "1d 00 61 62 61 62 20 63 64 20 31 32 20 33 34 fa fb fc fd fe ff 78 79 7a"

DUMPS = {
    "xxd": (
        "xxd dump",
        "00000000: 1d00 6162 6162 2063 6420 3132 2033 34fa  ..abab cd 12 34.\n"
        "00000010: fbfc fdfe ff78 797a                      .....xyz\n",
    ),
    "xxd -u": (
        "xxd dump",
        "00000000: 1D00 6162 6162 2063 6420 3132 2033 34FA  ..abab cd 12 34.\n"
        "00000010: FBFC FDFE FF78 797A                      .....xyz\n",
    ),
    "xxd -g1 -c8": (
        "xxd dump",
        "00000000: 1d 00 61 62 61 62 20 63  ..abab c\n"
        "00000008: 64 20 31 32 20 33 34 fa  d 12 34.\n"
        "00000010: fb fc fd fe ff 78 79 7a  .....xyz\n",
    ),
    "xxd -e": (
        "xxd dump, little-endian words of 4 bytes",
        "00000000: 6261001d 63206261 32312064 fa343320  ..abab cd 12 34.\n"
        "00000010: fefdfcfb 7a7978ff                    .....xyz\n",
    ),
    "xxd without its spaces": (
        "xxd dump",
        "00000000: 1d00 6162 6162 2063 6420 3132 2033 34fa ..abab cd 12 34.\n00000010: fbfc fdfe ff78 797a .....xyz\n",
    ),
    "xxd -p": ("plain hex", "1d0061626162206364203132203334fafbfcfdfeff78797a\n"),
    "xxd -i": (
        "array, hex",
        "unsigned char t_bin[] = {\n"
        "  0x1d, 0x00, 0x61, 0x62, 0x61, 0x62, 0x20, 0x63, 0x64, 0x20, 0x31, 0x32,\n"
        "  0x20, 0x33, 0x34, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff, 0x78, 0x79, 0x7a\n"
        "};\nunsigned int t_bin_len = 24;\n",
    ),
    "hexdump -C": (
        "hexdump -C dump",
        "00000000  1d 00 61 62 61 62 20 63  64 20 31 32 20 33 34 fa  |..abab cd 12 34.|\n"
        "00000010  fb fc fd fe ff 78 79 7a                           |.....xyz|\n"
        "00000018\n",
    ),
    "hexdump": (
        "hexdump or od dump, little-endian words of 2 bytes",
        "0000000 001d 6261 6261 6320 2064 3231 3320 fa34\n0000010 fcfb fefd 78ff 7a79                    \n0000018\n",
    ),
    "hexdump -x": (
        "hexdump or od dump, little-endian words of 2 bytes",
        "0000000    001d    6261    6261    6320    2064    3231    3320    fa34\n"
        "0000010    fcfb    fefd    78ff    7a79                                \n"
        "0000018\n",
    ),
    "od -A x -t x1": (
        "od dump",
        "000000 1d 00 61 62 61 62 20 63 64 20 31 32 20 33 34 fa\n000010 fb fc fd fe ff 78 79 7a\n000018\n",
    ),
    "od -t x1": (
        "od dump",
        "0000000 1d 00 61 62 61 62 20 63 64 20 31 32 20 33 34 fa\n0000020 fb fc fd fe ff 78 79 7a\n0000030\n",
    ),
    "od -A d -t x1z": (
        "od dump",
        "0000000 1d 00 61 62 61 62 20 63 64 20 31 32 20 33 34 fa  >..abab cd 12 34.<\n"
        "0000016 fb fc fd fe ff 78 79 7a                          >.....xyz<\n"
        "0000024\n",
    ),
    "od -t x4": (
        "hexdump or od dump, little-endian words of 4 bytes",
        "0000000 6261001d 63206261 32312064 fa343320\n0000020 fefdfcfb 7a7978ff\n0000030\n",
    ),
    "od -A n -t x1": (
        "plain hex",
        " 1d 00 61 62 61 62 20 63 64 20 31 32 20 33 34 fa\n fb fc fd fe ff 78 79 7a\n",
    ),
    "tcpdump -X": (
        "tcpdump -X dump",
        "21:45:25.010036 IP localhost.7447 > localhost.57592: Flags [S.], seq 2005181561, length 0\n"
        "\t0x0000:  1d00 6162 6162 2063 6420 3132 2033 34fa  ..abab.cd.12.34.\n"
        "\t0x0010:  fbfc fdfe ff78 797a                      .....xyz\n",
    ),
    "tcpdump -xx": (
        "tcpdump -X dump",
        "\t0x0000:  1d00 6162 6162 2063 6420 3132 2033 34fa\n\t0x0010:  fbfc fdfe ff78 797a\n",
    ),
    "Wireshark, copy as hex dump": (
        "Wireshark dump",
        "0000   1d 00 61 62 61 62 20 63 64 20 31 32 20 33 34 fa   ..abab cd 12 34.\n"
        "0010   fb fc fd fe ff 78 79 7a                           .....xyz\n",
    ),
    "tshark -V -x": (
        "Wireshark dump",
        "Frame 1: 24 bytes on wire\n    0100 .... = Version: 4\n    0000 00.. = Differentiated Services: 0\n\n"
        "0000  1d 00 61 62 61 62 20 63 64 20 31 32 20 33 34 fa   ..abab cd 12 34.\n"
        "0010  fb fc fd fe ff 78 79 7a                           .....xyz\n",
    ),
    "Wireshark, copy as escaped string": (
        "escaped string",
        '"\\x1d\\x00\\x61\\x62\\x61\\x62\\x20\\x63\\x64\\x20\\x31\\x32\\x20\\x33\\x34\\xfa" \\\n'
        '"\\xfb\\xfc\\xfd\\xfe\\xff\\x78\\x79\\x7a"\n',
    ),
    "gdb x/24xb": (
        "gdb dump",
        "0x7ffe3a0:\t0x1d\t0x00\t0x61\t0x62\t0x61\t0x62\t0x20\t0x63\n"
        "0x7ffe3a8:\t0x64\t0x20\t0x31\t0x32\t0x20\t0x33\t0x34\t0xfa\n"
        "0x7ffe3b0:\t0xfb\t0xfc\t0xfd\t0xfe\t0xff\t0x78\t0x79\t0x7a\n",
    ),
}

SHORT = [
    ("1d 00 61", "1d 00 61", "plain hex"),
    ("1D0061", "1d 00 61", "plain hex"),
    ("0x1d0061", "1d 00 61", "plain hex"),
    ("0x1d, 0x0, 0x61", "1d 00 61", "plain hex"),
    ("1d:00:61", "1d 00 61", "plain hex"),
    ("1d00.6100", "1d 00 61 00", "plain hex"),
    ("1d-00;61_62", "1d 00 61 62", "plain hex"),
    ("1Dh 00h 61H", "1d 00 61", "plain hex"),
    ("38 00 66", "38 00 66", "plain hex"),
    ("1d\t00\r\n\r\n61\r\n", "1d 00 61", "plain hex"),
    ("1d0\n061", "1d 00 61", "plain hex"),
    ("\ufeff\u201c1d\u00a000\u201d", "1d 00", "plain hex"),
    ("25 b1 | FRAME\n1d 00 # PUSH\n61 // the rest", "25 b1 1d 00 61", "plain hex"),
    ("61 62 | ab", "61 62", "plain hex"),
    ("payload: 1d 00\ncookie=61", "1d 00 61", "plain hex"),
    ("```hex\n1d 00 61\n```", "1d 00 61", "plain hex"),
    ("<Buffer 1d 00 61>", "1d 00 61", "plain hex"),
    ("[29 10 97]", "29 10 97", "plain hex"),
    ("\\x1d \\x00, \\x61", "1d 00 61", "plain hex"),
    ("b'1d0061'", "1d 00 61", "plain hex"),
    ('bytes.fromhex("1d 00 61")', "1d 00 61", "plain hex"),
    ('let b = hex!("1d00" "61");', "1d 00 61", "plain hex"),
    ("\\x1d\\x00abc", "1d 00 61 62 63", "escaped string"),
    (r'b"\x1d\x00abc\n"', "1d 00 61 62 63 0a", "escaped string"),
    (r"b'\x1d\'\"[1, 2]'", "1d 27 22 5b 31 2c 20 32 5d", "escaped string"),
    (r'"\35\0\u{1d}\u001d\\"', "1d 00 1d 1d 5c", "escaped string"),
    ('"\\x1d\\\n\\x00"', "1d 00", "escaped string"),
    (r'send(b"\x1d" "é");', "1d c3 a9", "escaped string"),
    ("%1d%00abc", "1d 00 61 62 63", "percent-encoded string"),
    ("base64:HQBh", "1d 00 61", "base64"),
    ("[38, 0, 66]", "26 00 42", "array, decimal"),
    ("[38, 00, 66]", "26 00 42", "array, decimal"),
    ("vec![\n    38,\n    0,\n]", "26 00", "array, decimal"),
    ("[0x1du8, 7u8, 9_u8]", "1d 07 09", "array, hex"),
    ("[1d, 00, 26]", "1d 00 26", "array, hex"),
    ("[-1, 38, -128]", "ff 26 80", "array, decimal"),
    ("[29 0 97]", "1d 00 61", "array, decimal"),
    ("(38, 0, 66)", "26 00 42", "array, decimal"),
    ("[5]", "05", "array, decimal"),
    ("[29]", "1d", "array, decimal"),
    ("uint8_t b[1] = {0x1d};", "1d", "array, hex"),
    ("const uint8_t buf[2] = {0x1d, 0X00};", "1d 00", "array, hex"),
    ("/* [1, 2] */ {\n0x1d, /* ., */\n0x00 // [\n}", "1d 00", "array, hex"),
    ("new byte[] {(byte)0xff, 1Dh, 0b101}", "ff 1d 05", "array, hex"),
    ('{ "type": "Buffer", "data": [29, 0] }', "1d 00", "array, decimal"),
    ("[2024-05-01T10:00:00Z DEBUG zenoh] recv [38, 0, 66]", "26 00 42", "array, decimal"),
    ("0000   1d 00", "1d 00", "Wireshark dump"),
    ("0000: 1d 00 61  1d.a", "1d 00 61", "hex dump"),
    ("00000000  00 00  |..|\n*\n00000005  61  |a|", "00 00 00 00 00 61", "hexdump -C dump"),
]


@pytest.mark.parametrize("tool", DUMPS)
def test_dump_of_tool(tool: str) -> None:
    form, text = DUMPS[tool]
    (piece,) = parse_paste(text)
    assert (piece.data.hex(" "), piece.form) == (DATA, form)


@pytest.mark.parametrize(("text", "data", "form"), SHORT)
def test_short_form(text: str, data: str, form: str) -> None:
    (piece,) = parse_paste(text)
    assert (piece.data.hex(" "), piece.form) == (data, form)


def test_pieces_name_their_lines() -> None:
    assert parse_paste("a\n\n[1, 2]\nb [3,\n4]") == [
        Piece(b"\x01\x02", "array, decimal", "line 3"),
        Piece(b"\x03\x04", "array, decimal", "lines 4 to 5"),
    ]


def test_offsets_that_start_again_begin_a_new_piece() -> None:
    text = "first\n0000  1d 00   ..\n0002  61   a\n\nsecond\n0000  25   %\n\n0000  26   &\n"
    assert [piece.data for piece in parse_paste(text)] == [b"\x1d\0a", b"%", b"&"]


def test_strings_apart_are_pieces_and_strings_side_by_side_are_one() -> None:
    assert [piece.data for piece in parse_paste('a = b"\\x1d" b"\\x00"\nb = b"\\x61"')] == [b"\x1d\0", b"a"]
