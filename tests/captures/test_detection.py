"""Captures after reports of users: datagrams and streams whose first bytes are wrong, and what isn't Zenoh."""

import json
from pathlib import Path
from typing import Any

import pytest
from zdissect_cli.forms import make_form
from zdissect_cli.options import DisplayOptions

from tests.captures.expectations import SHARED
from tests.export.tables import converted, rows
from tests.observed import Observed
from zdissect.capture import open_capture
from zdissect.dissection import Item
from zdissect.pipeline import Options, Pipeline
from zdissect.stats import Stats

CASES = SHARED / "cases" / "2"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="no ../shared/cases here")
PORTS = Options(tcp_ports=frozenset({7447}), udp_ports=frozenset({7446, 7447}))
FOREIGN = "initial-sn-foreign"
"""Their sequence numbers are made by hand."""


def read(name: str, options: Options | None = None) -> tuple[list[Item], dict[str, Any]]:
    """The items of a capture, and what `stats` says of it."""
    pipeline, stats = Pipeline(options or Options(history=True)), Stats()
    items: list[Item] = []
    with open_capture(str(CASES / name)) as capture:
        for frame in capture:
            stats.frame(frame)
            items += pipeline.feed(frame)
    items += pipeline.close()
    for item in items:
        stats.feed(item)
    return items, stats.finish(pipeline)


def told(items: list[Item]) -> list[tuple[int, str, list[str]]]:
    """Frame, messages and findings of each item, but for what all of these captures have."""
    return [
        (number, names, [code for code in codes if code != FOREIGN])
        for number, names, codes in Observed(items).summaries
    ]


def text(kind: str, items: list[Item]) -> str:
    """What a form of output says."""
    writer = make_form(DisplayOptions(kind, color="never"))
    return "".join(writer.show(item) for item in items) + writer.end()


EXPECTED = {
    "g1a_init_zero_zid_udp.pcap": [
        (1, "INIT_SYN", ["zero-zid"]),
        (2, "CLOSE", ["close-reason", "handshake-refused"]),
    ],
    "g1b_scouting_short_zid.pcap": [
        (1, "SCOUT", ["truncated"]), (2, "HELLO", ["truncated"]), (3, "SCOUT", []), (4, "HELLO", []),
    ],
    "g5a_init_swapped.pcap": [
        (4, "INIT_SYN", ["version", "reserved-bits", "unknown-message"]), (5, "", ["handshake-refused"]),
    ],
    "g5b_open_first.pcap": [(4, "OPEN_SYN", ["handshake-order"]), (5, "CLOSE", ["close-reason"])],
    "g11_scouting.pcap": [(1, "SCOUT", []), (2, "HELLO", [])],
    "g12_ws_text.pcap": [(4, "", []), (5, "", []), (6, "", ["websocket"]), (7, "", [])],
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("options", [None, PORTS])
def test_what_is_said(name: str, options: Options | None) -> None:
    items, report = read(name, options)
    assert told(items) == EXPECTED[name]
    assert not report["conversations"]


@pytest.mark.parametrize("name", EXPECTED)
def test_every_form_says_it(name: str, tmp_path: Path) -> None:
    """Each finding stands in the tree, in lines and in nested JSON; rows and tables have it too."""
    items, _ = read(name)
    found = Observed(items)
    messages = [finding.message for finding in found.findings]
    for kind in ("tree", "line"):
        assert all(message in text(kind, items) for message in messages if message not in _skipped(found))
    nested = json.loads(text("json", items))
    assert [one["code"] for item in nested for one in item["findings"]] == found.codes
    lines = [json.loads(line) for line in text("jsonl", read(name)[0]).splitlines()]
    assert [line["message"] for line in lines] == found.names
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_bytes((CASES / name).read_bytes())
    converted(tmp_path / "in", tmp_path / "out")
    written = rows(tmp_path / "out") if found.names else []
    assert [row["message"] for row in written] == found.names
    table = rows(tmp_path / "out", "findings") if found.codes else []
    assert sorted(row["code"] for row in table) == sorted(found.codes)


def _skipped(found: Observed) -> set[str]:
    """What findings about skipped bytes say: other forms say it in other words."""
    return {finding.message for finding in found.findings if finding.item in found.skips}


def test_the_short_zenohids() -> None:
    items, _ = read("g1b_scouting_short_zid.pcap")
    assert {finding.message for finding in Observed(items).findings} == {"zid needs 16 bytes, 3 left"}


def test_datagrams_on_two_interfaces() -> None:
    items, report = read("g7_any_udp_twice.pcap")
    names = [(number, names) for number, names, _ in told(items) if names]
    assert names == list(
        zip(range(1, 14, 2), ["INIT_SYN", "INIT_ACK", "OPEN_SYN", "OPEN_ACK"] + ["FRAME PUSH"] * 3, strict=True)
    )
    assert {finding.rule.severity for finding in Observed(items).findings} == {"note"}
    accounting = report["accounting"]
    assert accounting["repeated"] == accounting["decoded"]


def test_a_session_opened_again() -> None:
    items, report = read("g8_udp_reopened.pcap")
    found = Observed(items)
    assert [code for code in found.codes if code != FOREIGN] == ["session-reopened"]
    assert [key for key in found.keys if key] == ["old/key", "old/key/a", "old/key/b", "new/key", "new/key/d"]
    first, second = report["sessions"]
    assert [first["ends"][1]["zid"], second["ends"][1]["zid"]] == ["b01", "b02"]
    assert first["ended"]["how"] == "reused"
    assert [sum(end["messages"] for end in one["ends"]) for one in (first, second)] == [11, 8]
