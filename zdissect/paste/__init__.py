r"""Bytes from text that a person pasted: hex in any form, dumps of the usual tools, arrays, escaped strings.

    >>> parse_paste("1d 00 61")
    [Piece(data=b'\x1d\x00a', form='plain hex', where='line 1')]

Pure: text in, bytes out, and no exception but `PasteError`. The forms are tried in this order:

1. **tshark** (`tshark`): payloads in JSON, PDML or columns, each a piece; Wireshark's YAML (`binary_yaml`).
2. **Erlang** (`erlang`): `<<61,0,3,"k/a">>`, each binary a piece.
3. **Our own tree** (`own_tree`), or a part of it. Bytes that a line leaves out come from its value, or are asked for.
4. **od in octal** (`octal`): bytes, words and characters, if the offsets fit.
5. **Dumps with offsets** (`dump`): xxd, hexdump, od, tcpdump -X, Wireshark. The number of bytes on a line is the next
   line's offset less its own, so an ASCII column is never taken for hex. Where offsets start again, a new piece begins.
   Whole packets (tcpdump, Wireshark) come with their IP and Ethernet headers, as they stand in the dump.
6. **Escaped strings** (`literal`): `b"\x1d\x00abc\n"`, C, Rust and Wireshark literals, bare `\x1d\x00`, `%1d%00`.
7. **Arrays** (`array`): `[38, 0, 66]`, `{0x1d, 0x00}`, with any declaration or log text around. Every array is a piece.
8. Base64 after the mark `base64:`.
9. **Plain hex** (`digits`): digits in pairs, whatever stands between them; several lines are one piece.
10. **Logs** (`logs`): lines that end with bytes in hex, with a time, a level, a name, an address before them.
11. Base64 without a mark, where it can't be anything else.

Decimal or hex? Without brackets always hex. In brackets `0x1d` and `1dh` are hex. If an item without such a mark has a
letter a to f, all items are hex (Rust's `{:02x?}`). Otherwise items between commas are decimal, even `00`:
`[38, 00, 66]` is 26 00 42, and so is the only item of an array. Without commas (Go, numpy) items are decimal if one of
them has one or three digits, and hex otherwise. Negative items are signed bytes (Java).
"""

from .array import read_arrays
from .binary_yaml import read_yaml
from .digits import read_base64, read_plain, read_unmarked_base64
from .dump import read_dumps
from .erlang import read_binaries
from .literal import read_literals
from .logs import read_logs
from .octal import read_octal
from .own_tree import read_tree
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
    for read in _READERS:
        pieces = read(pasted)
        if pieces:
            return pieces
    try:
        return read_plain(pasted)
    except PasteError:
        if pieces := read_logs(pasted) or read_unmarked_base64(pasted):
            return pieces
        raise


_READERS = (
    read_tshark, read_yaml, read_binaries, read_tree, read_octal, read_dumps, read_literals, read_arrays, read_base64,
)  # fmt: skip
