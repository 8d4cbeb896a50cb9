"""Zenoh's variable-length integer: the table of notes 1.1, the ninth byte, forms too long, and cuts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zdissect.engine import vle

TABLE = {
    0: "00",
    127: "7f",
    128: "80 01",
    300: "ac 02",
    16384: "80 80 01",
    65535: "ff ff 03",
    2**28 - 1: "ff ff ff 7f",
    2**32 - 1: "ff ff ff ff 0f",
    2**56 - 1: "ff ff ff ff ff ff ff 7f",
    2**56: "80 80 80 80 80 80 80 80 01",
    2**63: "80 80 80 80 80 80 80 80 80",
    2**64 - 1: "ff ff ff ff ff ff ff ff ff",
}
LONG = {
    "80 00": 0,
    "ff 00": 127,
    "80 80 80 80 80 80 80 80 00": 0,
    "81 80 80 80 80 80 80 80 00": 1,
    "80 80 80 80 80 80 80 80 7f": 0x7F << 56,
    "80 80 80 80 80 80 80 80 ff": 0xFF << 56,
}


@pytest.mark.parametrize(("value", "text"), TABLE.items())
def test_table(value: int, text: str) -> None:
    data = bytes.fromhex(text)
    assert vle.encode(value) == data
    assert vle.read(data, 0, len(data)) == (value, len(data))


@pytest.mark.parametrize(("text", "value"), LONG.items())
def test_forms_that_no_writer_uses(text: str, value: int) -> None:
    data = bytes.fromhex(text)
    assert vle.read(data + b"\xff", 0, len(data) + 1) == (value, len(data))


def test_nothing_is_read_behind_the_ninth_byte() -> None:
    assert vle.read(b"\xff" * 12, 1, 12) == (2**64 - 1, 10)


@pytest.mark.parametrize("text", TABLE.values())
def test_cut(text: str) -> None:
    data = bytes.fromhex(text)
    for stop in range(len(data)):
        with pytest.raises(vle.Short):
            vle.read(data, 0, stop)


@pytest.mark.parametrize("value", [-1, 2**64])
def test_values_that_have_no_form(value: int) -> None:
    with pytest.raises(ValueError, match="64 bits"):
        vle.encode(value)


@given(st.integers(0, 2**64 - 1), st.binary(max_size=3), st.binary(max_size=3))
def test_round_trip(value: int, before: bytes, behind: bytes) -> None:
    data = vle.encode(value)
    stop = len(before) + len(data)
    assert vle.read(before + data + behind, len(before), stop + len(behind)) == (value, stop)
    assert len(data) == min(9, max(1, (value.bit_length() + 6) // 7))
