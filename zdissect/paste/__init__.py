r"""Bytes from text that a person pasted: hex in any form, dumps of the usual tools, arrays, escaped strings.

    >>> parse_paste("1d 00 61")
    [Piece(data=b'\x1d\x00a', form='plain hex', where='line 1')]

Pure: text in, bytes out, and never another exception than `PasteError`. The forms are tried in this order:

1. **tshark's output** (`tshark`): the payloads in JSON, PDML or columns, each a piece.
2. **Dumps with offsets** (`dump`): xxd, hexdump, od, tcpdump -X, Wireshark. The number of bytes on a line is the next
   line's offset less its own, so an ASCII column is never taken for hex. Where offsets start again, a new piece begins.
   Whole packets (tcpdump, Wireshark) come with their IP and Ethernet headers, as they stand in the dump.
3. **Escaped strings** (`literal`): `b"\x1d\x00abc\n"`, C, Rust and Wireshark literals, bare `\x1d\x00`, `%1d%00`.
4. **Arrays** (`array`): `[38, 0, 66]`, `{0x1d, 0x00}`, with any declaration or log text around. Every array is a piece.
5. `base64:` in front of base64.
6. **Plain hex** (`digits`): digits in pairs, whatever stands between them; several lines are one piece.
7. **Logs** (`logs`): lines that end with bytes in hex, with a time, a level, a name, an address before them.

Decimal or hex? Without brackets always hex. In brackets `0x1d` and `1dh` are hex. If an item without such a mark has a
letter a to f, all items are hex (Rust's `{:02x?}`). Otherwise items between commas are decimal, even `00`:
`[38, 00, 66]` is 26 00 42, and so is the only item of an array. Without commas (Go, numpy) items are decimal if one of
them has one or three digits, and hex otherwise. Negative items are signed bytes (Java).
"""

from .array import read_arrays
from .digits import read_base64, read_plain
from .dump import read_dumps
from .literal import read_literals
from .logs import read_logs
from .pasted import PastedText, PasteError, Piece
from .tshark import read_tshark

__all__ = ["PasteError", "Piece", "parse_paste"]


def parse_paste(text: str) -> list[Piece]:
    """Read the bytes out of a text; at least one piece, none of them empty.

    Raises `PasteError` if there are none, or if something in the text can't be read.
    """
    pasted = PastedText(text)
    if not pasted.text.strip():
        raise pasted.error_at_text("there is nothing to read; paste hex digits, a dump, an array or an escaped string")
    for read in (read_tshark, read_dumps, read_literals, read_arrays, read_base64):
        pieces = read(pasted)
        if pieces:
            return pieces
    try:
        return read_plain(pasted)
    except PasteError:
        if pieces := read_logs(pasted):
            return pieces
        raise
