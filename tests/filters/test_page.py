"""docs/filters.md: its examples select what they say, by a predicate in Python over the rows of `-T jsonl`."""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "filters.md").read_text(encoding="utf-8")

Row = dict[str, Any]
Predicate = Callable[[Row, list[Row]], bool]


def payload(row: Row) -> bytes:
    return bytes.fromhex(row["payload"] or "")


def answers(row: Row, rows: list[Row]) -> list[Row]:
    """The answers to a request."""
    ends = (row["dst_zid"], row["src_zid"])
    return [
        one for one in rows
        if one["message"] == "RESPONSE" and one["request_frame"] == row["frame_number"]
        and one["request_id"] == row["request_id"] and (one["src_zid"], one["dst_zid"]) == ends
    ]  # fmt: skip


def within(key: str | None, start: str) -> bool:
    return key is not None and (key == start or key.startswith(f"{start}/"))


EXPECTED: dict[str, Predicate] = {
    "message == PUSH": lambda row, _: row["message"] == "PUSH",
    'key_expr within "nano/**"': lambda row, _: within(row["key_expr"], "nano"),
    'payload contains "message"': lambda row, _: b"message" in payload(row),
    'payload matches "^NANO.*[02]$"': lambda row, _: bool(re.search(rb"(?i)^nano.*[02]\Z", payload(row))),
    "payload[0:4] == 6e:61:6e:6f": lambda row, _: payload(row)[:4] == b"nano",
    "attachment and not timestamp": lambda row, _: row["attachment"] is not None and row["timestamp"] is None,
    "message in {INIT_SYN, INIT_ACK, OPEN_SYN, OPEN_ACK}": lambda row, _: row["message"][:4] in ("INIT", "OPEN"),
    "zenoh.frame.sn == 192036580": lambda row, _: row["sn"] == 192036580,
    "zenoh.request": lambda row, _: row["message"] == "REQUEST",
    "zenoh.response_time > 0.01": lambda row, _: (row["response_time_ns"] or 0) > 10_000_000,
    "response_time_ns >= 1ms and body == REPLY": lambda row, _: (
        (row["response_time_ns"] or 0) >= 1_000_000 and row["body"] == "REPLY"
    ),
    "request.answered == false": lambda row, rows: row["message"] == "REQUEST" and not answers(row, rows),
    "zenoh.request.answer_time > 1ms": lambda row, rows: (
        row["message"] == "REQUEST" and any(one["response_time_ns"] > 1_000_000 for one in answers(row, rows)[:1])
    ),
    "message == RESPONSE and body == ERR": lambda row, _: row["message"] == "RESPONSE" and row["body"] == "ERR",
    "finding == sn-gap": lambda row, _: any(one["code"] == "sn-gap" for one in row["findings"] or ()),
    "severity >= warning": lambda row, _: any(one["severity"] != "note" for one in row["findings"] or ()),
    "priority < Data": lambda row, _: (
        row["priority"] in ("Control", "RealTime", "InteractiveHigh", "InteractiveLow", "DataHigh")
    ),
    "tcp.stream == 0 and message == DECLARE and not interest_id": lambda row, _: (
        row["flow_id"] == "tcp.0" and row["message"] == "DECLARE" and row["interest_id"] is None
    ),
    "src_role == client and dst_role == router": lambda row, _: (
        (row["src_role"], row["dst_role"]) == ("client", "router")
    ),
    "udp.port == 7446": lambda row, _: row["link"] == "udp" and 7446 in (row["src_port"], row["dst_port"]),
    "fragments": lambda row, _: bool(row["fragments"]),
    'locators contains "tcp/"': lambda row, _: any("tcp/" in one for one in row["locators"] or ()),
}


def examples() -> list[tuple[str, str, int]]:
    """Filter, capture and number of messages of each line in the table."""
    lines = PAGE[PAGE.index("## Twenty examples") :].splitlines()
    found = (re.fullmatch(r"\| `(.*)` \| ([\w.-]+) \| (\d+) \|", line) for line in lines)
    return [(one[1].replace("\\|", "|"), one[2], int(one[3])) for one in found if one]


@cache
def rows(capture: str, *options: str) -> list[Row]:
    done = CliRunner().invoke(cli, ["-T", "jsonl", *options, str(ROOT / "samples" / capture)], standalone_mode=False)
    assert done.exception is None, done.exception
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("text", "capture", "count"), examples())
def test_an_example_selects_what_it_says(text: str, capture: str, count: int) -> None:
    every = rows(capture)
    expected = [row for row in every if EXPECTED[text](row, every)]
    assert rows(capture, "-Y", text) == expected
    assert len(expected) == count > 0


def test_there_are_twenty_examples() -> None:
    assert len(examples()) >= 20
    assert {text for text, _, _ in examples()} == EXPECTED.keys()


def test_the_python_of_the_page_runs() -> None:
    import duckdb
    import pyarrow as pa

    from tests.filtered import samples

    found = samples()
    code = PAGE[PAGE.index("```python\n") + 10 :].split("```")[0].replace("'OUT/messages/*.parquet'", "messages")
    known = {"item": found.items[0], "batch": found.table, "connection": found.connection}
    exec(code, known)  # the page is ours
    assert isinstance(known["connection"], duckdb.DuckDBPyConnection)
    assert isinstance(known["batch"], pa.Table)
