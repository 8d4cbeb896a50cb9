"""What a file is by its first bytes: a capture, or something else, so that the error can say what was found instead."""

from zdissect.capture import pcap, pcapng
from zdissect.capture.packings import PACKINGS

CAPTURES = frozenset((*pcap.MAGIC, pcapng.MAGIC))
"""First bytes of the capture formats that can be read."""
MAGIC_SIZE = 4
"""How many bytes these are."""

_MAGIC = (
    *((magic, f"{packing.name} data again: unpack them once more") for packing in PACKINGS for magic in packing.magics),
    (b"BZh", "bzip2 data: unpack them first, as in `bzip2 -dc FILE | zdissect -`"),
    (b"\x02\x21\x4c\x18", "LZ4 data of the old format: unpack them first, as in `lz4 -dc FILE | zdissect -`"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive: unpack it first"),
    (b"snoop\0\0\0", "a snoop capture: convert it with `editcap FILE OUT.pcapng`"),
    (b"btsnoop\0", "a Bluetooth snoop log, which carries no Zenoh"),
    (b"GMBU", "a Microsoft Network Monitor capture: convert it with `editcap FILE OUT.pcapng`"),
    (b"RTSS", "a Microsoft Network Monitor capture: convert it with `editcap FILE OUT.pcapng`"),
    (b"TRSNIFF data", "a Sniffer capture: convert it with `editcap FILE OUT.pcapng`"),
    (b"XCP\0", "a NetXray capture: convert it with `editcap FILE OUT.pcapng`"),
    (b"PAR1", "a Parquet file"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
)

_TEXT_CONTROLS = frozenset(b"\t\n\v\f\r\x1b")


def looks_like(head: bytes) -> str:
    """Say what a file that begins with `head` (some hundred bytes) is and what to do with it; "" if unknown."""
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if head[257:262] == b"ustar":
        return "a tar archive: unpack it first"
    if head and not any(head):
        return "nothing but zeros: the copy or the disk failed"
    if _is_text(head):
        return "text: for a hex dump there is `zdissect hex`"
    if _is_erf(head):
        return "an ERF capture: convert it with `editcap FILE OUT.pcapng`"
    return ""


def _is_text(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:  # not just a character cut at the end
            return False
    return bool(head) and all(byte >= 32 or byte in _TEXT_CONTROLS for byte in head)


def _is_erf(head: bytes) -> bool:
    """ERF has no magic: a first record with a plausible type, length and year (1990 to 2050) is taken for it."""
    if len(head) < 16:
        return False
    seconds = int.from_bytes(head[4:8], "little")
    length = int.from_bytes(head[10:12], "big")
    return 630_000_000 <= seconds < 2_530_000_000 and 1 <= head[8] & 0x7F <= 48 and length >= 16
