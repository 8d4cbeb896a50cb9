"""What a text that can't be read is answered with: the exact words, and the place that the caret shows."""

import pytest

from zdissect.paste import PasteError, parse_paste

NOTHING = "there is nothing to read; paste hex digits, a dump, an array or an escaped string"
ALONE = "stands alone; write two digits a byte (0{}), or put brackets around decimal numbers: [38, 0, 66]"
LARGEST = "`256` isn't a byte; the largest is 255 (0xff)"

ERRORS = [
    ("", 1, 1, NOTHING),
    (" \n\t", 1, 1, NOTHING),
    ("# 1d 00", 1, 1, "there are no hex digits in this text, only punctuation and comments"),
    ("1d 00\n1d 0g", 2, 5, "`g` isn't a hex digit; put `#` before remarks"),
    ("1d \x07", 1, 4, "the character U+0007 isn't a hex digit; put `#` before remarks"),
    ("1d 00 \u2026 61", 1, 7, "bytes were left out here (`\u2026`); paste all of them"),
    ("HQBhYmNk", 1, 1, "`H` isn't a hex digit; if this is base64, put `base64:` before it"),
    ("base64:HQB!", 1, 8, "this isn't base64; copy it whole, without quotes"),
    (
        "1d0061 1d0",
        1,
        10,
        "`1d0` has 3 hex digits, an odd number; a digit is missing, or one too many was copied",
    ),
    ("0x1d0", 1, 5, "`1d0` has 3 hex digits, an odd number; a digit is missing, or one too many was copied"),
    ("1d 0 61", 1, 4, "the hex digit `0` " + ALONE.format(0)),
    ("38, 6, 255", 1, 5, "the hex digit `6` " + ALONE.format(6)),
    (
        "1d 00 | 61 62",
        1,
        7,
        "what follows `|` may be hex or a remark; leave the `|` out if it is hex, write `#` if it is a remark",
    ),
    (
        " 00 00\n*\n 01",
        2,
        1,
        "`*` stands for repeated lines; dump again with offsets, or without `*` (od -v)",
    ),
    ("[38, 256, 0]", 1, 6, LARGEST),
    ("[38,\n 256]", 2, 2, LARGEST),
    ("[38, , 0]", 1, 5, "a number is missing between two commas of the array"),
    ("[0x1d, 0x1ff]", 1, 8, "`0x1ff` isn't a byte; the largest is 255 (0xff)"),
    ("[1, -129]", 1, 5, "`-129` isn't a byte; signed bytes go from -128 to 127"),
    (
        "[38, 0, 1 + COOKIE + 00]",
        1,
        9,
        "`1 + COOKIE + 00` isn't a number; an array holds bytes such as 29 or 0x1d",
    ),
    ("[38, 1de]", 1, 6, "`1de` isn't a number of base 10; write hex as 0x1d"),
    (r'"\x1d\q"', 1, 6, r"`\q` isn't an escape of a byte; write \x and two digits"),
    (r'"\x1d\777"', 1, 6, r"`\777` isn't a byte; the largest octal escape is \377"),
    ("\\x1d\ud800", 1, 5, "this character (half of a surrogate pair) has no bytes; write it with \\x escapes"),
    (
        "00000000: 1d00 6162\n00000010: 1d00",
        1,
        20,
        "this line of the dump holds 4 bytes, but by the offset of the next line (00000010) it has 16; "
        "copy the dump again, with whole lines",
    ),
    (
        "0000  1d\n0010  61\n0011",
        1,
        9,
        "this line of the dump holds 1 byte, but by the offset of the next line (0010) it has 16; "
        "copy the dump again, with whole lines",
    ),
    (
        "\t0x0000:  1d00 6162  ..ab\n\t0x0004:  zz",
        2,
        11,
        "this line of the dump has an offset but no hex bytes after it",
    ),
    ("0000  1d 00\n*", 1, 1, "the offset after `*`, which says how often the line is repeated, is missing"),
    (
        "00000000  1d  |.|\n*\n7fffffff",
        1,
        1,
        "`*` can't repeat this line (1 byte) to fill 2147483647 bytes",
    ),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), ERRORS)
def test_error(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(PasteError) as caught:
        parse_paste(text)
    error = caught.value
    assert str(error) == f"line {line}, column {column}: {message}"
    assert (error.line, error.column) == (line, column)


def test_excerpt_shows_the_line_and_a_caret() -> None:
    with pytest.raises(PasteError) as caught:
        parse_paste("1d\n\t1d 0g 00\n")
    assert caught.value.line_text == "\t1d 0g 00"
    assert caught.value.excerpt() == "\t1d 0g 00\n\t    ^"


def test_excerpt_of_a_long_line_shows_the_surroundings() -> None:
    with pytest.raises(PasteError) as caught:
        parse_paste("00" * 500 + "zz" + "11" * 500)
    shown, caret = caught.value.excerpt().split("\n")
    assert shown[len(caret) - 1] == "z"
    assert len(shown) == 100
