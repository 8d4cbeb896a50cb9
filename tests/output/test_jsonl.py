"""Rows as JSON: the columns of the table, always all, always in order."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conversation import Conversation
from tests.in_blocks import dissections, shown_in_blocks
from tests.messages import push, put
from tests.random_traffic import random_conversation
from tests.vector.item_blocks import usual_frames
from zdissect.capture import open_capture
from zdissect.dissection import Dissection
from zdissect.flow.verdict import Verdict
from zdissect.grammar.columns import NAMES
from zdissect.output import jsonl
from zdissect.output.jsonl import JsonlWriter, line
from zdissect.pipeline import dissect
from zdissect.records import Frame
from zdissect.table import Table

ROOT = Path(__file__).parents[2]
SAMPLES = sorted(path.name for path in (ROOT / "samples").glob("*.pcap*"))


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


def from_rows(frames: Iterable[Frame]) -> list[str]:
    """The lines of a capture, each made of a row that was read in full."""
    table = Table()
    return [f"{line(row)}\n" for item in dissections(dissect(frames)) for row in table.rows(item)]


def written(frames: list[Frame]) -> tuple[list[str], int]:
    """The lines of a capture that is read in blocks, and how many batches were written from columns."""
    writer = JsonlWriter()
    lines, of_columns = shown_in_blocks(
        frames, writer.texts, lambda item: writer.lines(item) if isinstance(item, Dissection) else []
    )
    return [one for some in lines for one in some], of_columns


@pytest.mark.parametrize("kept", [1, jsonl.MOST_KEPT])
@pytest.mark.parametrize("seed", range(12))
def test_a_line_made_of_kept_texts_is_that_of_the_row(seed: int, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MOST_KEPT", kept)
    frames = random_conversation(seed).capture.frames
    found, of_columns = written(frames)
    assert of_columns
    assert found == from_rows(frames)


def test_most_batches_are_written_from_columns() -> None:
    frames = usual_frames()
    found, of_columns = written(frames)
    assert of_columns > len(frames) / 2
    assert found == from_rows(frames)


@pytest.mark.parametrize("name", SAMPLES)
def test_lines_say_of_which_conversation_they_are(name: str) -> None:
    with open_capture(str(ROOT / "samples" / name)) as capture:
        frames = list(capture)
    assert written(frames)[0] == from_rows(frames)


def test_what_becomes_known_of_a_conversation_is_told_from_then_on() -> None:
    *_, item = dissections(dissect(Conversation().open().frame(0, push()).capture.frames))
    writer = JsonlWriter()

    def said() -> list[Any]:
        row = json.loads(writer.lines(item)[-1])
        return [row["initiator"], row["link"], row["src_port"]]

    initiator, link, port = said()
    assert (initiator, link) == (True, "tcp")
    item.flow.link = "ws"
    assert said() == [True, "ws", port]
    item.flow.verdict = Verdict.MIDDLE
    assert said() == [None, "ws", port]
    item.direction = 1
    assert said()[2] != port


def test_a_key_that_looks_like_a_format() -> None:
    conversation = Conversation().open()
    for payload in (b"%s", b"", b"%d%%", b"\xff"):
        conversation.frame(0, push("100%/%s/%(a)d/\x7fé", body=put(payload)))
    frames = conversation.capture.frames
    found, of_columns = written(frames)
    assert of_columns
    assert found == from_rows(frames)
    row = json.loads(found[-1])
    assert (row["key_expr"], row["payload"], row["payload_len"]) == ("100%/%s/%(a)d/\x7fé", "ff", 1)
