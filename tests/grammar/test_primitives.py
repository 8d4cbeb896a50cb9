"""Renderings of the primitives (notes 1 and 2.3), against values from the notes and from elsewhere."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zdissect.grammar.primitives import (
    RENDERINGS,
    congestion_text,
    encoding_text,
    ntp64_ns,
    utc_text,
    zid_text,
)
from zdissect.grammar.registry import fields

ELSEWHERE = {"", "payload", "opaque"}
"""Renderings that are the output's business."""


@pytest.mark.parametrize(
    ("wire", "text"),
    [
        ("02bb", "bb02"),
        ("a8a7a6a5a4a3a2a1a0", "a0a1a2a3a4a5a6a7a8"),
        ("010a", "a01"),
        ("01020000", "201"),
        ("0f", "f"),
        ("000102030405060708090a0b0c0d0e0f", "f0e0d0c0b0a09080706050403020100"),
    ],
)
def test_zid(wire, text):
    assert zid_text(bytes.fromhex(wire)) == text
    assert RENDERINGS["zid"](bytes.fromhex(wire)) == text


@given(st.integers(1, (1 << 128) - 1))
def test_zid_is_the_hex_of_the_integer(value):
    wire = value.to_bytes((value.bit_length() + 7) // 8, "little")
    assert int(zid_text(wire), 16) == value
    assert not zid_text(wire).startswith("0")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0x6B09EFFDAA2E1B30, "2026-11-27T21:02:53.664766024Z"),
        (0, "1970-01-01T00:00:00.000000000Z"),
        (1 << 32, "1970-01-01T00:00:01.000000000Z"),
        (1 << 31, "1970-01-01T00:00:00.500000000Z"),
        ((1 << 64) - 1, "2106-02-07T06:28:15.999999999Z"),
        ((951_782_400 << 32) + 1, "2000-02-29T00:00:00.000000000Z"),
    ],
)
def test_ntp64(value, text):
    assert RENDERINGS["ntp64"](value) == text


@given(st.integers(0, (1 << 64) - 1))
def test_ntp64_is_seconds_and_a_fraction(value):
    ns = ntp64_ns(value)
    assert ns // 1_000_000_000 == value >> 32
    assert ns % 1_000_000_000 == (value & 0xFFFFFFFF) * 10**9 >> 32
    back = datetime.fromisoformat(utc_text(ns)) - datetime(1970, 1, 1, tzinfo=UTC)
    assert back == timedelta(seconds=value >> 32, microseconds=ns % 1_000_000_000 // 1000)


@pytest.mark.parametrize(
    ("ident", "schema", "text"),
    [
        (0, None, "zenoh/bytes"),
        (4, "utf-8", "text/plain;utf-8"),
        (5, None, "application/json"),
        (5, "", "application/json"),
        (52, None, "video/vp9"),
        (53, None, "unknown(53)"),
        (65535, "my/own;sch", "my/own;sch"),
        (65535, None, ""),
    ],
)
def test_encodings(ident, schema, text):
    assert encoding_text(ident, schema) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10, "application/json, no schema"),
        (9, "text/plain, schema follows"),
        (131071, "(custom), schema follows"),
        (200, "unknown(100), no schema"),
    ],
)
def test_encoding_fields(value, text):
    assert RENDERINGS["encoding"](value) == text


@pytest.mark.parametrize(("d", "f", "text"), [(0, 0, "Drop"), (1, 0, "Block"), (0, 1, "BlockFirst"), (1, 1, "Block")])
def test_congestion_control(d, f, text):
    assert congestion_text(d, f) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("seconds", 10, "10 s"),
        ("milliseconds", 2500, "2500 ms"),
        ("bytes", 1, "1 byte"),
        ("bytes", 0, "0 bytes"),
        ("bytes", 65480, "65480 bytes"),
        ("hex", 9, "0x09"),
        ("hex", 0x8092065D5B132CB0, "0x8092065d5b132cb0"),
    ],
)
def test_the_others(name, value, text):
    assert RENDERINGS[name](value) == text


def test_every_rendering_of_the_grammar_exists_and_all_are_used():
    used = {field.render for field in fields().values()} - ELSEWHERE
    assert used == set(RENDERINGS)
