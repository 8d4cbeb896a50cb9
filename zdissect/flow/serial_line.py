"""Serial lines (notes 3.6): frames between zero bytes, COBS removed, the CRC verified.

Frames come in two forms: new ones begin with a byte that tells their kind, older ones with the length. Only the length
and the CRC tell which it is. Frames pasted from a log often come without COBS.
"""

from binascii import crc32
from functools import cache
from typing import NamedTuple

from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Tape
from zdissect.grammar.field import UNDECODED
from zdissect.grammar.serial import CRC_POLYNOMIAL, DELIMITER, SERIAL_FRAME

_LENGTH, _CRC = 2, 4
_CRC_FIELD = "zenoh.serial.crc"


class SerialFrame(NamedTuple):
    """One frame."""

    tape: Tape
    """Over its bytes without COBS, or over the input if it wasn't encoded."""
    start: int
    """Where it is in the input, without its delimiter."""
    stop: int
    cobs: bool
    """Whether it was COBS-encoded."""
    kind: bool
    """Whether it begins with the byte of its kind (new framing)."""
    fits: bool
    """Whether its length is the number of bytes present."""
    proven: bool
    """Whether its length and its CRC are right."""


@cache
def _table() -> tuple[int, ...]:
    """The CRC of every byte."""
    out = []
    for entry in range(256):
        value = entry
        for _ in range(8):
            value = value >> 1 ^ CRC_POLYNOMIAL if value & 1 else value >> 1
        out.append(value)
    return tuple(out)


def crc(data: bytes) -> int:
    """Zenoh's serial CRC: the polynomial of CRC-32 used as if it were reflected, so it equals no other CRC-32."""
    table, value = _table(), 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ table[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFF


def frames(data: bytes) -> list[SerialFrame]:
    """The frames in bytes of a serial line, as far as they can be told apart; any bytes yield at least one.

    Frames without COBS are recognised only if length and CRC of all of them are right.
    """
    return _bare(data) or _encoded(data)


def looks_serial(data: bytes) -> bool:
    """Whether bytes may be frames of a serial line: a quick check."""
    return data[-1:] == DELIMITER or any(_fits(data, kind) for kind in (0, 1)) or bool(_bare(data))


def _bare(data: bytes) -> list[SerialFrame]:
    """Frames back to back without COBS; none unless they are proven."""
    out: list[SerialFrame] = []
    pos = 0
    while pos < len(data):
        sizes = ((kind, kind + _LENGTH + _CRC + _size(data, pos + kind)) for kind in (1, 0))
        best = next((pos + size for kind, size in sizes if _proven(data[pos : pos + size], kind)), 0)
        if not best:
            return []
        out.append(_frame(data, pos, best, pos, best, cobs=False))
        pos = best
    return out


def _encoded(data: bytes) -> list[SerialFrame]:
    """Frames with COBS, one up to each delimiter. One that isn't COBS is read as it stands if its length is right."""
    from cobs import cobs  # type: ignore[import-untyped]  # only here: few inputs are serial

    out: list[SerialFrame] = []
    pos = 0
    for part in data.split(DELIMITER):
        stop = pos + len(part)
        if part:
            try:
                plain = cobs.decode(part)
                out.append(_frame(plain, 0, len(plain), pos, stop, cobs=True))
            except cobs.DecodeError:
                out.append(_damaged(part, pos, stop))
        pos = stop + 1
    if any(_fits(data, kind) for kind in (0, 1)) and not all(frame.fits for frame in out):
        out = []
    return out or [_frame(data, 0, len(data), 0, len(data), cobs=False)]


def _size(data: bytes, at: int) -> int:
    """The length that a frame claims."""
    return int.from_bytes(data[at : at + _LENGTH], "little")


def _fits(data: bytes, kind: int) -> bool:
    """Whether the length is the number of bytes present."""
    return len(data) == kind + _LENGTH + _CRC + _size(data, kind)


def _proven(data: bytes, kind: int) -> bool:
    """Whether length and CRC are right."""
    return _fits(data, kind) and crc(data[kind + _LENGTH : -_CRC]) == int.from_bytes(data[-_CRC:], "little")


def _frame(data: bytes, begin: int, end: int, start: int, stop: int, cobs: bool) -> SerialFrame:
    """The frame in bytes begin..end, in the form that fits best; new framing where none does."""
    frame = data[begin:end]
    kind = next((kind for test in (_proven, _fits) for kind in (1, 0) if test(frame, kind)), 1)
    tape = interpret(SERIAL_FRAME, data, begin, end, kind=kind)
    for field, _, at, field_stop, value in list(tape.spans):
        content = data[begin + kind + _LENGTH : at]
        if field.path == _CRC_FIELD and value != crc(content):
            usual = "; it is the usual CRC-32" if value == crc32(content) else ""
            text = f"the CRC is 0x{value:08x}, that of the data 0x{crc(content):08x}{usual}"
            tape.remarks.append(("serial-crc", at, field_stop, text))
    return SerialFrame(tape, start, stop, cobs, bool(kind), _fits(frame, kind), _proven(frame, kind))


def _damaged(data: bytes, start: int, stop: int) -> SerialFrame:
    """Bytes up to a delimiter that aren't COBS."""
    remark = ("serial-cobs", 0, len(data), "not COBS: a code byte points past the end of the frame")
    tape = Tape(data, 0, len(data), [(UNDECODED, 0, 0, len(data), data)], [remark])
    return SerialFrame(tape, start, stop, True, True, False, False)
