"""Serial lines: the CRC, COBS, old and new framing, damage, any bytes."""

from zlib import crc32

import pytest
from cobs import cobs
from hypothesis import example, given
from hypothesis import strategies as st

from zdissect.flow.serial_line import crc, frames, looks_serial

OLD_BARE = bytes.fromhex(
    "2B000563DD01210D01235B202039385D205B4553504944465D7B45535033327D20205A656E6F682D5069636F21ACF219FF"
)
OLD_COBS = bytes.fromhex("0213180108F24FF55A857B02F8BC4AB8050C1F93F16B156348FB00")
INIT, INIT_ACK, RESET = (bytes.fromhex(f"02{kind}01010101010100") for kind in ("01", "03", "04"))
KEEP_ALIVE = b"\x04"
VECTORS = {"00 11 00": "01 02 03 01 02 11 05 73 EC 75 F9 00", "11 22 00 33": "01 02 04 03 11 22 06 33 8D 03 6D FB 00"}


def new(data: bytes, header: int = 0) -> bytes:
    """A frame in the new form, encoded."""
    plain = bytes([header]) + len(data).to_bytes(2, "little") + data + crc(data).to_bytes(4, "little")
    return cobs.encode(plain) + b"\0"


def names(data: bytes) -> list[str]:
    return [span[4] for one in frames(data) for span in one.tape.spans if span[0].kind == "message"]


def test_crc_is_not_zlibs():
    assert crc(OLD_BARE[2:-4]) == 0xFF19F2AC
    assert crc(b"") == 0


@pytest.mark.parametrize(("data", "wire"), VECTORS.items())
def test_crc_of_the_vectors_of_z_serial(data, wire):
    (one,) = frames(bytes.fromhex(wire))
    assert (one.cobs, one.kind, one.fits, one.proven) == (True, True, True, True)
    assert one.tape.data == b"\0" + bytes.fromhex(f"{len(bytes.fromhex(data)):02x}00 {data}") + one.tape.data[-4:]
    assert new(bytes.fromhex(data)) == bytes.fromhex(wire)


def test_old_framing_without_cobs():
    (one,) = frames(OLD_BARE)
    assert (one.cobs, one.kind, one.proven) == (False, False, True)
    assert not one.tape.remarks
    assert names(OLD_BARE) == ["FRAME", "PUSH", "PUT"]


def test_old_framing_with_cobs():
    (one,) = frames(OLD_COBS)
    assert (one.cobs, one.kind, one.proven) == (True, False, True)
    assert one.tape.data.hex() == "13000108f24ff55a857b02f8bc4ab8050c1f93f16b156348fb"
    assert [code for code, *_ in one.tape.remarks] == ["version"]


@pytest.mark.parametrize(("data", "header"), [(INIT, 1), (INIT_ACK, 3), (RESET, 4)])
def test_set_up_of_the_link_is_new_framing(data, header):
    """Length 1, no data, fits the first of these as old framing; its CRC doesn't."""
    (one,) = frames(data)
    assert (one.kind, one.proven) == (True, True)
    assert one.tape.data == bytes([header]) + bytes(6)


def test_several_frames_and_where_they_stand():
    data = INIT + INIT_ACK + new(KEEP_ALIVE)
    assert [(one.start, one.stop) for one in frames(data)] == [(0, 8), (9, 17), (18, len(data) - 1)]
    assert names(data) == ["KEEP_ALIVE"]


def test_several_frames_without_cobs():
    data = OLD_BARE + cobs.decode(new(KEEP_ALIVE)[:-1])
    assert [(one.start, one.kind) for one in frames(data)] == [(0, False), (len(OLD_BARE), True)]
    assert all(one.tape.data is data for one in frames(data))


def test_the_last_delimiter_may_be_missing():
    assert frames(new(KEEP_ALIVE)[:-1])[0].proven


def test_wrong_crc():
    right = crc(KEEP_ALIVE)
    (one,) = frames(cobs.encode(b"\0\x01\0\x04" + (right ^ 1).to_bytes(4, "little")) + b"\0")
    assert (one.fits, one.proven) == (True, False)
    text = f"the CRC is 0x{right ^ 1:08x}, that of the data 0x{right:08x}"
    assert one.tape.remarks == [("serial-crc", 4, 8, text)]


def test_the_usual_crc_is_named():
    (one,) = frames(cobs.encode(b"\0\x01\0\x04" + crc32(KEEP_ALIVE).to_bytes(4, "little")) + b"\0")
    assert one.tape.remarks[0][3].endswith("; it is the usual CRC-32")


def test_what_is_not_cobs():
    (one,) = frames(bytes.fromhex("05 01 00"))
    assert [code for code, *_ in one.tape.remarks] == ["serial-cobs"]
    assert not one.fits


def test_looks_serial():
    assert all(map(looks_serial, (OLD_BARE, OLD_COBS, INIT)))
    assert not any(map(looks_serial, (b"\x04", bytes.fromhex("010907"), b"")))


@given(st.binary(max_size=80), st.integers(0, 7))
def test_what_is_framed_is_found(data, header):
    (one,) = frames(new(data, header))
    assert one.proven
    assert one.kind


@given(st.binary(max_size=80))
@example(b"")
@example(bytes(9))
def test_any_bytes(data):
    found = frames(data)
    assert found
    assert all(0 <= one.start <= one.stop <= len(data) for one in found)
    looks_serial(data)
