"""Rows as JSON: the columns of the table, always all, always in order."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from zdissect.grammar.columns import NAMES
from zdissect.output.jsonl import line


def read(**row: Any) -> dict[str, Any]:
    return json.loads(line(row))


def test_all_columns_in_order() -> None:
    assert tuple(read(message="PUSH")) == NAMES
    assert read(message="PUSH")["message"] == "PUSH"
    assert read()["payload"] is None


def test_what_rows_carry_for_themselves_stays_out() -> None:
    assert "encoding_value" not in read(encoding_value=8)


def test_values() -> None:
    row = read(
        payload=b"\x00\xff", ts=1_795_815_925_419_103, ts_ns=1_795_815_925_419_103_497, timestamp_ntp64=(1 << 64) - 1,
        express=False, extensions=[{"id": 1, "value": b"\x0d"}], key_expr="é",
    )  # fmt: skip
    assert row["payload"] == "00ff"
    assert row["ts"] == "2026-11-27T21:45:25.419103Z"
    assert row["ts_ns"] == 1_795_815_925_419_103_497
    assert row["timestamp_ntp64"] == (1 << 64) - 1
    assert row["express"] is False
    assert row["extensions"] == [{"id": 1, "value": "0d"}]
    assert row["key_expr"] == "é"


def test_a_time_that_no_calendar_has() -> None:
    assert read(ts=1 << 70)["ts"] is None


@given(st.binary(max_size=20))
def test_text_that_was_not_utf_8_is_still_json(data: bytes) -> None:
    text = line({"key_suffix": data.decode(errors="surrogateescape")})
    text.encode()
    assert json.loads(text)["key_suffix"] == data.decode(errors="backslashreplace")


@given(st.text())
def test_no_text_drives_a_terminal(text: str) -> None:
    shown = line({"key_expr": text})
    assert shown.isprintable()
    assert json.loads(shown)["key_expr"] == text
